"""The names of workers and threads that users read."""

from typing import NamedTuple

from raydap.core.model.ranks import Ranks
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.presentation.short_text import shortened
from raydap.protocol import messages

_NOTE = "(note: "
"""The start of a note that debugpy appends to an exception's type (pydevd_comm.py, build_exception_info_response).

debugpy appends it if the thread is held in another frame than the one that raised the exception.
"""

_STOPS: dict[object, str] = {"breakpoint": "break", "function breakpoint": "break", "data breakpoint": "watch"}

_MAX_STOP = 10
"""Characters. In the narrowest side bar of VS Code, about as many are left for the name of a worker."""


class WorkerName(NamedTuple):
    """The name of a worker, in two lengths (docs/glossary.md)."""

    title: str
    """The name that identifies the worker: `Trainer 2`, or with its process id `prepare 4711`."""
    label: str
    """The actor and its method, or the task: `Trainer 2 · step`, `prepare`."""


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
    return f"{label(worker)} · {where(worker.row)}"


def title(worker: Worker) -> str:
    """Return the name that identifies a worker."""
    return of_worker(worker).title


def label(worker: Worker) -> str:
    """Return what a worker runs."""
    return of_worker(worker).label


def of_worker(worker: Worker) -> WorkerName:
    """Return the name of an attached worker."""
    ranks = worker.run.ranks
    if worker.parent is not None:
        return child(worker.row.pid, of_worker(worker.parent).title)
    process = worker.run.processes[worker.row.parent]
    parent = process.agent
    if parent is not None:
        # The parent runs without a debugger, and its child has stopped at a breakpoint().
        return child(worker.row.pid, task(parent, process.facts or RayFacts(), ranks).title)
    return task(worker.row, worker.facts, ranks)


def child(pid: int, parent: str) -> WorkerName:
    """Return the name of a child process. `parent` is the title of its parent."""
    return WorkerName(f"child {pid} of {parent}", f"child of {parent}")


def task(row: ProcessInfo, facts: RayFacts, ranks: Ranks) -> WorkerName:
    """Return the name of a worker by what it runs.

    The part that differs between the actors of one class comes first, because editors show only the beginning.
    """
    if not facts.actor:
        what = facts.given_name or facts.task or ("worker" if row.worker_type == "TARGET" else row.worker_type.lower())
        # Many workers run the same function, but a driver is known by its program.
        has_program = row.worker_type == "DRIVER" and facts.task.startswith("driver ")
        process = str(row.pid) if row.pid else f"{row.host}:{row.port}"
        return WorkerName(what if has_program else f"{what} {process}", what)
    rank = ranks.of(row.key, facts)
    number = "" if rank is None or not ranks.is_numbered(facts) else f" {rank}"
    actor = facts.given_name or f"{facts.actor}{number}"
    method = facts.task.removeprefix(facts.actor).removeprefix(".")
    return WorkerName(actor, f"{actor} · {method}" if method else actor)


def alive(row: ProcessInfo, facts: RayFacts, ranks: Ranks) -> WorkerName:
    """Return the name of a worker that is neither attached nor paused.

    A worker that runs nothing is "idle": Ray keeps its process for later tasks.
    """
    is_idle = row.worker_type == "WORKER" and not (facts.task or facts.actor)
    return WorkerName(f"idle {row.pid}", "idle") if is_idle else task(row, facts, ranks)


def where(row: ProcessInfo) -> str:
    """Return the process and its node."""
    return f"{row.pid} · {row.node or row.host}" if row.pid else f"{row.host}:{row.port}"
