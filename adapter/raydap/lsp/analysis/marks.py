"""The places in a file where live workers are shown."""

import ast
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
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
    """The code at the place."""
    line: int
    """The line where the workers are shown."""
    first: int
    """The first line of the code whose workers are shown."""
    last: int
    """The last line of this code."""
    name: str
    """The qualified name of the function or class, such as `Trainer.step`; "" for a call of `breakpoint()`."""


def _next_line(call: CallSite, statements: dict[Scope, list[int]]) -> int:
    """Return the line of the next statement, where debugpy shows a thread that stops at a `breakpoint()`.

    `statements` contains the sorted lines of the statements of each scope that has been read.
    """
    if call.scope not in statements:
        nodes = ast.walk(call.scope.node)
        statements[call.scope] = sorted({node.lineno for node in nodes if isinstance(node, ast.stmt)})
    lines = statements[call.scope]
    index = bisect_right(lines, call.node.lineno)
    return lines[index] if index < len(lines) else call.node.lineno


def marks(file: PythonFile) -> list[Mark]:
    """Return the marks of a file in the order of the source."""
    found = []
    for scope in file.workers.started():
        node = scope.node
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        kind = MarkKind.CLASS if scope.is_class else MarkKind.FUNCTION
        found.append(Mark(kind, line, node.lineno, node.end_lineno or node.lineno, scope.name))
    statements: dict[Scope, list[int]] = {}
    for call, _ in file.workers.breakpoints():
        line = call.node.lineno
        found.append(Mark(MarkKind.BREAKPOINT, line, line, _next_line(call, statements), ""))
    return sorted(found, key=lambda mark: (mark.line, mark.kind.value))
