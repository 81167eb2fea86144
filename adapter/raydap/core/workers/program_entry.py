"""The beginning of a launched program: which worker it is, its name, and its stop at the first line (`stopOnEntry`)."""

from contextlib import suppress
from dataclasses import replace

from raydap.core.flows import Flow
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.run import Run
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.process_info import RayFacts
from raydap.core.translate.stacks import frames_of, location
from raydap.core.workers.replies import load_body, query
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import WorkerKey

FRAME_TIMEOUT_S = 5.0
"""Seconds for each answer of the stopped program, which runs nothing in the meantime."""


def note_driver(worker: Worker) -> None:
    """Record a worker as the launched program if it is the program's first process, and name it."""
    run = worker.run
    if run.program is not None and run.driver is None and worker.row.worker_type == "DRIVER":
        run.driver = worker.key
        worker.facts = with_name(run, worker.key, worker.facts)


def with_name(run: Run, key: WorkerKey, facts: RayFacts) -> RayFacts:
    """Return the facts about a worker, with the name of the launched program until Ray lists the program's job."""
    if run.program is None or key != run.driver or facts.job:
        return facts
    return replace(facts, task=f"driver {run.program.program_name}")


def stop_at_first_line(worker: Worker, timeout_s: float) -> Flow[None]:
    """Prepare the stop of the launched program at its first line, if the user wants that.

    The program waits for the end of this worker's attach, so it has not begun.
    """
    run = worker.run
    if run.program is not None and run.program.stop_on_entry and run.driver == worker.key:
        with suppress(WorkerRefusedError):
            arguments = {"expression": calls.stop_on_entry(), "context": "clipboard"}
            yield from worker.request_logged("evaluate", arguments, timeout_s)


def skips_docstring(thread: WorkerThread) -> Flow[bool]:
    """Step over the docstring at which a program has stopped on entry; return whether the thread does that."""
    worker = thread.worker
    try:
        reply = yield from worker.ask("stackTrace", {"threadId": thread.local, "levels": 1}, FRAME_TIMEOUT_S)
        frames = frames_of(load_body(reply))
        _, path, line = location(frames[0]) if frames else ("", "", 0)
        lines = yield from query(worker, calls.first_line(path), FRAME_TIMEOUT_S)
        if not isinstance(lines, list) or any(type(each) is not int or line >= each for each in lines):
            return False
        yield from worker.ask("next", {"threadId": thread.local, "singleThread": True}, FRAME_TIMEOUT_S)
    except (WorkerRefusedError, ProblemError, calls.ResultError):
        return False
    thread.entering = True
    return True


def renamed(thread: WorkerThread, body: dict[str, object]) -> dict[str, object]:
    """Return the body of a stop, with the reason `entry` if the thread has stepped over the program's docstring."""
    entering, thread.entering = thread.entering, False
    return {**body, "reason": "entry"} if entering and body.get("reason") == "step" else body
