"""The frames of all other threads; runs in workers and drivers."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def without_collections() -> "Iterator[None]":
    """Prevent garbage collections of this process within the `with` block, before Python 3.12.

    A later Python collects garbage only between two instructions.
    """
    collects = sys.version_info < (3, 12) and gc.isenabled()
    if collects:
        gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def current_frames() -> "dict[int, FrameType]":
    """Return the innermost frame of each thread, by ident, but not of this thread and the agent's threads.

    A frame of this thread in a variable of this thread would keep all its variables alive until Python looks for
    garbage. Before Python 3.12 `sys._current_frames` can deadlock: it holds a lock of the interpreter while it makes
    objects, and a garbage collection that begins then may free a `threading.local`, which takes the same lock
    (python/cpython#106883).
    """
    with without_collections():
        frames = sys._current_frames()
    # Do not compare idents: gevent and eventlet replace the functions that return the ident of this thread.
    own = sys._getframe()
    agents = getattr(sys.modules.get("_raydap_agent.light_start"), "AGENT_THREADS", ())
    others = {ident: frame for ident, frame in frames.items() if frame is not own and ident not in agents}
    del own, frames
    return others
