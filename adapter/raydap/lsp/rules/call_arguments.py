"""The arguments of a call in the source, and the edit that removes one."""

import ast

from raydap.lsp.analysis.findings import Edit, TextSpan, span
from raydap.lsp.analysis.python_file import PythonFile


def argument_spans(call: ast.Call) -> list[TextSpan]:
    """Return the spans of the arguments of a call, in the order of the source."""
    return sorted([*map(span, call.args), *map(span, call.keywords)])


def remove_argument(file: PythonFile, call: ast.Call, keyword: ast.keyword) -> Edit | None:
    """Return the edit that removes an argument with its comma; None if a parenthesis or comment is in between."""
    place = span(keyword)
    arguments = argument_spans(call)
    index = arguments.index(place)
    if index > 0:
        previous = arguments[index - 1]
        if text_between(file, previous, place).strip() != b",":
            # The span of a parenthesized argument does not contain its parentheses.
            return None
        return Edit(TextSpan(previous.end_line, previous.end_column, place.end_line, place.end_column), "")
    if len(arguments) > 1:
        if text_between(file, place, arguments[1]).strip() != b",":
            return None
        return Edit(TextSpan(place.line, place.column, arguments[1].line, arguments[1].column), "")
    rest = file.lines[place.end_line - 1][place.end_column :]
    comma = len(rest) - len(rest.lstrip()[1:]) if rest.lstrip().startswith(b",") else 0
    return Edit(TextSpan(place.line, place.column, place.end_line, place.end_column + comma), "")


def text_between(file: PythonFile, one: TextSpan, other: TextSpan) -> bytes:
    """Return the text from the end of `one` to the beginning of `other`, which comes later in the file."""
    if one.end_line == other.line:
        return file.lines[one.end_line - 1][one.end_column : other.column]
    first, *middle = file.lines[one.end_line - 1 : other.line - 1]
    return b"".join([first[one.end_column :], *middle, file.lines[other.line - 1][: other.column]])
