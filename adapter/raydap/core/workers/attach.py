"""The attach to one worker, from the first byte until the worker may run.

The order of the messages, measured with debugpy 1.8:

- `initialize` and `attach` can be sent together. Never wait for the answer to `attach` before sending
  `configurationDone`: debugpy answers `attach` only after that.
- Between the event `initialized` and `configurationDone`, the worker accepts breakpoints and evaluates expressions.
- Never close a connection before `initialized`: that kills the worker's adapter. If the connection is closed just after
  that event, the worker keeps waiting and can be attached again.

The design is in docs/design/adapter.md.
"""

import functools
from contextlib import suppress

import msgspec

from raydap.core.effects import DialWorker
from raydap.core.flows import Flow
from raydap.core.model.breakpoints import Group
from raydap.core.model.client import Client
from raydap.core.model.pending import Asked, WorkerRefusedError
from raydap.core.model.processes import after
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, Worker
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.translate import paths
from raydap.core.translate.local_ids import paths_in
from raydap.core.workers import (
    breakpoint_events,
    child_sessions,
    detach,
    new_texts,
    pauses,
    program_entry,
    watch_setting,
    working_dirs,
)
from raydap.core.workers.replies import load_body
from raydap.errors import Code, Problem, ProblemError, sentence
from raydap.inworker import calls
from raydap.protocol import messages
from raydap.wire import envelope

HANDSHAKE_TIMEOUT_S = 20.0
"""Seconds for each answer in a handshake. A handshake takes 0.2 s, and 24 at once take 0.4 s on two cores
(measured)."""

INITIALIZE: messages.InitializeRequestArguments = {
    "adapterID": "raydap",
    "clientID": "raydap",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
}

# All workers get the same arguments, so they are encoded once.
_INITIALIZE = envelope.dump(INITIALIZE)


@functools.cache
def _changes(tune: bool) -> bytes:
    """Return the arguments of the `evaluate` that installs raydap's changes in a worker; it needs no stopped thread."""
    return envelope.dump({"expression": calls.enter(tune), "context": "clipboard"})


def attach_arguments(worker: Worker) -> dict[str, object]:
    """Return the arguments of debugpy's `attach` request.

    `rules` keep Ray's breakpoint() working under justMyCode on Python 3.10 and 3.11. `subProcessId` selects a child
    among the processes that one adapter serves.
    """
    settings = worker.settings
    return {
        **({"subProcessId": worker.row.pid} if worker.shares_adapter else {}),
        "justMyCode": settings.just_my_code,
        "rules": [{"module": "ray.util.debugpy", "include": True}],
        "pathMappings": msgspec.to_builtins(settings.path_mappings),
        "clientOS": paths.client_os(settings),
        "steppingResumesAllThreads": False,
        # By default pydevd watches the current directory, and fails if that has been removed.
        "autoReload": {"watchDirectories": ["/"]},
        **settings.debugpy_options(),
    }


def begin(state: State, worker: Worker) -> None:
    """Add a worker to the session, connect to it, and start its handshake."""
    state.workers[worker.key] = worker
    state.attaching.begin(worker.key, worker.row.node, state.now)
    worker.mark()
    program_entry.note_driver(worker)
    facts = worker.run.processes.take_alive(worker.key)
    if worker.facts == RayFacts():
        worker.facts = facts
    state.emit(dial(worker.row))
    state.start(attach(state, worker))


def dial(row: ProcessInfo) -> DialWorker:
    """Return the effect that connects to a worker."""
    return DialWorker(row.key, row.host, row.port, row.node_id, row.agent, row.over_relay)


def attach(state: State, worker: Worker) -> Flow[None]:
    """Attach to a worker, or report why that failed and schedule another attempt."""
    try:
        yield from _handshake(state, worker)
    except WorkerRefusedError as error:
        reason = (error.reply.message or "no reason given").rstrip(".")
        text = sentence(f"{worker} refused the debugger: {reason}.")
        give_up(state, worker, Problem(Code.WORKER_BUSY, text))
    except ProblemError as error:
        give_up(state, worker, error.problem)
    except Exception as error:
        # An internal error must not leave the worker half attached.
        state.log_exception(error)
        text = f"raydap could not attach to {worker}; please report it with the log."
        give_up(state, worker, Problem(Code.INTERNAL, text))


def _handshake(state: State, worker: Worker) -> Flow[None]:
    yield from worker.connected
    worker.advance(AttachStage.STARTING)
    initialize = worker.ask("initialize", _INITIALIZE, HANDSHAKE_TIMEOUT_S)
    attach = worker.ask("attach", attach_arguments(worker), HANDSHAKE_TIMEOUT_S)
    for asked in (initialize, attach):
        asked.forward_exception(worker.initialized)
    # A worker that answers `attach` early may never send the event `initialized`.
    attach.add_done_callback(lambda _: worker.initialized.set_result(None))
    yield from worker.initialized
    if worker.leaving and not worker.shares_adapter:
        # Close the connection: the worker stays paused and listed, so the next run finds it. No list contains a child
        # that shares its parent's adapter, so finish the child's handshake to be able to resume the child.
        detach.hang_up(state, worker)
        return
    yield from _enter(worker)
    yield from new_texts.send_to_new(state, worker, HANDSHAKE_TIMEOUT_S)
    yield from program_entry.stop_at_first_line(worker, HANDSHAKE_TIMEOUT_S)
    worker.advance(AttachStage.CONFIGURING)
    if (
        paths.workspace(worker.settings) is not None
        or any(worker.run.breakpoints.groups())
        or worker.run.watches.had_any
    ):
        yield from working_dirs.find_package(worker, HANDSHAKE_TIMEOUT_S)
        # A configured worker runs at once, so find all copies of files with breakpoints before that.
        for group in list(worker.run.breakpoints.groups()) if worker.has_modules else ():
            yield from working_dirs.find_module_copies(worker, group.path, HANDSHAKE_TIMEOUT_S)
    if worker.run.watches.had_any:
        # Wait: pydevd evaluates in another thread than the one that lets the worker run.
        yield from watch_setting.send(state, worker, HANDSHAKE_TIMEOUT_S)
    configured = _configure(state, worker)
    yield from attach
    # pydevd without an adapter answers `attach` at once. Report the worker as running only when it has its breakpoints.
    with suppress(WorkerRefusedError):
        yield from configured
    _attached(state, worker)


def _enter(worker: Worker) -> Flow[None]:
    """Install raydap's changes in the worker, and wait for the answer, before it receives breakpoints.

    pydevd decides when it receives a breakpoint whether that stops one thread or all threads of the process. It
    evaluates expressions in another thread than the one that handles breakpoints, so the order of the requests alone is
    not enough.
    """
    # `request_logged` logs a refusal. The worker can still be debugged then, with restrictions.
    with suppress(WorkerRefusedError):
        yield from worker.request_logged("evaluate", _changes(worker.settings.tune_workers), HANDSHAKE_TIMEOUT_S)


def _configure(state: State, worker: Worker) -> Asked:
    """Send the worker its breakpoints, and then `configurationDone`, which lets it run.

    The answer to `configurationDone` confirms that the worker has received all of them.
    """
    for group in worker.run.breakpoints.groups():
        set_breakpoints(state, worker, group)
    set_exception_breakpoints(worker)
    return worker.request_logged("configurationDone", None, HANDSHAKE_TIMEOUT_S)


def _attached(state: State, worker: Worker) -> None:
    worker.advance(AttachStage.ATTACHED)
    detach.end_attach(state, worker)
    with worker.run.processes.changing(worker.key) as process:
        process.forget_failure()
    state.log("info", f"attached to {worker}")
    if worker.leaving:
        detach.request_detach(state, worker)
    else:
        child_sessions.offer(state, worker)
        pauses.begin_wanted(state, worker)


def configured_workers(state: State) -> list[Worker]:
    """Return the workers that accept breakpoints now.

    The others receive the current breakpoints later in their attach.
    """
    return [worker for worker in state.workers.values() if is_configured(worker)]


def is_configured(worker: Worker) -> bool:
    """Return whether a worker accepts breakpoints now.

    This is the case from its configuration until its detach begins.
    """
    return worker.stage in (AttachStage.CONFIGURING, AttachStage.ATTACHED) and not worker.leaving


def set_breakpoints_everywhere(state: State, group: Group, client: Client | None = None) -> Flow[None]:
    """Set one group of breakpoints, on behalf of `client`, in all workers that accept breakpoints now.

    Stop as soon as another request replaces the group: that request sets its own group in all of these workers.
    """

    def set_in(worker: Worker) -> None:
        if is_configured(worker) and worker.run.breakpoints.is_current(group):
            set_breakpoints(state, worker, group)

    yield from state.parts.for_each(configured_workers(state), set_in, client)


def set_exception_breakpoints_everywhere(state: State, client: Client | None = None) -> Flow[None]:
    """Set the exception filters, on behalf of `client`, in all workers that accept breakpoints now."""

    def set_in(worker: Worker) -> None:
        if is_configured(worker):
            set_exception_breakpoints(worker)

    yield from state.parts.for_each(configured_workers(state), set_in, client)


def set_breakpoints(state: State, worker: Worker, group: Group) -> None:
    """Set one group of breakpoints in one worker, and pass the worker's answers to the clients as events.

    The requests are sent at once: the client's next request may resume a thread that has to stop at these breakpoints.
    """
    for path in paths_in(worker, group.path):
        state.start(set_group(state, worker, group, path))


def set_group(state: State, worker: Worker, group: Group, path: str) -> Flow[None]:
    """Set one group of breakpoints in one worker's source at `path`, and wait for its answer."""
    try:
        reply = yield from worker.request_logged(group.command, group.at(path), HANDSHAKE_TIMEOUT_S)
    except ProblemError:
        return
    # Merge the ids at once: the worker's next stop may contain them.
    answers = load_body(reply).get("breakpoints")
    _take_answers(state, worker, group, answers, path)
    if path:
        corrected = yield from working_dirs.without_copies(state, worker, path, answers)
        if corrected is not answers:
            _take_answers(state, worker, group, corrected, path)
        if path == group.path:
            with suppress(ProblemError):
                for copy in (yield from working_dirs.find_module_copies(worker, path)):
                    state.start(set_group(state, worker, group, copy))


def _take_answers(state: State, worker: Worker, group: Group, answers: object, path: str) -> None:
    breakpoint_events.changed(state, worker.run.breakpoints.answered(worker.key, group, answers, path))


def set_exception_breakpoints(worker: Worker) -> None:
    """Set the exception filters of all clients in one worker."""
    worker.request_logged("setExceptionBreakpoints", worker.run.breakpoints.exceptions, HANDSHAKE_TIMEOUT_S)


def give_up(state: State, worker: Worker, problem: Problem) -> None:
    """End a failed attach, report the problem to the user once, and schedule the next attempt."""
    if state.workers.get(worker.key) is not worker:
        return
    if worker.leaving:
        detach.hang_up(state, worker)
        return
    before = worker.run.processes[worker.key]
    if worker.row.agent:
        is_known = before.problem == str(problem)
    else:
        is_known = before.failure is not None and before.failure.port == worker.row.port
    note_failure(state, worker, problem, is_known)


def note_failure(state: State, worker: Worker, problem: Problem, is_known: bool) -> None:
    """Record a failed attach and schedule the next attempt.

    `is_known`: the user has received this problem before, so it is only logged. A worker with an agent does not wait
    for a debugger, so it is not recorded as paused.
    """
    if is_known:
        state.log("info", str(problem))
    else:
        state.report(problem)
    with worker.run.processes.changing(worker.key) as process:
        if not worker.row.agent:
            process.failure = worker.row
        process.problem = str(problem)
        process.retry = after(process.retry if is_known or worker.row.agent else None, state.now)
    detach.hang_up(state, worker)
