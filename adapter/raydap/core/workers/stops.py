"""Events of threads that stop and resume: from workers, and to clients.

Each stopped thread of each worker is a thread of the merged session. A running thread is not listed.
"""

from collections.abc import Iterable

from raydap.analysis.thread_stacks import SampledStack
from raydap.core.effects import AskFacts
from raydap.core.flows import Flow
from raydap.core.model.client import Client
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.remote_step import origin_of
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, ThreadState, Worker, WorkerThread
from raydap.core.translate import names
from raydap.core.translate.stacks import frames_of, location
from raydap.core.workers import (
    barrier_arrivals,
    exception_conditions,
    own_ranks,
    program_entry,
    program_input,
    stop_pacing,
    watch_hits,
)
from raydap.core.workers.replies import load_body
from raydap.errors import ProblemError
from raydap.inworker import calls
from raydap.protocol.types import LocalId


def stopped(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Handle a worker's `stopped` event."""
    local = body.get("threadId")
    if type(local) is not int:
        state.log("warning", f"{worker} sent a stop without a thread: {body}")
        return
    thread = worker.thread(LocalId(local))
    if not _is_repeated(thread, body):
        state.start(_examine(state, thread, body))


def _is_repeated(thread: WorkerThread, body: dict[str, object]) -> bool:
    """Return whether the event reports a stop of the thread that is known already.

    A worker reports a pause again if the first report may be lost (inworker/blocked_threads.py). If raydap is resuming
    the thread, the worker has sent the event before it received the command.
    """
    return body.get("reason") == "pause" and thread.state not in (ThreadState.RUNNING, ThreadState.BLOCKED)


def _examine(state: State, thread: WorkerThread, body: dict[str, object]) -> Flow[None]:
    """Drop a phantom stop, or an exception that does not meet its condition; find the breakpoint, and show the stop.

    The worker is queried only for what is needed, and for the top frame once.
    """
    worker, breakpoints = thread.worker, thread.worker.run.breakpoints
    reason, hit = body.get("reason"), body.get("hitBreakpointIds")
    has_condition = reason == "exception" and bool(breakpoints.conditions)
    # debugpy before 1.8.18 does not report which breakpoint was hit. Nor do later versions if its id is ambiguous.
    is_unnamed = reason in ("breakpoint", "function breakpoint") and hit is None and breakpoints.has_barriers
    is_unnamed = is_unnamed and not thread.watched
    frame = None
    if reason == "entry" and (yield from program_entry.skips_docstring(thread)):
        return
    body = program_entry.renamed(thread, body)
    if worker.threaded or has_condition or is_unnamed:
        frame = yield from _top_frame(thread)
    if worker.threaded and frame == {}:
        # A worker with several threads can report phantom stops. If the thread has really stopped, and debugpy's
        # filters hide all frames, it must not stay stopped without being shown. So resume it.
        state.log("info", f"dropped a phantom stop of {worker}, thread {thread.local}")
        worker.request_logged("evaluate", {"expression": calls.resume_unseen(thread.local), "context": "clipboard"})
        return
    if has_condition and not (yield from exception_conditions.is_met(thread, frame)):
        state.log("info", f"an exception in {worker} does not meet its condition")
        if (yield from _resume_step(thread)):
            return
    if is_unnamed and frame:
        name, path, line = location(frame)
        body = {**body, "hitBreakpointIds": breakpoints.ids_at(worker.key, path, line, name)}
    # The worker or the thread may have ended in the meantime, and two reports of one stop can be examined at once.
    is_there = worker.stage is not AttachStage.GONE and worker.threads.get(thread.local) is thread
    if is_there and not _is_repeated(thread, body):
        _show(state, thread, body)


def _top_frame(thread: WorkerThread) -> Flow[dict[str, object] | None]:
    """Return the top frame; {} if the thread has none, None if the worker does not answer."""
    try:
        reply = yield from thread.worker.ask("stackTrace", {"threadId": thread.local, "levels": 1})
    except WorkerRefusedError:
        return {}
    except ProblemError:
        return None
    frames = frames_of(load_body(reply))
    return frames[0] if frames else {}


def _resume_step(thread: WorkerThread) -> Flow[bool]:
    """Resume a thread as if it had not stopped, even in the middle of a step; return whether it resumes or is gone."""
    try:
        yield from thread.worker.request_logged(
            "evaluate", {"expression": calls.resume_step(thread.local), "context": "clipboard"}
        )
    except WorkerRefusedError:
        return False
    except ProblemError:
        return True
    return True


def _show(state: State, thread: WorkerThread, body: dict[str, object]) -> None:
    """Show a stop to the clients, unless another request or a barrier waits for it."""
    worker, watched = thread.worker, watch_hits.of_stop(thread, body.get("reason"))
    hit = worker.run.breakpoints.hit(worker.key, body.get("hitBreakpointIds"))
    # Replace debugpy's description. For an exception it is the message, which may be long and is in exceptionInfo, too.
    # For other stops there is none, and editors show "Paused on breakpoint".
    description = names.stop(body.get("reason"), body.get("text"))
    if body.get("reason") == "exception":
        program_input.look_for_failure(state, body.get("description"))
    stopped = {**body, "description": description, "threadId": thread.handle, "allThreadsStopped": False}
    stopped |= origin_of(thread)
    if "hitBreakpointIds" in body:
        stopped["hitBreakpointIds"] = [breakpoint.id for breakpoint in hit]
    if watched:
        stopped |= {**watched, "description": names.stop(watched["reason"], "")}
    # The previous stop of the thread may still be shown.
    if state.hide_stop(thread, stopped):
        run(state, thread)
        thread.wait()
        state.note_arrival(thread)
        return
    if worker.origin.row.worker_type in ("WORKER", "DRIVER") and not worker.shares_adapter:
        state.emit(AskFacts((worker.origin.row,)))
    if barrier_arrivals.waits(state, thread, hit, stopped):
        run(state, thread)
        thread.wait()
        return
    if thread.snapshot is not None:
        run(state, thread)  # It was shown as blocked, and has now really stopped.
    halt(state, thread, stopped)
    own_ranks.ask_stopped(state, worker)


def show_waiting(state: State, threads: Iterable[WorkerThread]) -> bool:
    """Show the threads among these that wait at a barrier; return whether there are any.

    They count as arrived while they stay stopped.
    """
    found = False
    for thread in list(threads):
        for stopped in [wait.stopped(thread) for wait in state.barriers.values()]:
            if stopped is not None and thread.state is ThreadState.WAITING:
                halt(state, thread, stopped)
                found = True
    return found


def halt(state: State, thread: WorkerThread, stopped: dict[str, object], snapshot: SampledStack | None = None) -> None:
    """Mark a thread as stopped, or as blocked if there is a snapshot, and notify the clients.

    A request that has resumed the thread is answered first, although the worker's own answer comes later.
    """
    if thread.accept is not None:
        thread.accept()
    thread.halt(stopped, snapshot)
    for client in state.ready_clients():
        if client.sees(thread.worker.key):
            stop_pacing.announce(state, client, thread)
    state.note_arrival(thread)


def show_missing(state: State, client: Client) -> None:
    """Send a client the stops that it may see but has not received yet."""
    for thread in state.stopped_threads(client):
        if thread.handle not in client.view.threads:
            stop_pacing.announce(state, client, thread)


def continued(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Handle a worker's `continued` event.

    A missing `allThreadsContinued` means true (spec: ContinuedEvent).
    """
    everything = body.get("allThreadsContinued", True) is not False
    for thread in list(worker.threads.values()):
        if everything or thread.local == body.get("threadId"):
            run(state, thread)


def run(state: State, thread: WorkerThread) -> None:
    """Mark a thread as running, and notify the clients that know its stop."""
    if thread.is_shown:
        thread.run()
        for client in state.ready_clients():
            if client.sees(thread.worker.key) and client.view.end_stop(thread.handle):
                client.event("continued", {"threadId": thread.handle, "allThreadsContinued": False})


def exited(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Handle a worker's `thread` event with the reason `exited`.

    Threads that have never stopped are unknown to the clients.
    """
    local = body.get("threadId")
    if body.get("reason") == "exited" and type(local) is int:
        thread = worker.threads.pop(LocalId(local), None)
        if thread is not None:
            state.end_thread(thread)
