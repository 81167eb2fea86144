"""The rule for functions of workers that capture a debugger, frame or traceback, which Ray cannot pickle."""

import ast
from collections.abc import Iterator

from raydap.lsp.analysis.findings import RuleFinding, span
from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import Assignment

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
"""The functions whose results cloudpickle cannot pickle, with the kind of object (measured with Ray 2.60)."""

_EXC_INFO = "sys.exc_info"
_ANY = ""
"""Stands for any kind of object in `_ATTRIBUTES`."""
_ATTRIBUTES = {
    "__traceback__": ("a traceback", _ANY),
    "tb_next": ("a traceback", "a traceback"),
    "tb_frame": ("a frame", "a traceback"),
    "f_back": ("a frame", "a frame"),
}
"""The kind of each attribute's value, and the kind of the objects that have the attribute."""


def check(file: PythonFile) -> Iterator[RuleFinding]:
    """Yield the findings of the rule `debugger-in-closure`, at most one for each function."""
    bound = _bound(file)
    if not bound:
        return
    is_script = _is_script(file)
    for scope in file.program.scopes:
        role = file.workers.role(scope)
        if scope.is_class or role is None or not (is_script or _is_taken_by_value(file, scope)):
            continue
        for node in _loads(scope):
            bindings = file.program.bindings(node.id, scope)
            found = None if bindings is None else bound.get(id(bindings))
            if found is not None:
                text = (
                    f"`{node.id}` is {found}, which cannot be pickled, so Ray cannot send {role.text} to a worker. "
                    "Create it inside the function, or remove it."
                )
                yield RuleFinding(DEBUGGER_IN_CLOSURE, span(node), text)
                break


def _is_script(file: PythonFile) -> bool:
    """Return whether the file certainly runs as a program, whose functions Ray pickles by value."""
    program = file.program
    for call in program.calls:
        is_remote = isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "remote"
        if call.scope is program.module and (call.name == "ray.init" or (is_remote and call.name != "ray.remote")):
            return True
    return program.is_main


def _is_taken_by_value(file: PythonFile, scope: Scope) -> bool:
    """Return whether Ray pickles a function by value even if its module can be imported.

    Ray pickles a function or class by reference if its module contains it under its name. After `@ray.remote` or
    `@serve.deployment` the name refers to another object (measured with Ray 2.60).
    """
    places = [place for place in scope.enclosing() if place.parent is not None]
    return (
        isinstance(scope.node, ast.Lambda)
        or any(not place.is_class for place in places[1:])
        or file.workers.is_decorated(places[-1])
    )


def _bound(file: PythonFile) -> dict[int, str]:
    """Return the kinds of the names that are bound once, to an object that cannot be pickled.

    The keys are the identities of the names' lists of bindings. Names that code of workers binds are left out.
    """
    found: dict[int, str] = {}
    for one in file.program.assignments:
        named = _unpacked(file, one)
        if named is None or file.workers.role(one.scope) is not None:
            continue
        name, what = named
        bindings = file.program.bindings(name, one.scope)
        if bindings is not None and len(bindings) == 1:
            found[id(bindings)] = what
    return found


def _unpacked(file: PythonFile, assignment: Assignment) -> tuple[str, str] | None:
    """Return the name that is assigned an object that cannot be pickled, and the kind of the object; else None."""
    target, value = assignment.target, assignment.value
    if isinstance(target, ast.Name):
        what = _object(file, value, assignment.scope)
        return None if what is None else (target.id, what)
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 3 and isinstance(value, ast.Call):
        last = target.elts[2]
        if isinstance(last, ast.Name) and file.program.dotted(value.func, assignment.scope) == _EXC_INFO:
            return last.id, "a traceback"
    return None


def _object(file: PythonFile, value: ast.expr, scope: Scope) -> str | None:
    """Return the kind of the object that an expression yields; None if the object can be pickled."""
    attributes = []
    while isinstance(value, ast.Attribute) and value.attr in _ATTRIBUTES:
        attributes.append(value.attr)
        value = value.value
    what = None
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == 2:
        if isinstance(value.value, ast.Call) and file.program.dotted(value.value.func, scope) == _EXC_INFO:
            what = "a traceback"
    elif isinstance(value, ast.Call):
        what = _OBJECTS.get(file.program.dotted(value.func, scope))
    for attribute in reversed(attributes):
        result, of = _ATTRIBUTES[attribute]
        what = result if of in (what, _ANY) else None
    return what


def _loads(scope: Scope) -> Iterator[ast.Name]:
    """Yield the names that a function reads, except in its inner functions and classes."""
    body = scope.node.body
    waiting: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
        waiting += ast.iter_child_nodes(node)
