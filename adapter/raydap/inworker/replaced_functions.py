"""Replacements for functions of Python that are written in C; they stay for the life of the process."""

from __future__ import annotations

from .light_start import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    Prepare = Callable[..., "Callable[[], Any] | None"]


class Replacement:
    """A replacement for a built-in function of Python.

    Like the original, it is a built-in function to `isinstance`, is pickled by its name, is a member of sets such as
    `os.supports_fd`, and does not become a method where it is an attribute of a class.
    """

    def __init__(self, original: Any, prepare: Prepare) -> None:
        self._original = original
        self._prepare = prepare
        wraps(original)(self)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The type of the original, for `isinstance`."""
        return type(self._original)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function that `prepare` returns, or the original if there is none."""
        try:
            call = self._prepare(*args, **named)
        except Exception:
            call = None  # The original raises its own error for wrong arguments.
        return self._original(*args, **named) if call is None else call()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> str:
        return str(self._original.__name__)


def replace(original: Any, prepare: Prepare, *places: tuple[ModuleType, str]) -> None:
    """Replace a function in these places, each a module and the function's name there.

    `prepare` gets the arguments of each call. It returns a function that makes the call in another way. If it returns
    None or raises an exception, the original is called with the same arguments.
    """
    replacement = Replacement(original, prepare)
    for module, name in places:
        setattr(module, name, replacement)
