"""Threads stop and run on: what workers say of it, and what clients ask for.

Each stopped thread of each worker is a thread of the merged session. A thread that only runs is not listed.
"""

from collections.abc import Callable
from typing import Any

from raydap.core import conditions, views
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import DescribeWorkers
from raydap.core.handshake import load_body, logged
from raydap.core.pending import Reply
from raydap.core.policy import POLICY
from raydap.core.routing import down
from raydap.core.session import Session
from raydap.core.tuning import CAN_WAKE, DEBUGGER
from raydap.core.workers import Stage, State, Thread, Worker
from raydap.protocol.types import LocalId

_THREAD_ID = (
    "__import__('_pydevd_bundle._debug_adapter.pydevd_base_schema', fromlist=['_']).BaseSchema._dap_id_to_obj_id[{}]"
)
RESUME = (
    "(lambda i, d: (__import__('_pydevd_bundle.pydevd_comm', fromlist=['_']).resume_threads(i), "
    f"{CAN_WAKE} and d.get_internal_queue_and_event(i)[1].set()) and None)({_THREAD_ID}, {DEBUGGER})"
)
"""Resumes one thread of a worker and wakes it. debugpy's own `continue` resumes all threads of the process, whatever
`singleThread` says, and so loses the stop of another thread; and it leaves the thread to its 0.2 s poll."""

PAUSE = (
    "(lambda i, d: (__import__('_pydevd_bundle.pydevd_api', fromlist=['_']).PyDevdAPI()"
    f".request_suspend_thread(d, i), ) and None)({_THREAD_ID}, {DEBUGGER})"
)
"""Pauses one thread; debugpy's own `pause` stops all threads of the process."""


def stopped(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    """A worker's `stopped`. With several threads it can be a phantom, whose stack is empty: look before it is shown."""
    local = body.get("threadId")
    if type(local) is not int:
        session.log("warning", f"{worker} sent a stop without a thread: {body}")
        return
    thread = worker.thread(LocalId(local))
    session.changed[worker.key] = None  # With a second thread, the first is called #1.
    if body.get("reason") == "exception" and session.breakpoints.conditions:
        conditions.check(session, thread, lambda: show(session, thread, body), lambda: _let_run(session, thread))
        return
    if not worker.threaded:
        show(session, thread, body)
        return

    def then(reply: Reply) -> None:
        if isinstance(reply, Problem) or load_body(reply).get("stackFrames"):
            show(session, thread, body)
        else:
            session.log("info", f"dropped a phantom stop of {worker}, thread {local}")

    worker.request("stackTrace", {"threadId": local, "levels": 1}, then, session.now + POLICY["stackTrace"].patience)


def _let_run(session: Session, thread: Thread) -> None:
    """An exception that the user does not want to see: the thread runs on as if it had not stopped."""
    session.log("info", f"an exception in {thread.worker} does not meet its condition")
    evaluate(thread, RESUME, logged(session, thread.worker), session.now + POLICY["continue"].patience)


def show(session: Session, thread: Thread, body: dict[str, Any]) -> None:
    worker = thread.worker
    # While its stack was looked at, the worker or the thread may have ended.
    if worker.stage is Stage.GONE or worker.threads.get(thread.local) is not thread:
        return
    stepping = thread.stepping
    hit = session.breakpoints.handles(worker.key, body.get("hitBreakpointIds"))
    thread.halt({**body, "threadId": thread.handle, "allThreadsStopped": False, "hitBreakpointIds": hit})
    session.stopped[thread.handle] = thread
    session.changed[worker.key] = None
    for client in session.ready():
        if client.sees(worker.key):
            announce(client, thread, stepping)
    if worker.row.worker_type not in ("TARGET", "CHILD"):
        session.emit(DescribeWorkers((worker.row,)))


def catch_up(session: Session, client: Client) -> None:
    """Shows a client the stops that it sees now and does not know of."""
    for thread in session.stopped.values():
        if client.sees(thread.worker.key) and thread.handle not in client.threads:
            announce(client, thread)


def announce(client: Client, thread: Thread, stepping: bool = False) -> None:
    """Shows a stop to one client; the focus is left where the user is looking, unless that thread runs on freely."""
    looked_at = client.focus
    elsewhere = looked_at not in (None, thread) and (looked_at.state is State.STOPPED or looked_at.stepping)
    if not elsewhere:
        client.focus = thread
    if thread.handle not in client.threads:
        client.threads.add(thread.handle)
        client.event("thread", {"reason": "started", "threadId": thread.handle})
    client.event("stopped", {**thread.stopped, "preserveFocusHint": elsewhere})


def continued(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    """A worker's `continued`; absent `allThreadsContinued` means true (spec: ContinuedEvent)."""
    everything = body.get("allThreadsContinued", True) is not False
    for thread in list(worker.threads.values()):
        if everything or thread.local == body.get("threadId"):
            run(session, thread)


def run(session: Session, thread: Thread) -> None:
    if session.stopped.pop(thread.handle, None) is not None:
        thread.run()
        session.changed[thread.worker.key] = None
        session.broadcast("continued", {"threadId": thread.handle, "allThreadsContinued": False}, thread.worker.key)


def exited(session: Session, worker: Worker, body: dict[str, Any]) -> None:
    """A worker's `thread exited`; threads that never stopped are of no interest."""
    local = body.get("threadId")
    if body.get("reason") == "exited" and type(local) is int:
        thread = worker.threads.pop(LocalId(local), None)
        if thread is not None:
            session.end(thread)


def resume(session: Session, request: Request) -> None:
    """continue, next, stepIn, stepOut, goto: this thread alone runs on."""
    arguments = request.arguments()
    thread = session.thread(arguments.get("threadId"))
    request.client.focus = thread
    answer = {"allThreadsContinued": False} if request.command == "continue" else None
    if thread.state is not State.STOPPED:
        # A second `continue` wedges debugpy (debugpy#2048); what it asks for is true already.
        if request.command != "continue":
            raise ProblemError(Problem(Code.NOT_STOPPED, "The thread runs; wait for its next stop."))
        request.respond(answer)
        return

    def then(reply: Reply) -> None:
        if isinstance(reply, Problem):
            request.fail(reply)
        elif reply.success:
            request.respond(answer)
        else:
            request.refuse(reply)

    down(session, thread.worker, request.command, arguments)
    go(session, thread, request.command, arguments, then)


def go(
    session: Session, thread: Thread, command: str, arguments: dict[str, Any], then: Callable[[Reply], None]
) -> None:
    """Lets one stopped thread run on; `arguments` have the worker's own ids, and `then` gets what came of it."""

    def done(reply: Reply) -> None:
        if not isinstance(reply, Problem) and reply.success:
            then(reply)
            if thread.state is State.RESUMING:
                run(session, thread)
        elif not isinstance(reply, Problem) and command == "continue" and reply.command == "evaluate":
            session.log("warning", f"{thread.worker} cannot resume one thread alone: {reply.message}")
            thread.worker.request("continue", {"threadId": thread.local}, done, deadline)
        else:
            # Without an answer nobody knows whether it runs; as long as the worker does not say so, try again.
            if thread.state is State.RESUMING:
                thread.state = State.STOPPED
            then(reply)

    deadline = session.now + POLICY[command].patience
    thread.state = State.RESUMING
    thread.stepping = command != "continue"
    if command == "continue":
        evaluate(thread, RESUME, done, deadline)
    else:
        thread.worker.request(command, arguments, done, deadline)


def pause(session: Session, request: Request) -> None:
    """Stops one thread, or with 0 every thread of every worker that the client sees; the stops follow as events."""
    handle = request.arguments().get("threadId", 0)
    deadline = session.now + POLICY["pause"].patience
    # The type is checked because False == 0 in Python.
    if type(handle) is not int or handle != 0:
        thread = session.thread(handle)
        if thread.state is not State.STOPPED:
            request.client.focus = thread
            evaluate(thread, PAUSE, logged(session, thread.worker), deadline)
    else:
        attached = (worker for worker in session.workers.values() if worker.stage is Stage.ATTACHED)
        workers = [worker for worker in attached if not worker.leaving and request.client.sees(worker.key)]
        if not workers:
            text = "No worker is attached yet, so there is nothing to pause; wait until one stops at a breakpoint()."
            raise ProblemError(Problem(Code.NO_WORKER, text))
        for worker in workers:
            worker.request("pause", {"threadId": 0}, logged(session, worker), deadline)
    request.respond()


def focus(session: Session, request: Request) -> None:
    """Shows one client a stop again, as the one to look at: an editor can move its user by nothing else."""
    thread = session.thread(request.arguments().get("threadId"))
    if thread.state is not State.STOPPED:
        raise ProblemError(Problem(Code.NOT_STOPPED, "The thread runs; wait for its next stop."))
    request.client.focus = thread
    request.respond()
    announce(request.client, thread)


def threads(session: Session, request: Request) -> None:
    stopped = [thread for thread in session.stopped.values() if request.client.sees(thread.worker.key)]
    request.respond({"threads": [views.thread(thread) for thread in stopped]})


def evaluate(thread: Thread, expression: str, then: Callable[[Reply], None], deadline: float) -> None:
    arguments = {"expression": expression.format(thread.local), "context": "repl"}
    thread.worker.request("evaluate", arguments, then, deadline)
