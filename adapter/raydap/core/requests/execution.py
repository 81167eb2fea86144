"""Requests that resume, pause, list and show threads."""

from typing import Any

from raydap.core.flows import Flow
from raydap.core.model.client import Client, Request
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, ThreadState, Worker, WorkerThread
from raydap.core.translate import names
from raydap.core.translate.local_ids import to_local_ids
from raydap.core.translate.snapshots import refused
from raydap.core.workers import collectives, pauses, remote_steps, stop_pacing, stops, thread_names
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls
from raydap.protocol.raydap_messages import FocusArguments

_NAMED = 3
"""The maximum number of stopped threads that an error names."""


def not_stopped_error(state: State, client: Client) -> ProblemError:
    """Return the error for a request about a running thread; its text names the threads that are stopped."""
    return ProblemError(Problem(Code.NOT_STOPPED, f"The thread runs; wait for its next stop{_stopped(state, client)}."))


def thread_of(state: State, client: Client, handle: object) -> WorkerThread:
    """Return the thread with this id.

    Raises ProblemError (STALE_ID). Its text names the stopped threads, because some clients request the stack of thread
    1 at each stop.
    """
    try:
        return state.thread(client, handle)
    except ProblemError as error:
        text = error.problem.text.rstrip(".") + _stopped(state, client)
        raise ProblemError(Problem(error.problem.code, f"{text}.", error.problem.detail)) from None


def _stopped(state: State, client: Client) -> str:
    threads = state.stopped_threads(client)
    if not threads:
        return ""
    shown = ", ".join(f"{thread.handle} ({names.thread(thread)['name']})" for thread in threads[:_NAMED])
    more = f" and {len(threads) - _NAMED} more" if len(threads) > _NAMED else ""
    return f"; stopped threads: {shown}{more}"


def resume(state: State, request: Request, arguments: dict[str, object]) -> Flow[Any]:
    """Resume one thread by `continue`, `next`, `stepIn`, `stepOut` or `goto`; other threads stay stopped."""
    thread = thread_of(state, request.client, arguments.get("threadId"))
    request.client.view.focus = thread
    answer = {"allThreadsContinued": False} if request.command == "continue" else None
    if thread.state is ThreadState.BLOCKED and request.command != "continue":
        raise refused(thread)
    if thread.is_held:
        yield from collectives.warn(state, [thread])
    if thread.is_held:
        to_local_ids(state, thread.worker, request.command, arguments)
        command, arguments = yield from _across_processes(state, thread, request.command, arguments)

        def accept() -> None:
            if not request.answered:
                request.respond(answer)

        thread.accept = accept
        try:
            yield from let_run(thread, command, arguments, request.timeout_s)
        finally:
            thread.accept = None
        accept()
        note_resumed(state, thread)
    elif request.command != "continue":
        raise not_stopped_error(state, request.client)
    # Never pass on a second `continue`: it wedges debugpy (debugpy#2048), and the thread runs already.
    return answer


def _across_processes(
    state: State, thread: WorkerThread, command: str, arguments: dict[str, object]
) -> Flow[tuple[str, dict[str, object]]]:
    """Return the command for a thread whose step may lead to another process (workers/remote_steps.py).

    Step Into at a call to Ray steps over it, and raydap follows the call. Step Out of such a call lets it end.
    """
    plain: dict[str, object] = {"threadId": thread.local, "singleThread": True}
    if command == "stepIn" and thread.submits:
        remote_steps.give_up(state, [thread])
        if (yield from remote_steps.begin(state, thread, arguments.get("targetId"))):
            return "next", plain
    elif command == "stepOut" and thread.call is not None and (yield from remote_steps.leave(state, thread)):
        return "continue", plain
    return command, arguments


def let_run(thread: WorkerThread, command: str, arguments: dict[str, object], timeout_s: float) -> Flow[None]:
    """Resume one stopped thread, or take back the pause of a blocked one.

    `arguments` contain the worker's own ids. Raises ProblemError if the worker refuses or does not answer.
    """
    before, thread.state = thread.state, ThreadState.RESUMING
    thread.stepping = command != "continue"
    thread.submits = False
    try:
        if command == "continue":
            yield from _continue_alone(thread, timeout_s)
        else:
            yield from thread.worker.ask(command, arguments, timeout_s)
    except ProblemError:
        if thread.worker.can_end_unanswered and thread.worker.stage is AttachStage.GONE:
            return
        # Without an answer, the thread may run or not. Until the worker reports that it runs, the user can try again.
        if thread.state is ThreadState.RESUMING:
            thread.state = before
        raise


def _continue_alone(thread: WorkerThread, timeout_s: float) -> Flow[None]:
    """Resume one thread by evaluating an expression in its worker.

    debugpy's own `continue` resumes all threads of the process, even with `singleThread`, and so loses the stop of
    another thread. It is used only if the worker refuses the evaluation.
    """
    worker = thread.worker
    try:
        expression = {"expression": calls.resume_thread(thread.local), "context": "clipboard"}
        yield from worker.ask("evaluate", expression, timeout_s)
    except WorkerRefusedError as error:
        worker.context.log("warning", f"{worker} cannot resume one thread alone: {error.reply.message}")
        yield from worker.ask("continue", {"threadId": thread.local}, timeout_s)


def note_resumed(state: State, thread: WorkerThread) -> None:
    """Mark a thread as running after its worker has accepted the command, unless an event has changed its state."""
    if thread.state is ThreadState.RESUMING:
        stops.run(state, thread)


def pause(state: State, request: Request, arguments: dict[str, object]) -> Flow[None]:
    """Pause one thread, or with `threadId` 0 every thread of every worker that the client sees.

    The stops follow as events. A thread that cannot stop is shown as blocked a moment later.
    """
    handle = arguments.get("threadId", 0)
    # The type is checked because False == 0 in Python.
    if type(handle) is not int or handle != 0:
        thread = thread_of(state, request.client, handle)
        remote_steps.give_up(state, [thread])
        if not thread.is_held:
            request.client.view.focus = thread
            pauses.begin(state, thread.worker, thread, request.timeout_s)
        return
    workers = [each for each in state.workers.values() if each.is_attached and request.client.sees(each.key)]
    if not workers:
        text = "No worker is attached yet, so there is nothing to pause; wait until one stops at a breakpoint()."
        raise ProblemError(Problem(Code.NO_WORKER, text))

    remote_steps.give_up(state)

    def begin(worker: Worker) -> None:
        if worker.is_attached:
            pauses.begin(state, worker, None, request.timeout_s)

    yield from state.parts.for_each(workers, begin, request.client)


def focus(state: State, request: Request, arguments: FocusArguments) -> None:
    """Send a thread's stop to this client again, without `preserveFocusHint`, so that its editor selects the thread.

    An editor selects a thread only when it gets a stop.
    """
    thread = thread_of(state, request.client, arguments.thread_id)
    if not thread.is_held:
        raise not_stopped_error(state, request.client)
    request.client.view.focus = thread
    request.respond()
    stop_pacing.send_stop(request.client, thread)


def threads(state: State, request: Request, arguments: dict[str, object]) -> Any:
    """Return the stopped threads whose stop this client has been sent: an editor would show any other as running."""
    thread_names.listed(request.client)
    threads, waiting = state.stopped_threads(request.client), request.client.view.waiting
    return {"threads": [names.thread(thread) for thread in threads if thread.handle not in waiting]}
