"""Prepared workers: those with an agent, which can be attached at any time, without a breakpoint() in their code.

Each of their processes calls when it begins, and waits; those that began before raydap are found. A worker is attached
before its first line if something could stop it there. Otherwise it runs on undebugged, at full speed, until somebody
sets a breakpoint or chooses the worker. It is let go when nothing can stop it any more.

Other nodes of the cluster are reached only when agents are expected there, because each costs an actor.
"""

from raydap.core.effects import ReachAgents, ReachNodes, ReleaseAgent
from raydap.core.errors import Code, Problem, sentence
from raydap.core.events import (
    AgentCalled,
    AgentFound,
    AgentsEnded,
    AgentsExpected,
    AgentsSearched,
    NodesAlive,
    PausedWorker,
    WorkerGone,
    WorkerLabel,
)
from raydap.core.model import retry
from raydap.core.model.retry import Retry
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, detach, selection, unprepared, worker_entries

BUSY_DELAY_S = 1.0
"""Seconds until raydap tries again to attach to a worker that it is just leaving."""


def reach(state: State, effect: ReachAgents | ReachNodes) -> None:
    """Looks for agents there, and takes the calls of those that begin."""
    state.run.agents_searched = False
    state.emit(effect)


def searched(state: State, _: AgentsSearched) -> None:
    state.run.agents_searched = True
    worker_entries.tell_complete(state)


def called(state: State, event: AgentCalled) -> None:
    row, run = event.worker, state.run
    if event.waits and not run.started.done and run.settings is not None and run.program is None:
        # It may start the very cluster that is looked for. It calls again when the client has set its breakpoints.
        run.awaits_cluster = True
        run.started.set_result(None)
    run.retries.pop(row.key, None)
    _has_agent(state, row)
    if (event.waits or event.stops) and run.auto_attach:
        # Its user has chosen it, whatever the filters say, or its breakpoint() stops it, whatever else could.
        run.choices.setdefault(row.key, True)
    if not event.waits and run.settings is not None:  # A process that waits has no socket yet.
        run.prepared[row.key] = row
    if row.key in state.attaching:
        # It was found before it called. It goes on when it has its breakpoints (detach.end_attach).
        state.workers[row.key].has_called = True
        return
    if not run.configured or not _attach_if_needed(state, row, at_once=True):
        state.emit(ReleaseAgent(row.key))


def found(state: State, event: AgentFound) -> None:
    if state.run.settings is not None:
        _has_agent(state, event.worker)
        state.run.prepared[event.worker.key] = event.worker
        if state.run.configured:
            _attach_if_needed(state, event.worker)


def ended(state: State, event: AgentsEnded) -> None:
    """Forgets processes that are not attached. The connection to an attached process reports its end."""
    run = state.run
    for key, row in list(run.prepared.items()):
        if row.agent in event.sockets and key not in state.workers:
            del run.prepared[key]
            run.retries.pop(key, None)
            run.paused.forget_label(key)
            if row.worker_type == "CHILD":
                run.choices.pop(key, None)


def nodes_alive(state: State, event: NodesAlive) -> None:
    """Reaches the agents on other nodes of the cluster. Those of nodes that are gone have ended."""
    run = state.run
    if run.settings is not None and run.settings.reach != "paused":
        for key, row in list(run.prepared.items()):
            if row.over_relay and row.node_id not in event.nodes:
                del run.prepared[key]
        run.nodes = event.nodes
        if _reaches_nodes(state, run.settings):
            reach(state, ReachNodes(event.nodes))


def agents_expected(state: State, event: AgentsExpected) -> None:
    _expect_agents(state, event.reason)


def _expect_agents(state: State, reason: str) -> None:
    """Reaches the other nodes from now on: a prepared program seldom comes alone."""
    run = state.run
    if run.settings is None or run.agents_expected:
        return
    reached = _reaches_nodes(state, run.settings)
    run.agents_expected = True
    if run.nodes and not reached:
        state.log("info", f"raydap looks for agents on all nodes of the cluster: {reason}")
        reach(state, ReachNodes(run.nodes))


def _reaches_nodes(state: State, settings: AttachSettings) -> bool:
    """Whether other nodes have agents, or will have them. With `--relay always` raydap looks for none on its own node,
    so it could not know."""
    run = state.run
    always = state.hub is not None and state.hub.relay == "always"
    return run.agents_expected or run.program is not None or settings.reach == "any" or always


def _has_agent(state: State, row: PausedWorker) -> None:
    """It may have got its agent from this raydap, which knows already what it runs."""
    run = state.run
    _expect_agents(state, f"process {row.pid} has one")
    if run.injections.pop(row.key, None) is not None and row.key in run.alive.workers:
        run.alive.drop_problem(row.key)
        label = run.alive.workers[row.key].label
        if label != WorkerLabel():
            run.paused.set_label(row.key, label)


def attach_needed(state: State) -> None:
    """Attaches to the prepared workers after a change of what can stop them, or of what the user has chosen. Others get
    an agent first, if the user wants that."""
    if state.run.configured:
        for row in list(state.run.prepared.values()):
            _attach_if_needed(state, row)
        unprepared.inject_needed(state)


def attach_queued(state: State) -> None:
    """Attach to queued workers. Called after every event, so a process that has ended delays no other."""
    run = state.run
    if not run.configured or run.settings is None:
        return
    while (key := run.queue.take(not selection.may_have_more(state, run.settings), state.attaching)) is not None:
        if key in run.prepared:
            _attach_if_needed(state, run.prepared[key])


def refused(state: State, worker: Worker, event: WorkerGone) -> None:
    """A worker cannot be debugged. All that have the same reason, such as another raydap, are one sentence."""
    run = worker.run
    text = sentence(
        f"{worker} cannot be debugged ({event.reason}); it runs on without raydap, which tries again later."
    )
    problem = Problem(Code.WORKER_BUSY, text)
    run.alive.set_problem(worker.key, str(problem))
    if event.reason in run.refusals:
        state.log("info", str(problem))
    else:
        run.refusals.add(event.reason)
        state.report(problem)
    run.retries[worker.key] = retry.after(run.retries.get(worker.key), state.now)
    detach.hang_up(state, worker)


def examine_again(state: State) -> None:
    """Tries again where another debugger may have left, and lets go what nothing can stop. Called at every Tick."""
    run = state.run
    for key in [key for key, again in run.retries.items() if again.at <= state.now]:
        if key in run.prepared:
            _attach_if_needed(state, run.prepared[key])
        else:
            del run.retries[key]
    if run.configured and not run.breakpoints.can_stop:
        for worker in list(state.workers.values()):
            if worker.is_attached and worker.row.agent and worker.run is run and _is_idle(state, worker):
                selection.detach_worker(state, worker.key)


def _is_idle(state: State, worker: Worker) -> bool:
    """Whether the user neither looks at a thread of it nor wants it to be attached or to pause."""
    threads = worker.threads.values()
    is_needed = worker.key in state.pauses or _is_needed(worker.run, worker.row)
    return not is_needed and not any(thread.is_shown or thread.stepping for thread in threads)


def _attach_if_needed(state: State, row: PausedWorker, at_once: bool = False) -> bool:
    """`at_once`: the process waits for it, and would miss its breakpoints later."""
    run = state.run
    current, again = state.workers.get(row.key), run.retries.get(row.key)
    if current is not None:
        if current.leaving:
            run.retries.setdefault(row.key, Retry(state.now + BUSY_DELAY_S, BUSY_DELAY_S))
        return False
    chosen = run.choices.get(row.key) is True
    if (again is not None and state.now < again.at and not chosen) or not _is_needed(run, row):
        return False
    if not selection.has_room(state, row):
        run.queue.without_room[row.key] = None
        return False
    if not selection.may_attach(state, row):
        if run.auto_attach:
            # It may run something else later.
            run.retries[row.key] = retry.after(None, state.now)
        return False
    if not at_once and not state.attaching.has_room(row.node):
        run.queue.await_node(row.key, row.node, chosen)
        return False
    _attach(state, row)
    return True


def _attach(state: State, row: PausedWorker) -> None:
    run = state.run
    assert run.settings is not None
    loss = run.losses.pop(row.key, None)
    if loss is not None and loss.stopped:
        # Only the connection was lost, and with it the stop.
        state.report(Problem(Code.WORKER_GONE, f"{loss.label}: {loss.problem}" if loss.label else loss.problem))
    worker = Worker(state, run, row, run.settings, state.workers.get(row.parent))
    if row.worker_type == "CHILD":
        parent = selection.origin(run, row)
        run.note_child(parent.key, row.key)
        if parent is not row and parent.key not in state.workers and parent.key not in run.paused.labels:
            selection.ask_labels(state, [parent])
    worker.label = run.paused.labels.get(row.key, worker.label)
    attach.begin(state, worker)


def _is_needed(run: Run, row: PausedWorker) -> bool:
    """The driver that raydap has launched is debugged like any launched program."""
    launched = run.program is not None and row.worker_type == "DRIVER"
    return launched or run.breakpoints.can_stop or run.choices.get(row.key) is True
