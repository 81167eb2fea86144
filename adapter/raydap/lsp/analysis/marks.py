"""The places in a file where live workers are shown."""

import ast
from dataclasses import dataclass
from enum import Enum, auto

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import CallSite


class MarkKind(Enum):
    """The code at a place where workers are shown."""

    FUNCTION = auto()
    """A function or method that Ray starts."""
    CLASS = auto()
    """A class that Ray starts, such as an actor class or a Serve deployment."""
    BREAKPOINT = auto()
    """A call of `breakpoint()`."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where live workers are shown. All lines count from 1."""

    kind: MarkKind
    line: int
    """The line where the workers are shown."""
    first: int
    """The first line of the code whose workers are shown."""
    last: int
    """The last line of this code."""
    name: str
    """The qualified name of the function or class, such as `Trainer.step`; "" for a call of `breakpoint()`."""


def _next_line(call: CallSite) -> int:
    """Return the line of the next statement, where debugpy shows a thread that stops at a `breakpoint()`."""
    statements = (node for node in ast.walk(call.scope.node) if isinstance(node, ast.stmt))
    return min((node.lineno for node in statements if node.lineno > call.node.lineno), default=call.node.lineno)


def marks(file: PythonFile) -> list[Mark]:
    """Return the marks of a file in the order of the source."""
    found = []
    for scope in file.workers.started():
        node = scope.node
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        kind = MarkKind.CLASS if scope.is_class else MarkKind.FUNCTION
        found.append(Mark(kind, line, node.lineno, node.end_lineno or node.lineno, scope.name))
    for call, _ in file.workers.breakpoints():
        line = call.node.lineno
        found.append(Mark(MarkKind.BREAKPOINT, line, line, _next_line(call), ""))
    return sorted(found, key=lambda mark: (mark.line, mark.kind.value))
