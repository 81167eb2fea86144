"""Debuggers, frames and tracebacks that a worker's function takes along, which Ray cannot pickle."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import Finding, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Scope

DEBUGGER_IN_CLOSURE = "debugger-in-closure"

_OBJECTS = {
    "pdb.Pdb": "a debugger",
    "bdb.Bdb": "a debugger",
    "ipdb.Pdb": "a debugger",
    "IPython.core.debugger.Pdb": "a debugger",
    "sys._getframe": "a frame",
    "inspect.currentframe": "a frame",
    "inspect.stack": "frames",
    "inspect.trace": "frames",
    "sys.exc_info": "a traceback",
    "cProfile.Profile": "a profiler",
}
"""What these calls return cannot be pickled by cloudpickle (measured with that of Ray 2.60)."""


def check(file: PythonFile) -> Iterator[Finding]:
    bound = _bound(file)
    if not bound:
        return
    for scope in file.program.scopes:
        if scope.is_class or file.workers.role(scope) is None:
            continue
        for node in _loads(scope):
            what = bound.get(node.id)
            if what is None or file.workers.role(what[0]) is not None:
                continue
            if file.program.bindings(node.id, scope) is what[0].names.get(node.id):
                role = file.workers.role(scope)
                assert role is not None
                text = (
                    f"`{node.id}` is {what[1]}, which cannot be pickled, so Ray cannot send {role.text} to a worker. "
                    "Make it inside the function, or leave it out."
                )
                yield Finding(DEBUGGER_IN_CLOSURE, span(node), text)
                break


def _bound(file: PythonFile) -> dict[str, tuple[Scope, str]]:
    """The names that such an object is assigned to: where, and what it is."""
    found: dict[str, tuple[Scope, str]] = {}
    for one in file.program.assignments:
        if not isinstance(one.target, ast.Name):
            continue
        value = one.value
        if isinstance(value, ast.Attribute) and value.attr == "__traceback__":
            found[one.target.id] = (one.scope, "a traceback")
        elif isinstance(value, ast.Call):
            what = _OBJECTS.get(file.program.dotted(value.func, one.scope))
            if what is not None:
                found[one.target.id] = (one.scope, what)
    return found


def _loads(scope: Scope) -> Iterator[ast.Name]:
    """The names that a function reads, those of its own functions left out."""
    body = scope.node.body
    waiting: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
        waiting += ast.iter_child_nodes(node)
