"""What the user reads: the names of threads, and which frames are worth a look."""

import re
from functools import lru_cache
from typing import Any

from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.workers import Thread, Worker
from raydap.protocol import messages

_PLUMBING = re.compile(
    r"[/\\]ray[/\\](_private|util[/\\](tracing|debugpy\.py|rpdb\.py)|actor\.py|remote_function\.py)|_raylet\.p(yx|y)"
    r"|[/\\]debugpy[/\\]|[/\\]_?pydevd"
)
"""Files of Ray and debugpy that stand between the worker's start and the user's code, and above `breakpoint()`."""


def thread(thread: Thread) -> messages.Thread:
    """How a thread is listed: `task or Actor.method · pid · node`."""
    order = f" · #{thread.order}" if thread.worker.threaded else ""
    return {"id": thread.handle, "name": name(thread.worker) + order}


def name(worker: Worker) -> str:
    return f"{_what(worker)} · {_where(worker.row)}"


def unattached(row: PausedWorker, label: WorkerLabel) -> str:
    """The name of a worker that has none of our threads yet."""
    return f"{_task(row, label)} · {_where(row)}"


def short(worker: Worker) -> str:
    """How its output is labelled."""
    return f"{_what(worker)} {worker.row.pid}" if worker.row.pid else f"{_what(worker)} {worker.row.host}"


def _what(worker: Worker) -> str:
    if worker.parent is not None:
        return f"child of {_what(worker.parent)}"
    return _task(worker.row, worker.label)


def _task(row: PausedWorker, label: WorkerLabel) -> str:
    return label.task or label.actor or ("driver" if row.worker_type == "DRIVER" else "worker")


def _where(row: PausedWorker) -> str:
    return f"{row.pid} · {row.node or row.host}" if row.pid else f"{row.host}:{row.port}"


def stack(body: dict[str, Any], sources: dict[str, messages.Source]) -> None:
    """Marks Ray's and debugpy's own frames in a stackTrace answer, so that editors show and focus the user's.

    `sources` collects the files that are shown; those that exist in one worker only (sourceReference) are left out.
    """
    frames = body.get("stackFrames")
    for frame in frames if isinstance(frames, list) else ():
        if (
            isinstance(frame, dict)
            and isinstance(source := frame.get("source"), dict)
            and isinstance(path := source.get("path"), str)
        ):
            if _is_plumbing(path):
                frame["presentationHint"] = "subtle"
            if path not in sources and not source.get("sourceReference"):
                sources[path] = {"name": re.split(r"[/\\]", path)[-1], "path": path}


def plumbing(frame: Any) -> bool:
    """Whether a frame stands between the worker's start and the user's code, or above `breakpoint()`."""
    source = frame.get("source") if isinstance(frame, dict) else None
    path = source.get("path") if isinstance(source, dict) else None
    return isinstance(path, str) and _is_plumbing(path)


@lru_cache(maxsize=4096)  # The same few files are in every stack.
def _is_plumbing(path: str) -> bool:
    return _PLUMBING.search(path) is not None
