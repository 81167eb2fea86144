"""The places of a file that live workers are shown at."""

import ast
from dataclasses import dataclass
from enum import Enum, auto

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call


class MarkKind(Enum):
    """What is at the place: a function that Ray starts, a class of actors, or a call of breakpoint()."""

    FUNCTION = auto()
    CLASS = auto()
    BREAKPOINT = auto()


@dataclass(frozen=True, slots=True)
class Mark:
    """`line` is where it is shown. `first` to `last` are the lines of its code. All lines count from 1.

    `name` is that of the function or class, with the names of what it is in: "Trainer.step".
    """

    kind: MarkKind
    line: int
    first: int
    last: int
    name: str


def _next_line(call: Call) -> int:
    """The line of the next statement, where debugpy shows a thread that stops at a breakpoint()."""
    statements = (node for node in ast.walk(call.scope.node) if isinstance(node, ast.stmt))
    return min((node.lineno for node in statements if node.lineno > call.node.lineno), default=call.node.lineno)


def marks(file: PythonFile) -> list[Mark]:
    """In the order of the source."""
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
