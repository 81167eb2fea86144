"""The rule for an `except` that drops every exception around a `breakpoint()` in a worker, and so hides its failure."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import RuleFinding, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope

HIDDEN_ERROR = "hidden-error"

_ALL = {"builtins.Exception", "builtins.BaseException"}


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `hidden-error`."""
    # Many breakpoints may be in one `try`.
    known: dict[ast.Try, ast.ExceptHandler | None] = {}
    for call, role in file.workers.breakpoints():
        for one in call.tries:
            if one not in known:
                known[one] = next((handler for handler in one.handlers if _hides(file, handler, call.scope)), None)
            hiding = known[one]
            if hiding is not None:
                text = (
                    f"The `except` at line {hiding.lineno} drops every exception around this breakpoint() in "
                    f"{role.text}. It hides failures of Ray's debugger, and RAY_DEBUG_POST_MORTEM does not stop here."
                )
                yield RuleFinding(HIDDEN_ERROR, span(call.node), text)
                break


def _hides(file: PythonFile, handler: ast.ExceptHandler, scope: Scope) -> bool:
    """Return whether a handler catches all exceptions, and neither raises, calls anything, nor uses the exception."""
    if handler.type is not None and file.program.dotted(handler.type, scope) not in _ALL:
        return False
    used = (ast.Raise, ast.Call) if handler.name is None else (ast.Raise, ast.Call, ast.Name)
    for statement in handler.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id != handler.name:
                continue
            if isinstance(node, used):
                return False
    return True
