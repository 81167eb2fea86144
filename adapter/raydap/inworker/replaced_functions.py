"""Replaces functions of Python, written in C, for as long as the process lives."""

from __future__ import annotations

from .light_start import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    Prepare = Callable[..., "Callable[[], Any] | None"]


class Replacement:
    """A function in the place of one of Python's.

    Like that one, it is a built-in function to `isinstance`, is pickled by its name, is in sets such as
    `os.supports_fd`, and is no method where it is an attribute of a class.
    """

    def __init__(self, original: Any, prepare: Prepare) -> None:
        self._original = original
        self._prepare = prepare
        wraps(original)(self)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._original)

    def __call__(self, *args: Any, **named: Any) -> Any:
        try:
            call = self._prepare(*args, **named)
        except Exception:
            call = None  # The original refuses wrong arguments in its own words.
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
    """Replace a function in these places: modules, and its names there.

    `prepare` gets the arguments of each call. It returns a function that does the call in another way. The original is
    called with the same arguments if `prepare` returns None or raises an exception.
    """
    replacement = Replacement(original, prepare)
    for module, name in places:
        setattr(module, name, replacement)
