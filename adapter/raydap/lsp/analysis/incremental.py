"""Reads a text again after each change, and only those of its statements that have changed."""

import ast
from itertools import takewhile

from raydap.lsp.analysis.syntax import Part, Program, Scope, read_part
from raydap.protocol.python_source import parse_module


class IncrementalReader:
    """Remembers the last text that could be parsed. A statement of the module is read as a whole."""

    def __init__(self) -> None:
        self._tree = ast.Module([], [])
        self._module = Scope(self._tree, "", None)
        self._lines: list[bytes] = []
        self._parts: list[Part] = []

    def read(self, lines: list[bytes]) -> Program:
        """`lines` have their ends. Raises what `parse_module` does."""
        try:
            parts = self._changed(lines)
        except SyntaxError:
            # What has changed is no statement alone. It may be one with its neighbours, such as an `else`.
            parts = self._read(lines, 0)
        self._lines, self._parts = lines, parts
        self._tree.body = [statement for part in parts for statement in part.statements]
        return Program(self._module, parts)

    def goes_on(self, line: int) -> bool:
        """Whether a string, or a statement by its backslash, goes on over the end of a line of the last text."""
        if self._lines[line - 1].rstrip().endswith(b"\\"):
            return True
        return any(
            isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno <= line < (node.end_lineno or 0)
            for part in self._parts
            if _first_line(part) <= line <= _last_line(part)
            for node in part.nodes
        )

    def _changed(self, lines: list[bytes]) -> list[Part]:
        """The parts of the new text. Those whose lines are as they were, before and after the change, are kept."""
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
        """Parses lines of which `offset` others are before."""
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
    """The line that a statement begins in, with its decorators."""
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
