"""Local variables of stopped threads, read for many frames at once; runs in the worker.

The values are formatted like those of running threads (stack_reader.py), and no code of the user's runs.
"""

from collections.abc import Iterable
from typing import Any

from .stack_reader import _SIZE, _variables, as_json


def frame_variables(debugger: Any, numbers: Iterable[int]) -> str:
    """Return the variables of these frames as JSON: a list for each frame, up to about _SIZE characters in all.

    `numbers` are ids that `stackTrace` has returned. A frame that runs again has no variables.

    The tracker of each stopped thread has its frames by their `id()`, including frames that an exception has left
    (pydevd_suspended_frames.py). pydevd sends other numbers for these ids, and translates them (pydevd_base_schema.py).
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
