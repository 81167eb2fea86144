"""The arguments of a call in the source, and the edit that takes one out."""

import ast

from raydap.lsp.analysis.findings import Edit, Span, span
from raydap.lsp.analysis.python_file import PythonFile


def argument_spans(call: ast.Call) -> list[Span]:
    """Where the arguments of a call are, in the order of the source."""
    return sorted([*map(span, call.args), *map(span, call.keywords)])


def remove_argument(file: PythonFile, call: ast.Call, keyword: ast.keyword) -> Edit:
    """Takes the comma before the argument along, or, from the first argument, what is up to the next one."""
    place = span(keyword)
    arguments = argument_spans(call)
    index = arguments.index(place)
    if index > 0:
        previous = arguments[index - 1]
        return Edit(Span(previous.end_line, previous.end_column, place.end_line, place.end_column), "")
    if len(arguments) > 1:
        return Edit(Span(place.line, place.column, arguments[1].line, arguments[1].column), "")
    rest = file.lines[place.end_line - 1][place.end_column :]
    comma = len(rest) - len(rest.lstrip()[1:]) if rest.lstrip().startswith(b",") else 0
    return Edit(Span(place.line, place.column, place.end_line, place.end_column + comma), "")
