"""Safe evaluation in the console while other threads print; runs in the worker.

For an evaluate with the context "repl" pydevd replaces `sys.stdout` and `sys.stderr` with an object of its own, and
removes that object afterwards (pydevd_io.py, redirect_stream_to_pydb_io_messages_context). A `print` in another thread
may still use the object, without a reference of its own (Python/bltinmodule.c before Python 3.14). A program that
prints much crashed that way within a few evaluations. So the last objects are kept alive.
"""

from collections import deque
from typing import Any

from .replaced_functions import install, original

REDIRECTOR = "_pydevd_bundle.pydevd_io:IORedirector"

REDIRECTORS_KEPT = 100
"""The number of redirectors that are kept. No `print` lasts that many evaluations."""


def keep_redirectors() -> None:
    """Keep the newest of pydevd's output redirectors alive."""
    pydevds = original(REDIRECTOR)
    if pydevds is None:
        return
    kept: deque[Any] = deque(maxlen=REDIRECTORS_KEPT)

    def redirector(*args: Any, **kwargs: Any) -> Any:
        made = pydevds(*args, **kwargs)
        kept.append(made)
        return made

    install(REDIRECTOR, redirector)
