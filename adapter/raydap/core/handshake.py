"""Attaching to one worker, from the first byte until it may run, and letting it go.

Measured with debugpy 1.8: `initialize` and `attach` can be sent together; the answer to `attach` comes only after
`configurationDone`, so nobody may wait for it. Between the event `initialized` and `configurationDone` the worker takes
breakpoints and evaluates. A connection that is given up before `initialized` kills the worker's adapter; one that is
closed just after it leaves the worker waiting, so a handshake once begun always goes on at least that far.
"""

import functools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from raydap.core import paths, perworker, tuning
from raydap.core.breakpoints import Group
from raydap.core.errors import Code, Problem, sentence
from raydap.core.events import DialWorker, HangUp
from raydap.core.pending import Reply
from raydap.core.session import Failure, Session
from raydap.core.workers import Stage, Worker
from raydap.protocol import messages
from raydap.wire import envelope

PATIENCE = 20.0
"""Seconds for a handshake; measured: 0.2 s for one, 0.4 s for 24 at once on two cores."""

RETRY = (5.0, 60.0)
"""Seconds until a worker that could not be attached, and is still paused, is tried again: first, and at most."""

REST = 1.5
"""Seconds until a worker that was let go is dialled again; the clock of the core is up to one second late. An adapter
that is dialled before it is done with its last client goes deaf (debugpy/adapter/clients.py: the constructor of the new
one reports to the first session it finds, and the exception ends the thread that accepts connections)."""

INITIALIZE: messages.InitializeRequestArguments = {
    "adapterID": "raydap",
    "clientID": "raydap",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
}


def attach_arguments(worker: Worker) -> dict[str, Any]:
    """debugpy's `attach`.

    The rule keeps Ray's breakpoint alive under justMyCode on Python 3.10 and 3.11. `subProcessId` picks a child among
    the processes that one adapter serves.
    """
    settings = worker.settings
    return {
        **({"subProcessId": worker.row.pid} if worker.parent is not None else {}),
        "justMyCode": settings.just_my_code,
        "rules": [{"module": "ray.util.debugpy", "include": True}],
        "pathMappings": msgspec.to_builtins(settings.path_mappings),
        "steppingResumesAllThreads": False,
    }


def dial(session: Session, worker: Worker) -> None:
    session.under_way.add(worker.key)
    session.changed[worker.key] = None
    row = worker.row
    session.emit(DialWorker(worker.key, row.host, row.port, row.node_id))


def connected(session: Session, worker: Worker) -> None:
    worker.stage = Stage.STARTING
    deadline = session.now + PATIENCE

    def nothing(_: Any) -> None: ...

    def then(done: Callable[[Any], None]) -> Callable[[Reply], None]:
        def check(reply: Reply) -> None:
            if isinstance(reply, Problem):
                give_up(session, worker, reply)
            elif not reply.success:
                reason = (reply.message or "no reason given").rstrip(".")
                text = f"{worker} refused the debugger: {reason}."
                give_up(session, worker, Problem(Code.WORKER_BUSY, sentence(text)))
            else:
                done(reply)

        return check

    worker.request("initialize", INITIALIZE, then(nothing), deadline)
    worker.request("attach", attach_arguments(worker), then(lambda _: attached(session, worker)), deadline)


def initialized(session: Session, worker: Worker) -> None:
    """The worker takes its configuration now: everything the clients want of it, before it may run."""
    if worker.stage is not Stage.STARTING:
        return
    if worker.leaving and worker.parent is None:
        # Nobody is left to look at it; it stays paused and listed, for the next session to find. A child is listed
        # nowhere, so its handshake goes on to where it can be told to run.
        hang_up(session, worker)
        return
    worker.stage = Stage.CONFIGURING
    deadline = session.now + PATIENCE
    change = tuning.enter(worker.settings.tune_workers)
    worker.request("evaluate", _silently(change), logged(session, worker), deadline)
    if paths.workspace(worker.settings) is None:
        configure(session, worker)
        return

    def then(reply: Reply) -> None:
        worker.package = paths.package(load_body(reply).get("result"))
        if not isinstance(reply, Problem):
            configure(session, worker)

    worker.request("evaluate", {"expression": paths.WORKING_DIR, "context": "clipboard"}, then, deadline)


def configure(session: Session, worker: Worker) -> None:
    for group in session.breakpoints.groups():
        tell_breakpoints(session, worker, group)
    tell_exceptions(session, worker)
    worker.request("configurationDone", None, logged(session, worker), session.now + PATIENCE)


def attached(session: Session, worker: Worker) -> None:
    worker.stage = Stage.ATTACHED
    session.under_way.discard(worker.key)
    session.failures.pop(worker.key, None)
    session.changed[worker.key] = None
    session.log("info", f"attached to {worker}")
    if worker.leaving:
        let_go(session, worker)
    perworker.offer(session, worker)


def let_go(session: Session, worker: Worker) -> None:
    """Ends the debugging of a worker, which runs on. Never by `terminate`: debugpy would kill it.

    That takes until all it was asked is answered, `disconnect` last. Measured with debugpy 1.8: an adapter that has an
    answer to forward and finds its client gone dies of it, and the worker's next breakpoint() waits for ever.
    """
    worker.leaving = True
    session.changed[worker.key] = None
    if worker.stage is Stage.ATTACHED:
        end_threads(session, worker)
        session.parting[worker.key] = session.now + PATIENCE
        change = tuning.leave(worker.settings.tune_workers)
        worker.request("evaluate", _silently(change), _unheard, session.parting[worker.key])
        part(session, worker)


def part(session: Session, worker: Worker) -> None:
    """Disconnects from a worker that is let go, once it owes no answer, or has for too long. Called whenever it or a
    child of it was heard of, and at every Tick.

    A child's handshake is with the adapter of its parent, which is not disturbed meanwhile.
    """
    deadline = session.parting.get(worker.key)
    if deadline is None:
        return
    bears = any(session.workers[child].parent is worker for child in session.under_way)
    if session.now < deadline and (bears or session.pending.owes(worker.key)):
        return
    del session.parting[worker.key]
    farewell = functools.partial(_disconnected, session, worker)
    worker.request("disconnect", {"terminateDebuggee": False}, farewell, session.now + PATIENCE)


def _disconnected(session: Session, worker: Worker, _: Reply) -> None:
    hang_up(session, worker)


def hang_up(session: Session, worker: Worker) -> None:
    session.emit(HangUp(worker.key))
    forget(session, worker, "is not debugged any more")


def give_up(session: Session, worker: Worker, problem: Problem) -> None:
    """The worker could not be attached. It is told to the user once, and tried again later while it stays paused."""
    if session.workers.get(worker.key) is not worker:
        return
    failure = session.failures.get(worker.key)
    if worker.leaving:
        hang_up(session, worker)
        return
    if failure is None or failure.row.port != worker.row.port:
        session.report(problem)
        delay = RETRY[0]
    else:
        session.log("info", str(problem))
        delay = min(failure.delay * 2, RETRY[1])
    session.failures[worker.key] = Failure(worker.row, str(problem), session.now + delay, delay)
    hang_up(session, worker)


def forget(session: Session, worker: Worker, why: str) -> None:
    """The worker is not ours any more: whoever waits for it is told, and all that was shown of it is void."""
    worker.stage = Stage.GONE
    session.workers.pop(worker.key, None)
    session.changed[worker.key] = None
    session.under_way.discard(worker.key)
    session.parting.pop(worker.key, None)
    if worker.leaving:
        session.left[worker.key] = session.now
    for waiting in session.pending.take_worker(worker.key):
        text = sentence(f"{worker} {why}, so {waiting.command} has no answer.")
        waiting.then(Problem(Code.WORKER_GONE, text))
    end_threads(session, worker)
    worker.scope.close()
    session.labels.pop(worker.key, None)
    session.look_again()
    perworker.end(session, worker)
    for breakpoint in session.breakpoints.forget(worker.key):
        session.broadcast("breakpoint", {"reason": "changed", "breakpoint": breakpoint.view()})


def end_threads(session: Session, worker: Worker) -> None:
    for thread in worker.threads.values():
        session.end(thread)
    worker.threads.clear()


def tell_breakpoints(session: Session, worker: Worker, group: Group) -> None:
    """Sets one group of breakpoints in one worker; what it makes of them goes to the clients as events."""

    def then(path: str, reply: Reply) -> None:
        logged(session, worker)(reply)
        body = load_body(reply)
        for breakpoint in session.breakpoints.answered(worker.key, group, body.get("breakpoints"), path):
            session.broadcast("breakpoint", {"reason": "changed", "breakpoint": breakpoint.view()})

    for path in paths.told(group.path, paths.workspace(worker.settings), worker.package):
        worker.request(group.command, group.at(path), partial(then, path), session.now + PATIENCE)


def tell_exceptions(session: Session, worker: Worker) -> None:
    arguments = session.breakpoints.exceptions
    worker.request("setExceptionBreakpoints", arguments, logged(session, worker), session.now + PATIENCE)


def logged(session: Session, worker: Worker) -> Callable[[Reply], None]:
    """For requests whose failure the user need not hear of."""

    def then(reply: Reply) -> None:
        if isinstance(reply, Problem):
            session.log("warning", str(reply))
        elif not reply.success:
            session.log("warning", f"{worker} failed {reply.command}: {reply.message}")

    return then


def load_body(reply: Reply) -> Mapping[str, Any]:
    """The decoded body of a successful answer; empty for any other."""
    if isinstance(reply, Problem) or not reply.success or reply.body is None:
        return {}
    try:
        body = envelope.load(reply.body)
    except envelope.EnvelopeError:
        return {}
    return body if isinstance(body, dict) else {}


def _silently(expression: str) -> dict[str, str]:
    """`repl` lets pydevd run statements too; without a frameId it needs no stopped thread."""
    return {"expression": expression, "context": "repl"}


def _unheard(_: Reply) -> None: ...
