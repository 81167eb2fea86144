"""Reads the local variables of stopped threads, many frames at once; runs in the worker.

The values are written as those of running threads (stack_reader.py): no code of the user's runs.
"""

from collections.abc import Iterable
from typing import Any

from .stack_reader import _SIZE, _variables, as_json


def frame_variables(debugger: Any, numbers: Iterable[int]) -> str:
    """JSON of a list for each of these frames, whose ids `stackTrace` has given: its variables, up to about _SIZE
    characters for all. A frame that runs on has none.

    The tracker of each stopped thread has its frames by their `id()`, also those that an exception has left
    (pydevd_suspended_frames.py); pydevd translates the numbers that it tells others (pydevd_base_schema.py).
    """
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    frames: dict[int, Any] = {}
    for tracker in list(debugger.suspended_frames_manager._thread_id_to_tracker.values()):
        frames.update(tracker._frame_id_to_frame)
    read = []
    size = _SIZE
    for number in numbers:
        frame = frames.get(BaseSchema._dap_id_to_obj_id.get(number, 0))
        variables = _variables(frame) if frame is not None and size > 0 else []
        size -= sum(sum(map(len, each.values())) + 40 for each in variables)
        read.append(variables)
    return as_json(read)
