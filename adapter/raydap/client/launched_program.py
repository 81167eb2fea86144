"""A program that a terminal command launches."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """A driver to launch: a file or a module, and its arguments."""

    name: str
    """The path of the file; with `is_module`, the name of the module."""
    args: tuple[str, ...] = ()
    """The program's own arguments."""
    is_module: bool = False
    """Whether to start it like `python -m`."""
    python: str | None = None
    """The interpreter; None for the default of `launch`."""

    @property
    def title(self) -> str:
        """The command line of the program, for users."""
        return " ".join([*(["-m"] if self.is_module else []), self.name, *self.args])

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `launch` that name the program (docs/usage/arguments.md)."""
        python = {} if self.python is None else {"python": self.python}
        return {"module" if self.is_module else "program": self.name, "args": list(self.args), **python}
