"""The names of workers and threads that users read."""

from raydap.core.events import PausedWorker, WorkerLabel
from raydap.core.model.worker import Thread, Worker
from raydap.presentation.short_text import shortened
from raydap.protocol import messages

_NOTE = "(note: "
"""Begins what debugpy adds to the type of an exception if the thread is held in another frame than the one that raised
(pydevd_comm.py, build_exception_info_response)."""

_STOPS: dict[object, str] = {"breakpoint": "break", "function breakpoint": "break"}

_MAX_STOP = 10
"""Characters. The names of workers have about as many in the narrowest side bar of VS Code."""


def thread(thread: Thread) -> messages.Thread:
    """The thread as clients list it: its worker's name, and its number if its worker has several."""
    number = f" · #{thread.order}" if thread.worker.threaded else ""
    return {"id": thread.handle, "name": worker(thread.worker) + number}


def exception(text: object) -> str:
    """The type of an exception, from the `text` of its stop."""
    return text.partition(_NOTE)[0].rstrip() if isinstance(text, str) else ""


def stop(reason: object, text: object) -> str:
    """A stop in one short word, which editors show beside the worker's name, at its expense."""
    word = exception(text).rpartition(".")[2] if reason == "exception" else _STOPS.get(reason, "")
    word = word or str(reason)
    return shortened(word, _MAX_STOP)


def worker(worker: Worker) -> str:
    return f"{label(worker)} · {where(worker.row, worker.label)}"


def output_label(worker: Worker) -> str:
    """The prefix of a worker's output, as short as tells it from others."""
    first = label(worker).partition(" · ")[0]
    number = str(worker.row.pid or worker.row.host)
    return first if first.endswith(f" {number}") else f"{first} {number}"


def label(worker: Worker) -> str:
    """What a worker runs."""
    if worker.parent is not None:
        return f"child of {label(worker.parent).partition(' · ')[0]}"
    process = worker.run.processes[worker.row.parent]
    parent = process.agent
    if parent is not None:
        # It runs undebugged, and its child stops at a breakpoint().
        return f"child of {task(parent, process.label or WorkerLabel()).partition(' · ')[0]}"
    return task(worker.row, worker.label)


def task(row: PausedWorker, label: WorkerLabel) -> str:
    """A task's name or function, or `actor · method`, where the actor is its name or rank, else its class and pid.

    What differs between the actors of one class comes first, because editors show the beginning of it only.
    """
    if not label.actor:
        return label.title or label.task or ("worker" if row.worker_type == "TARGET" else row.worker_type.lower())
    actor = label.title or (f"{label.actor} {row.pid}" if row.pid else label.actor)
    method = label.task.removeprefix(label.actor).removeprefix(".")
    return f"{actor} · {method}" if method else actor


def alive(row: PausedWorker, label: WorkerLabel) -> str:
    """What a worker runs that is neither attached nor paused. Ray keeps processes that run nothing, for later tasks."""
    is_idle = row.worker_type == "WORKER" and not (label.task or label.actor)
    return "idle" if is_idle else task(row, label)


def where(row: PausedWorker, label: WorkerLabel) -> str:
    """The process and its node; the node alone if `task` has the pid."""
    if not row.pid:
        return f"{row.host}:{row.port}"
    node = row.node or row.host
    return node if label.actor and not label.title and row.worker_type != "CHILD" else f"{row.pid} · {node}"
