"""The frame in which a user sees a stopped thread: the top frame of the user's code."""

from raydap.core.flows import Flow
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.worker import ANSWER_TIMEOUT_S, WorkerThread
from raydap.core.translate.stacks import frames_of, is_library_frame
from raydap.core.workers.replies import load_body

Frame = dict[str, object]

_LEVELS = 20
"""The number of frames that are searched for the user's top frame; a few frames of Ray and debugpy are above it."""


def of(thread: WorkerThread, timeout_s: float = ANSWER_TIMEOUT_S) -> Flow[Frame]:
    """Return the top frame of the user's code, with the worker's own ids, or an empty frame if this stop has none.

    If the thread has stopped for an exception and all its frames are in libraries, return the top frame.
    """
    stop = thread.stop
    try:
        reply = yield from thread.worker.ask("stackTrace", {"threadId": thread.local, "levels": _LEVELS}, timeout_s)
    except WorkerRefusedError:
        return {}
    frames = frames_of(load_body(reply))
    users = [frame for frame in frames if not is_library_frame(frame)] or (frames if thread.raised else [])
    return users[0] if users and thread.stop is stop else {}


def line_of(frame: Frame) -> tuple[object, object] | None:
    """Return the file and line of a frame; None if it has no source, and so cannot be compared with other frames."""
    source = frame.get("source")
    return (source.get("path"), frame.get("line")) if isinstance(source, dict) else None
