"""The lock that a thread waits for, and the thread that holds it; runs in the worker.

An RLock has the id of its owner. A Lock has none: its holder is the thread that is inside `with lock:`, according to
its frames and their source. A thread that has called `acquire()` in a function and is still in that function may hold
the lock.

No code of the user's runs: the expression that names the lock is evaluated only through variables, and through
attributes and items of Python's own types.
"""

import itertools
import re
import threading
import types
from collections.abc import Iterator, Mapping
from typing import Any

from .frame_locals import local_variables
from .safe_values import type_name
from .stack_reader import _FRAMES, _PLUMBING, _callers, _current_expression, _folders, _owner

_LOCKS = (type(threading.Lock()), type(threading.RLock()))

_OWNER = re.compile(r"owner=(\d+)")
"""The owner's ident in the `repr` of an RLock."""

_SOURCE = 500_000
"""Maximum characters of a file that is searched for the holder of a lock."""

_ABSENT = object()
"""Stands for a value that cannot be determined without running code."""


def lock_wait(ident: int, frames: Mapping[int, Any], trees: dict[str, Any]) -> dict[str, Any] | None:
    """Return what Waits.of_thread reports about a lock, None if the thread is not in a call that takes a lock.

    `trees` are the parsed files, by their names.
    """
    frame = frames[ident]
    taken = _taken(frame)
    if taken is None:
        return None
    expression, ends = taken
    lock = _value(expression, frame)
    if type(lock) not in _LOCKS:
        return None
    holder, sure = _holder(lock, ident, frames, trees)
    return {"kind": "lock", "holder": holder, "sure": sure, "ends": ends}


def _taken(frame: Any) -> tuple[Any, bool] | None:
    """Return the expression of what the frame takes by `acquire` or `with`, and whether it has a time limit.

    Before Python 3.11 only the line is known.
    """
    import ast
    import linecache

    code = frame.f_code
    if code.co_filename == threading.__file__ and code.co_name != "__enter__":
        return None  # Conditions, events and queues wait by means of a lock that no thread holds.
    line = linecache.getline(code.co_filename, frame.f_lineno).strip()
    is_exact = hasattr(code, "co_positions")
    nodes = _parsed(_current_expression(frame) if is_exact else line)
    if len(nodes) != 1:
        return None
    if isinstance(nodes[0], ast.With):
        items = [each.context_expr for each in nodes[0].items]
        return (items[0], False) if len(items) == 1 else None
    calls = [each for each in ast.walk(nodes[0]) if isinstance(each, ast.Call)]
    if is_exact and not calls:
        return (nodes[0].value, False) if line.startswith("with ") and isinstance(nodes[0], ast.Expr) else None
    if not calls or (len(calls) > 1 and not is_exact):
        return None
    call = calls[0]
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("acquire", "__enter__"):
        return None
    return call.func.value, len(call.args) > 1 or any(each.arg != "blocking" for each in call.keywords)


def _parsed(text: str) -> list[Any]:
    import ast

    for more in ("", " pass"):
        try:
            return ast.parse(text + more).body
        except (SyntaxError, ValueError):
            continue
    return []


def _value(node: Any, frame: Any) -> Any:
    """Return the value of an expression in a frame, _ABSENT if it cannot be determined without running code."""
    import ast

    if isinstance(node, ast.Name):
        for names in (local_variables(frame), frame.f_globals):
            if type_name(type(names)) in ("dict", "FrameLocalsProxy") and node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        return _attribute_of(_value(node.value, frame), node.attr)
    elif isinstance(node, ast.Subscript):
        holder, key = _value(node.value, frame), _key(node.slice, frame)
        if type(holder) in (list, tuple, dict) and type(key) in (int, str):
            try:
                return holder[key]
            except (LookupError, TypeError):
                return _ABSENT
    return _ABSENT


def _key(node: Any, frame: Any) -> Any:
    import ast

    return node.value if isinstance(node, ast.Constant) else _value(node, frame)


def _attribute_of(value: Any, name: str) -> Any:
    import inspect

    names = [name]
    if name.startswith("__") and not name.endswith("__"):
        # A private name begins with the name of its class.
        names = ["_" + type_name(kind).lstrip("_") + name for kind in type.__dict__["__mro__"].__get__(type(value))]
    for each in names:
        found = inspect.getattr_static(value, each, _ABSENT)
        if type(found) is types.MemberDescriptorType:
            found = found.__get__(value)
        if found is not _ABSENT:
            return found
    return _ABSENT


def _holder(lock: Any, waiting: int, frames: Mapping[int, Any], trees: dict[str, Any]) -> tuple[int, bool]:
    """Return the ident of the thread that holds the lock, and whether this is certain.

    The ident is 0 if no thread holds the lock, or if the holder is unknown.
    """
    if type(lock) is _LOCKS[1]:
        owner = _OWNER.search(repr(lock))
        return (0 if owner is None else int(owner[1])), True
    guess = 0
    folders = _folders()
    # The waiting thread comes last: it is the least likely holder.
    for ident in sorted(frames, key=lambda ident: ident == waiting):
        for frame in itertools.islice(_callers(frames[ident]), _FRAMES):
            if _owner(frame.f_code.co_filename, folders) == _PLUMBING:
                continue
            held = _holds(frame, lock, trees)
            if held == "with":
                return ident, True
            if held == "acquire":
                guess = guess or ident
    return guess, False


def _holds(frame: Any, lock: Any, trees: dict[str, Any]) -> str:
    """Return "with" if the frame is inside `with` for this lock, "acquire" if it may hold the lock, else "".

    It may hold the lock if the lines above the current one acquire it more often than they release it.
    """
    import ast

    function = _function(frame.f_code, trees)
    if function is None:
        return ""
    line, acquired = frame.f_lineno or 0, 0
    for node in _inner(function):
        if isinstance(node, ast.With) and node.lineno < line and node.body[0].lineno <= line <= (node.end_lineno or 0):
            if any(_value(each.context_expr, frame) is lock for each in node.items):
                return "with"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.lineno < line:
            changes = {"acquire": 1, "release": -1}.get(node.func.attr, 0)
            if changes and _value(node.func.value, frame) is lock:
                acquired += changes
    return "acquire" if acquired > 0 else ""


def _function(code: Any, trees: dict[str, Any]) -> Any:
    """Return the definition of the code's function in its file, None if it is not found."""
    import ast
    import linecache

    path = code.co_filename
    if path not in trees:
        text = "".join(linecache.getlines(path))
        try:
            trees[path] = ast.parse(text) if len(text) <= _SOURCE else None
        except (SyntaxError, ValueError, RecursionError):
            trees[path] = None
    tree = trees[path]
    if tree is None or code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            # The first line of a function's code is that of its first decorator.
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _inner(node: Any) -> Iterator[Any]:
    """Yield the nodes of a function, without the nodes inside of functions and classes in it."""
    import ast

    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _inner(child)
