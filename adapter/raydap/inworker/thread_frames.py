"""The frames of all other threads; runs in workers and drivers."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def without_collections() -> "Iterator[None]":
    """Collect no garbage in this process, before Python 3.12. A later Python collects it between two instructions."""
    collects = sys.version_info < (3, 12) and gc.isenabled()
    if collects:
        gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def current_frames() -> "dict[int, FrameType]":
    """Return the innermost frame of each thread but this one and those of raydap's agent, by the threads' idents.

    A frame of this thread in a variable of this thread would keep all its variables alive until Python looks for
    garbage. Before Python 3.12 `sys._current_frames` can deadlock: it holds a lock of the interpreter while it makes
    objects, and a garbage collection that begins then may free a `threading.local`, which takes the same lock
    (python/cpython#106883).
    """
    with without_collections():
        frames = sys._current_frames()
    # Not by the ident of this thread: gevent and eventlet replace the functions that return it.
    own = sys._getframe()
    agents = getattr(sys.modules.get("_raydap_agent.light_start"), "AGENT_THREADS", ())
    others = {ident: frame for ident, frame in frames.items() if frame is not own and ident not in agents}
    del own, frames
    return others
