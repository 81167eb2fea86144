"""Programs with a statement inserted in each function, as by a user who debugs."""

import ast


def insert_in_functions(text: str, statement: str) -> tuple[str, dict[int, int]]:
    """Return a program with a statement at the beginning of each function with lines of its own.

    Also return the line of the function for the line of each inserted statement.
    """
    places: dict[int, tuple[int, int]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if is_docstring and len(node.body) > 1:
                first = node.body[1]
            line = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))])
            if line > node.lineno:
                places[line] = node.lineno, first.col_offset
    lines: list[str] = []
    inserted: dict[int, int] = {}
    for number, line_text in enumerate(text.splitlines(keepends=True), 1):
        if number in places:
            function, column = places[number]
            lines.append(" " * column + statement + "\n")
            inserted[len(lines)] = function
        lines.append(line_text)
    return "".join(lines), inserted
