"""The names of workers and threads that users read."""

from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.presentation.short_text import shortened
from raydap.protocol import messages

_NOTE = "(note: "
"""The start of a note that debugpy appends to an exception's type (pydevd_comm.py, build_exception_info_response).

debugpy appends it if the thread is held in another frame than the one that raised the exception.
"""

_STOPS: dict[object, str] = {"breakpoint": "break", "function breakpoint": "break"}

_MAX_STOP = 10
"""Characters. In the narrowest side bar of VS Code, about as many are left for the name of a worker."""


def thread(thread: WorkerThread) -> messages.Thread:
    """Return the thread as clients list it: its worker's name, with its number if the worker has several threads."""
    number = f" · #{thread.order}" if thread.worker.threaded else ""
    return {"id": thread.handle, "name": worker(thread.worker) + number}


def exception(text: object) -> str:
    """Return the type of an exception, from the `text` of its stop."""
    return text.partition(_NOTE)[0].rstrip() if isinstance(text, str) else ""


def stop(reason: object, text: object) -> str:
    """Return one short word for a stop. Editors show it beside the worker's name, which a long word would hide."""
    word = exception(text).rpartition(".")[2] if reason == "exception" else _STOPS.get(reason, "")
    word = word or str(reason)
    return shortened(word, _MAX_STOP)


def worker(worker: Worker) -> str:
    """Return a worker's whole name: what it runs, and where."""
    return f"{label(worker)} · {where(worker.row, worker.facts)}"


def output_label(worker: Worker) -> str:
    """Return the prefix of a worker's output, which is as short as possible but identifies the worker."""
    first = label(worker).partition(" · ")[0]
    number = str(worker.row.pid or worker.row.host)
    return first if first.endswith(f" {number}") else f"{first} {number}"


def label(worker: Worker) -> str:
    """Return what a worker runs."""
    if worker.parent is not None:
        return f"child of {label(worker.parent).partition(' · ')[0]}"
    process = worker.run.processes[worker.row.parent]
    parent = process.agent
    if parent is not None:
        # The parent runs without a debugger, and its child has stopped at a breakpoint().
        return f"child of {task(parent, process.facts or RayFacts()).partition(' · ')[0]}"
    return task(worker.row, worker.facts)


def task(row: ProcessInfo, facts: RayFacts) -> str:
    """Return a task's name or function, or `actor · method`.

    The actor is its name or rank, else its class and pid. The part that differs between the actors of one class comes
    first, because editors show only the beginning.
    """
    if not facts.actor:
        return facts.title or facts.task or ("worker" if row.worker_type == "TARGET" else row.worker_type.lower())
    actor = facts.title or (f"{facts.actor} {row.pid}" if row.pid else facts.actor)
    method = facts.task.removeprefix(facts.actor).removeprefix(".")
    return f"{actor} · {method}" if method else actor


def alive(row: ProcessInfo, facts: RayFacts) -> str:
    """Return what a worker runs that is neither attached nor paused.

    A worker that runs nothing is "idle": Ray keeps its process for later tasks.
    """
    is_idle = row.worker_type == "WORKER" and not (facts.task or facts.actor)
    return "idle" if is_idle else task(row, facts)


def where(row: ProcessInfo, facts: RayFacts) -> str:
    """Return the process and its node; the node alone if `task` contains the pid."""
    if not row.pid:
        return f"{row.host}:{row.port}"
    node = row.node or row.host
    return node if facts.actor and not facts.title and row.worker_type != "CHILD" else f"{row.pid} · {node}"
