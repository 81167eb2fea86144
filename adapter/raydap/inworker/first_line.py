"""The stop of a program at its first line of code; runs in the program before it begins."""

import ast


def stop_on_entry() -> None:
    """Stop the main thread at the next line of the user's code, with the reason `entry`.

    pydevd does that itself only in a process that it has launched.
    """
    from _pydevd_bundle.pydevd_api import PyDevdAPI

    PyDevdAPI().stop_on_entry()


def first_line(path: str) -> list[int]:
    """Return the number of a file's first line of code after its docstring; [] if it has only a docstring.

    Raise OSError, SyntaxError or ValueError.
    """
    with open(path, "rb") as file:
        body = ast.parse(file.read()).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    return [each.lineno for each in body[:1]]
