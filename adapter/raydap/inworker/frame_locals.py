"""Reads the local variables of frames that run, and keeps none of them alive; runs in the worker.

Before Python 3.13 reading `f_locals` leaves a copy of all variables in the frame until its function returns (PEP 667).
A batch on a GPU that the loop has replaced would stay in memory that long.
"""

import inspect
import sys
from collections.abc import Mapping
from typing import Any

_REFERENCES = 3
"""The frame's reference to its copy, ours, and that of getrefcount()."""

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_BEGINS = ("RESUME", "GEN_START", "YIELD_VALUE", "YIELD_FROM") if sys.version_info < (3, 11) else ("RESUME",)
"""The instructions at which Python calls a trace function for the start of a frame, or after a yield."""


def local_variables(frame: Any) -> Mapping[str, Any]:
    """Return the variables of a frame by their names: a copy, or in a module or class body the mapping itself."""
    names: Mapping[str, Any] = frame.f_locals
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return names
    assert type(names) is dict
    copied = dict(names)
    # The program holds the frame's copy itself if it has called locals().
    if not _may_be_traced(frame) and sys.getrefcount(names) == _REFERENCES:
        names.clear()
    return copied


def _may_be_traced(frame: Any) -> bool:
    """Return whether a trace function may be running for the frame.

    After a trace function Python writes the frame's copy back into the variables (PyFrame_LocalsToFast), so the copy
    must be complete. At the start of a frame the trace function is not yet the frame's `f_trace` (sys.settrace).
    """
    if frame.f_trace is not None:
        return True
    if frame.f_back is None and frame.f_code.co_flags & _GENERATORS:
        return False  # It is suspended.
    import dis

    return frame.f_lasti < 0 or dis.opname[frame.f_code.co_code[frame.f_lasti]] in _BEGINS
