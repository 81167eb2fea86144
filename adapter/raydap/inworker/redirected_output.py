"""Lets the user evaluate in the console while other threads print; runs in the worker.

For an evaluate with the context "repl" pydevd puts an object of its own in the place of `sys.stdout` and `sys.stderr`,
and takes it away afterwards (pydevd_io.py, redirect_stream_to_pydb_io_messages_context). `print` in another thread may
be using it just then, without a reference of its own (Python/bltinmodule.c before Python 3.14): the process crashed
within a few evaluations in a program that prints much. So the last objects are kept.
"""

import sys
from collections import deque
from typing import Any

KEPT = 100
"""The number of redirections that are kept. Nobody prints for so long."""


def keep_redirectors() -> None:
    pydevd_io: Any = sys.modules.get("_pydevd_bundle.pydevd_io")
    original: Any = getattr(pydevd_io, "IORedirector", None)
    if original is None or hasattr(original, "raydaps_original"):
        return
    kept: deque[Any] = deque(maxlen=KEPT)

    def redirector(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        kept.append(made)
        return made

    vars(redirector)["raydaps_original"] = original
    pydevd_io.IORedirector = redirector


def keep_redirectors_no_more() -> None:
    pydevd_io: Any = sys.modules.get("_pydevd_bundle.pydevd_io")
    current: Any = getattr(pydevd_io, "IORedirector", None)
    if hasattr(current, "raydaps_original"):
        pydevd_io.IORedirector = current.raydaps_original
