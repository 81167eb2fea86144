"""The bridge: events in, effects out. Its tables map events to their handlers; requests/table.py maps requests."""

from collections.abc import Callable
from typing import Any

from raydap.analysis.ray_state import ListCut
from raydap.core import events as ev
from raydap.core.effects import Effect
from raydap.core.model.client import Client, ClientRole, ClientStage, Request
from raydap.core.model.state import State, problem_output
from raydap.core.model.worker import Worker
from raydap.core.requests import caller_frames, waits
from raydap.core.requests.capabilities import CAPABILITIES, HUB_CAPABILITIES, LAUNCH_CAPABILITIES
from raydap.core.requests.dispatch import dispatch
from raydap.core.settings import HubSettings
from raydap.core.translate import local_files
from raydap.core.workers import (
    agent_questions,
    alive_listing,
    attach_decisions,
    attach_progress,
    barriers,
    breakpoint_events,
    child_sessions,
    detach,
    forked_waits,
    holding,
    loss,
    native_code,
    output,
    pauses,
    prepared,
    program_terminal,
    remote_steps,
    run_events,
    selection,
    stop_pacing,
    stops,
    unprepared,
    waiting_workers,
    watch_hits,
    watch_setting,
    worker_entries,
)
from raydap.errors import Code, Problem, ProblemError, sentence
from raydap.protocol.types import Seq
from raydap.wire import envelope

WORKER_EVENTS: dict[str, Callable[[State, Worker, dict[str, object]], None]] = {
    "initialized": lambda state, worker, _: worker.initialized.set_result(None),
    "terminated": lambda state, worker, _: loss.terminated(state, worker),
    "stopped": remote_steps.stopped,
    "continued": stops.continued,
    "thread": stops.exited,
    "breakpoint": output.breakpoint_changed,
    "output": output.output,
    "process": output.process,
    "module": output.module,
    "debugpyAttach": selection.child_started,
    "raydapSubmits": remote_steps.submits,
    "raydapCall": remote_steps.called,
    "raydapSubmitted": remote_steps.submitted,
    "raydapReached": remote_steps.reached,
    "raydapTaken": remote_steps.taken,
    "raydapTask": lambda _, worker, body: caller_frames.note_task(worker, body),
    "raydapCaller": lambda state, worker, _: caller_frames.note_caller(state, worker.key),
    "raydapWatched": watch_hits.hit,
    "raydapWatchNote": watch_hits.noted,
}
"""The handlers of workers' events. Any other event is dropped, such as debugpy's private ones.

Never forward a worker's `terminated` or `exited` to a client: it would end the whole session there.
"""

_WHILE_LEAVING = ("initialized", "debugpyAttach")
"""Events handled while a worker is being detached: its handshake must finish, and new children must be released."""


class Bridge:
    """One session for all workers. Use: `for effect in bridge.handle(event): ...`.

    `hub` contains the settings of a hub, which outlives its clients; None for a bridge that is no hub.
    """

    def __init__(self, hub: HubSettings | None = None) -> None:
        self._effects: list[Effect] = []
        capabilities = CAPABILITIES if hub is None else HUB_CAPABILITIES
        self.state = State(self._effects.append, hub, capabilities, LAUNCH_CAPABILITIES)

    @property
    def idle(self) -> bool:
        """Whether the process may end without harm: no client and no worker is connected."""
        return not self.state.clients and not self.state.workers and not self.state.visits

    def handle(self, event: ev.Event) -> list[Effect]:
        """Take one event and return the effects to perform now, in this order."""
        self._do(lambda state: _EVENTS[type(event)](state, event))
        if isinstance(event, ev.Tick):
            self._do(*TICK_STEPS)
        self._do(*EVENT_STEPS)
        # Last, because the entries show what all steps above have changed.
        self._do(worker_entries.send_changes)
        effects = self._effects.copy()
        self._effects.clear()
        return effects

    def _do(self, *steps: Callable[[State], None]) -> None:
        """Run the steps. An exception in one of them is logged, and the others still run."""
        for step in steps:
            try:
                step(self.state)
            except Exception as exception:
                self.state.log_exception(exception)


def _tick(state: State, event: ev.Tick) -> None:
    state.now = event.now


def _end_overdue(state: State) -> None:
    """End every wait whose time is over: for stops of threads, for workers' answers, and for leaving workers."""
    state.expire_arrivals()
    for key, asked in state.pending.take_overdue(state.now):
        name = sentence(str(state.workers.get(key, key)))
        text = f"{name} did not answer {asked.command} in time; it may be very busy."
        asked.set_exception(ProblemError(Problem(Code.WORKER_SILENT, text)))
    for key in list(state.leaving):
        detach.check_quiet(state, state.workers[key])


TICK_STEPS: tuple[Callable[[State], None], ...] = (
    _end_overdue,
    holding.end_overdue,
    holding.detach_overdue,
    selection.examine_again,
    waiting_workers.end_visits,
    attach_decisions.examine_due,
    prepared.detach_idle,
    unprepared.examine_again,
    child_sessions.examine_again,
    loss.report_overdue,
    pauses.examine,
    stop_pacing.examine,
    barriers.examine_again,
    breakpoint_events.send_texts,
    remote_steps.report_long,
    watch_setting.examine,
)
"""Called at every Tick. The order does not matter: tests shuffle it (tests/playbook/conftest.py)."""

EVENT_STEPS: tuple[Callable[[State], None], ...] = (
    attach_decisions.examine_waiting,
    attach_progress.report,
    alive_listing.watch,
    barriers.examine,
    remote_steps.examine,
)
"""Called after every event, in any order."""


def _client_connected(state: State, event: ev.ClientConnected) -> None:
    role = (
        ClientRole.JOINING if event.child_session else ClientRole.DEBUGGER if event.admitted else ClientRole.UNTRUSTED
    )
    state.clients[event.client] = Client(state.emit, event.client, role)


def _client_admitted(state: State, event: ev.ClientAdmitted) -> None:
    client = state.clients.get(event.client)
    if client is not None:
        client.admit()


def _client_message(state: State, event: ev.ClientMessage) -> None:
    client = state.clients.get(event.client) or state.left.get(event.client)
    if client is None:
        return
    if client.parts or client.delayed:
        client.delayed.append(event.data)
    else:
        _handle_message(state, client, event.data)


def _next_part(state: State, _: ev.NextPart) -> None:
    for client in state.parts.begin():
        try:
            if client.delayed:
                _handle_message(state, client, client.delayed.popleft())
        except Exception as exception:
            # A bug in a handler must not block the messages after this one.
            state.log_exception(exception)
        if client.delayed and not client.parts:
            state.parts.next(client)


def _handle_message(state: State, client: Client, data: bytes) -> None:
    try:
        message = envelope.read(data)
    except envelope.EnvelopeError as error:
        state.log("warning", f"client {client.name} sent a message that is not DAP: {error}")
        problem = Problem(Code.BAD_MESSAGE, "raydap got a message that is not DAP and dropped it.")
        client.event("output", problem_output(problem))
        return
    if message.type == "request":
        request = Request(client, Seq(message.seq), message.command, message.arguments)
        if client.stage is ClientStage.LEFT:
            # VS Code requests stacks until the adapter has ended, and its call stack view waits for the answers.
            request.cancel()
        else:
            dispatch(state, request)
    elif message.type == "response":
        child_sessions.answered(state, client, message)
        program_terminal.answered(state, client, message)
        stops.show_missing(state, client)
    else:
        state.log("debug", f"client {client.name} sent an event; DAP has no events of clients")


def _client_gone(state: State, event: ev.ClientGone) -> None:
    state.left.pop(event.client, None)
    client = state.clients.get(event.client)
    if client is not None:
        state.log(
            "info" if event.reason == "closed" else "warning", f"client {client.name} disconnected: {event.reason}"
        )
        holding.leave(state, client, None if state.hub is None else state.hub.hold)


def _worker_connected(state: State, event: ev.WorkerConnected) -> None:
    worker = state.workers.get(event.worker)
    if worker is not None:
        worker.connected.set_result(None)


def _worker_gone(state: State, event: ev.WorkerGone) -> None:
    worker = state.workers.get(event.worker)
    if worker is not None:
        loss.gone(state, worker, event)
        if worker.parent is not None:
            detach.check_quiet(state, worker.parent)


def _worker_message(state: State, event: ev.WorkerMessage) -> None:
    worker = state.workers.get(event.worker)
    if worker is None:
        return
    try:
        message = envelope.read(event.data)
        if message.type == "response":
            asked = state.pending.take(worker.key, Seq(message.request_seq))
            if asked is not None:
                asked.answer(message)
        elif message.type == "event":
            _worker_event(state, worker, message)
        else:
            # A worker is not trusted to start anything on the user's machine (runInTerminal, startDebugging).
            worker.refuse(message, "not supported")
    except envelope.EnvelopeError as error:
        state.log("warning", f"{worker} sent a message that is not DAP: {error}")
    for each in (worker, worker.parent):
        if each is not None:
            detach.check_quiet(state, each)


def _worker_event(state: State, worker: Worker, message: envelope.Envelope) -> None:
    handler = WORKER_EVENTS.get(message.event)
    if handler is not None and (not worker.leaving or message.event in _WHILE_LEAVING):
        body = {} if message.body is None else envelope.load(message.body)
        handler(state, worker, body if isinstance(body, dict) else {})


def _paused(state: State, event: ev.WorkersPaused) -> None:
    selection.paused(state, event)
    waiting_workers.end_visits(state)


_EVENTS: dict[type, Callable[[State, Any], None]] = {
    ev.ClientConnected: _client_connected,
    ev.ClientAdmitted: _client_admitted,
    ev.ClientMessage: _client_message,
    ev.ClientGone: _client_gone,
    ev.WorkerConnected: _worker_connected,
    ev.WorkerMessage: _worker_message,
    ev.WorkerGone: _worker_gone,
    ev.WorkersPaused: _paused,
    ev.WorkersAlive: alive_listing.listed,
    ev.AgentCalled: prepared.called,
    ev.AgentFound: prepared.found,
    ev.AgentsEnded: prepared.ended,
    ev.NodesAlive: prepared.nodes_alive,
    ev.AgentsExpected: prepared.agents_expected,
    ev.AgentsSearched: prepared.searched,
    ev.AgentInjected: unprepared.injected,
    ev.AgentAnswered: agent_questions.answered,
    ev.WaitingAnswered: waiting_workers.answered,
    ev.StackSampled: native_code.sampled,
    ev.ForkedWaitsFound: forked_waits.found,
    ev.FactsListed: selection.take_facts,
    ev.ActorsListed: barriers.actors_listed,
    ev.RayStateListed: waits.state_listed,
    ev.WorkersEnded: loss.workers_ended,
    ev.JobsListed: run_events.jobs_listed,
    ev.JobsEnded: loss.jobs_ended,
    ev.DiscoveryReady: run_events.discovery_ready,
    ev.DiscoveryFailed: run_events.discovery_failed,
    ListCut: lambda state, event: state.print_to_console(event.text),
    ev.TerminalNeeded: program_terminal.needed,
    ev.DebuggeeStarted: run_events.debuggee_started,
    ev.DebuggeeOutput: run_events.debuggee_output,
    ev.DebuggeeExited: run_events.debuggee_exited,
    ev.DebuggeeStopped: lambda state, _: holding.program_stopped(state),
    ev.DebuggeeFailed: run_events.debuggee_failed,
    ev.ChildPortOpened: child_sessions.port_opened,
    ev.ChildPortFailed: child_sessions.port_failed,
    ev.FilesChecked: local_files.checked,
    ev.NextPart: _next_part,
    ev.Tick: _tick,
    ev.Shutdown: lambda state, _: holding.end_run(state),
}
