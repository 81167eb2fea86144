"""The places where the variables of a function are used, for showing their values at a stop."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from raydap.lsp.analysis.findings import TextSpan
from raydap.protocol.python_source import parse_module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


class Use(NamedTuple):
    """One use of a variable."""

    span: TextSpan
    """The place of the name."""
    name: str
    """The name of the variable."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A function or the module, without the functions and classes inside it."""

    uses: list[Use]
    """The names that are used, once for each line, in the order of the source."""


class Blocks:
    """The blocks of one text. A text that cannot be parsed has only an empty module."""

    def __init__(self, text: str) -> None:
        self._blocks: dict[ast.AST, Block] = {}
        try:
            self._module = parse_module(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._module = ast.Module([], [])
        self._functions = [node for node in ast.walk(self._module) if isinstance(node, _FUNCTIONS)]

    def around(self, line: int) -> Block:
        """Return the innermost block around a line, which counts from 1."""
        functions = [node for node in self._functions if node.lineno <= line <= (node.end_lineno or 0)]
        # Functions around the same line are nested, so the innermost one begins last.
        node = max(functions, key=lambda one: one.lineno, default=self._module)
        if node not in self._blocks:
            self._blocks[node] = Block(_uses(node))
        return self._blocks[node]


def _uses(block: ast.AST) -> list[Use]:
    found: dict[tuple[int, str], Use] = {}
    for use in sorted(_names(block)):
        found.setdefault((use.span.line, use.name), use)
    return list(found.values())


def _names(block: ast.AST) -> Iterator[Use]:
    waiting = [block]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            begin = node.col_offset
            yield Use(TextSpan(node.lineno, begin, node.lineno, begin + len(name.encode())), name)
        if node is block or not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
