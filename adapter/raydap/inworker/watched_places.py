"""The places of watched expressions: the function in which a variable of a stopped thread is; runs in the worker."""

import ast
import json
import sys
from contextlib import suppress
from typing import Any

from .frame_locals import local_variables

identity = object.__hash__
"""Returns a number for an object, as `id` does. Python audits calls of `id`, which is slow in a process of Ray."""

HAS_COPY = sys.version_info < (3, 13)
"""Whether reading `f_locals` leaves a copy of all variables in the frame (frame_locals.py)."""

_REFERENCES = 4
"""References to the copy: the frame's, those of two functions, and that of getrefcount()."""


def drop_variables(frame: Any, names: Any) -> None:
    """Empty the copy `names` of a frame's variables, so that it keeps no value alive, from Python 3.12 on."""
    # The program has a reference to the copy if it has called locals(). Only functions have a copy.
    if frame.f_code.co_flags & 1 and frame.f_trace is None and sys.getrefcount(names) == _REFERENCES:
        names.clear()


if sys.version_info >= (3, 13):

    def variables_of(frame: Any) -> Any:
        """Return the variables of a frame by name."""
        return frame.f_locals

elif sys.version_info >= (3, 12):

    def variables_of(frame: Any) -> Any:
        """Return the variables of a frame by name."""
        names = frame.f_locals
        found = dict(names) if frame.f_code.co_flags & 1 else names
        drop_variables(frame, names)
        return found

else:
    variables_of = local_variables


def place(debugger: Any, frame: int, variable: int, name: str) -> str:
    """Return JSON of an expression's place: `expression`, `path`, `line`, `function`; or `problem`, a sentence.

    `frame` and `variable` are the worker's own ids, 0 if not given. With `variable`, `name` is a variable in it.
    """
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    ids = BaseSchema._dap_id_to_obj_id
    for tracker in list(debugger.suspended_frames_manager._thread_id_to_tracker.values()):
        frames = tracker._frame_id_to_frame
        found = frames.get(ids.get(frame, frame)) if frame else None
        expression = name
        if variable:
            number = ids.get(variable, variable)
            # The scopes of a frame have the number of the frame, with the name of the scope.
            scope = number if hasattr(number, "scope") else None
            try:
                holder = tracker.get_variable(getattr(number, "variable_reference", number))
                children = {each.get_name(): each for each in _children(holder, scope)}
                expression = str(children[name].get_var_data().get("evaluateName") or "")
            except KeyError:
                continue
            found = found or getattr(holder, "frame", None) or _frame_with(frames, expression, children[name].value)
        if found is not None:
            return json.dumps(_described(found, expression))
    return json.dumps({"problem": "The variable is no longer there; its worker has resumed."})


def _children(holder: Any, scope: Any) -> Any:
    return holder.get_children_variables() if scope is None else holder.get_children_variables(scope=scope)


def _frame_with(frames: "dict[int, Any]", expression: str, value: Any) -> Any:
    """Return the frame in which an expression has this value."""
    for frame in frames.values():
        with suppress(Exception):
            if eval(expression, frame.f_globals, variables_of(frame)) is value:
                return frame
    return next(iter(frames.values()), None)


def _described(frame: Any, expression: str) -> "dict[str, Any]":
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame, map_file_to_client

    if not expression:
        return {"problem": "This entry is not a variable of the program, so it cannot be watched."}
    try:
        ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        return {"problem": f"{expression} is not a valid Python expression: {error}."}
    path = get_abs_path_real_path_and_base_from_frame(frame)[0]
    shown = map_file_to_client(path)
    name, line = frame.f_code.co_name, frame.f_lineno
    return {
        "expression": expression,
        "path": shown[0] if isinstance(shown, tuple) else shown,
        "line": line or frame.f_code.co_firstlineno,
        "function": name,
    }
