"""Safe evaluation in the console while other threads print; runs in the worker.

For an evaluate with the context "repl" pydevd replaces `sys.stdout` and `sys.stderr` with an object of its own, and
removes that object afterwards (pydevd_io.py, redirect_stream_to_pydb_io_messages_context). A `print` in another thread
may still use the object, without a reference of its own (Python/bltinmodule.c before Python 3.14). A program that
prints much crashed that way within a few evaluations. So the last objects are kept alive.
"""

import sys
from collections import deque
from typing import Any

REDIRECTORS_KEPT = 100
"""The number of redirectors that are kept. No `print` lasts that many evaluations."""


def keep_redirectors() -> None:
    """Keep the newest of pydevd's output redirectors alive, until `keep_redirectors_no_more`."""
    pydevd_io: Any = sys.modules.get("_pydevd_bundle.pydevd_io")
    original: Any = getattr(pydevd_io, "IORedirector", None)
    if original is None or hasattr(original, "raydaps_original"):
        return
    kept: deque[Any] = deque(maxlen=REDIRECTORS_KEPT)

    def redirector(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        kept.append(made)
        return made

    vars(redirector)["raydaps_original"] = original
    pydevd_io.IORedirector = redirector


def keep_redirectors_no_more() -> None:
    """Undo `keep_redirectors`."""
    pydevd_io: Any = sys.modules.get("_pydevd_bundle.pydevd_io")
    current: Any = getattr(pydevd_io, "IORedirector", None)
    if hasattr(current, "raydaps_original"):
        pydevd_io.IORedirector = current.raydaps_original
