"""Local variables of running frames, read without keeping their values alive; runs in the worker.

Before Python 3.13, reading `f_locals` leaves a copy of all variables in the frame until its function returns (PEP 667).
A batch on a GPU would stay in memory that long, although the program's loop has replaced it.
"""

import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCES = 2
"""References to a copy that only the frame uses: the frame's own, and that of getrefcount()."""

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_BEGINS = ("RESUME", "GEN_START", "YIELD_VALUE", "YIELD_FROM")
"""The instructions at which Python calls a trace function for the start of a frame, or after a yield."""


def local_variables(frame: Any) -> "Mapping[str, Any]":
    """Return the variables of a frame by name: a copy, or the mapping itself of a module or class body."""
    names = dict(frame.f_locals) if _has_copy(frame) else frame.f_locals
    drop_copy(frame)
    return names


def drop_copy(frame: Any) -> None:
    """Empty the copy of its variables that reading `f_locals` has left in a frame."""
    # The program has a reference to the copy if it has called locals().
    if _has_copy(frame) and not _may_be_traced(frame) and sys.getrefcount(frame.f_locals) == _REFERENCES:
        frame.f_locals.clear()


def _has_copy(frame: Any) -> bool:
    return sys.version_info < (3, 13) and bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def _may_be_traced(frame: Any) -> bool:
    """Return whether a trace function may be running for the frame.

    After a trace function, Python writes the frame's copy back into the variables (PyFrame_LocalsToFast), so the copy
    must be complete. At the start of a frame the trace function is not yet the frame's `f_trace` (sys.settrace).
    """
    import dis

    code = frame.f_code
    is_suspended = frame.f_back is None and code.co_flags & _GENERATORS
    begins = frame.f_lasti < 0 or dis.opname[code.co_code[frame.f_lasti]] in _BEGINS
    return frame.f_trace is not None or (begins and not is_suspended)
