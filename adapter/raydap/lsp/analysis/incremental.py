"""An incremental reader, which parses only the changed statements of a text."""

import ast
from itertools import takewhile

from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import ParsedFile, Part, read_part
from raydap.protocol.python_source import parse_module


class IncrementalReader:
    """A reader that keeps the last text that could be parsed, and parses only changed top-level statements."""

    def __init__(self) -> None:
        self._tree = ast.Module([], [])
        self._module = Scope(self._tree, "", None)
        self._lines: list[bytes] = []
        self._parts: list[Part] = []

    def read(self, lines: list[bytes]) -> ParsedFile:
        """Return the program with these lines, which contain their line ends. Raises what `parse_module` raises."""
        try:
            parts = self._changed(lines)
        except SyntaxError:
            # The changed lines, such as an `else`, may be valid only together with their neighbours.
            parts = self._read(lines, 0)
        self._lines, self._parts = lines, parts
        self._tree.body = [statement for part in parts for statement in part.statements]
        return ParsedFile(self._module, parts)

    def continues(self, line: int) -> bool:
        """Return whether a line of the last text ends in a string, or with a backslash that continues its statement."""
        if self._lines[line - 1].rstrip().endswith(b"\\"):
            return True
        return any(
            isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno <= line < (node.end_lineno or 0)
            for part in self._parts
            if _first_line(part) <= line <= _last_line(part)
            for node in part.nodes
        )

    def _changed(self, lines: list[bytes]) -> list[Part]:
        """Return the parts of a new text. The parts before and after the changed lines are kept."""
        shortest = min(len(lines), len(self._lines))
        same_before = _count_equal(lines, self._lines, shortest)
        same_after = _count_equal(lines[::-1], self._lines[::-1], shortest - same_before)
        moved = len(lines) - len(self._lines)
        first_after = len(self._lines) - same_after + 1
        before = list(takewhile(lambda part: _last_line(part) <= same_before, self._parts))
        if before and lines[_last_line(before[-1]) - 1].rstrip().endswith(b"\\"):
            # The line after a backslash belongs to the statement.
            before.pop()
        after = [part for part in self._parts[len(before) :] if _first_line(part) >= first_after]
        begin = _last_line(before[-1]) if before else 0
        end = _first_line(after[0]) - 1 + moved if after else len(lines)
        between = self._read(lines[begin:end], begin)
        if moved:
            for part in after:
                _move(part, moved)
        return [*before, *between, *after]

    def _read(self, lines: list[bytes], offset: int) -> list[Part]:
        """Return the parts of lines that follow `offset` other lines of the file."""
        text = b"".join(lines).decode("utf-8", "surrogatepass")
        groups: list[list[ast.stmt]] = []
        for statement in parse_module(text).body:
            if groups and _begin(statement) <= (groups[-1][-1].end_lineno or 0):
                groups[-1].append(statement)
            else:
                groups.append([statement])
        parts = [read_part(group, self._module) for group in groups]
        if offset:
            for part in parts:
                _move(part, offset)
        return parts


def _count_equal(one: list[bytes], other: list[bytes], limit: int) -> int:
    for index in range(limit):
        if one[index] != other[index]:
            return index
    return limit


def _begin(statement: ast.stmt) -> int:
    """Return the first line of a statement and its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _first_line(part: Part) -> int:
    return _begin(part.statements[0])


def _last_line(part: Part) -> int:
    return part.statements[-1].end_lineno or 0


def _move(part: Part, lines: int) -> None:
    for node in part.nodes:
        node.lineno += lines
        node.end_lineno += lines
