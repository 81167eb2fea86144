"""Prepared workers: those with an agent, which can be attached at any time, without a breakpoint() in their code.

Each of their processes calls when it begins, and waits; those that began before raydap are found. A worker is attached
before its first line if something could stop it there. Otherwise it runs on undebugged, at full speed, until somebody
sets a breakpoint or chooses the worker. It is let go when nothing can stop it any more.

Other nodes of the cluster are reached only when agents are expected there, because each costs an actor.
"""

from raydap.core.effects import ReachAgents, ReachNodes, ReleaseAgent
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
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, attach_decisions, selection, unprepared, worker_entries
from raydap.errors import Code, Problem, sentence


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
    _has_agent(state, row)
    with run.processes.changing(row.key) as process:
        process.retry = None
        if (event.waits or event.stops) and run.auto_attach and process.choice is None:
            # Its user has chosen it, whatever the filters say, or its breakpoint() stops it, whatever else could.
            process.choice = True
        if run.settings is not None:
            process.agent = row
    if row.key in state.attaching:
        # It was found before it called. It goes on when it has its breakpoints (detach.end_attach).
        state.workers[row.key].has_called = True
    elif not attach_decisions.examine(state, row.key, at_once=True):
        state.emit(ReleaseAgent(row.key))
        if event.waits:
            # It has no socket yet.
            with run.processes.changing(row.key) as process:
                process.agent = None


def found(state: State, event: AgentFound) -> None:
    run, row = state.run, event.worker
    if run.settings is not None:
        _has_agent(state, row)
        with run.processes.changing(row.key) as process:
            process.agent = row
        attach_decisions.examine(state, row.key)


def ended(state: State, event: AgentsEnded) -> None:
    """Forgets processes that are not attached. The connection to an attached process reports its end."""
    processes = state.run.processes
    for key, process in list(processes.prepared.items()):
        if process.agent is not None and process.agent.agent in event.sockets and key not in state.workers:
            processes.lose_agent(key)
            processes.detached(key)


def nodes_alive(state: State, event: NodesAlive) -> None:
    """Reaches the agents on other nodes of the cluster. Those of nodes that are gone have ended."""
    run = state.run
    if run.settings is not None and run.settings.reach != "paused":
        for key, process in list(run.processes.prepared.items()):
            row = process.agent
            if row is not None and row.over_relay and row.node_id not in event.nodes:
                run.processes.lose_agent(key)
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
    _expect_agents(state, f"process {row.pid} has one")
    processes = state.run.processes
    if processes[row.key].injection is not None:
        with processes.changing(row.key) as process:
            process.injection = None
            if process.alive is not None:
                process.problem = ""
                process.label = process.label if process.known == WorkerLabel() else process.known


def attach_needed(state: State) -> None:
    """Attaches to the prepared workers after a change of what can stop them, or of what the user has chosen. Others get
    an agent first, if the user wants that."""
    if state.run.configured:
        attach_decisions.examine_prepared(state)
        unprepared.inject_needed(state)


def refused(state: State, worker: Worker, event: WorkerGone) -> None:
    """A worker cannot be debugged. All that have the same reason, such as another raydap, are one sentence."""
    text = sentence(
        f"{worker} cannot be debugged ({event.reason}); it runs on without raydap, which tries again later."
    )
    problem = Problem(Code.WORKER_BUSY, text)
    is_known = event.reason in worker.run.refusals
    worker.run.refusals.add(event.reason)
    attach.note_failure(state, worker, problem, is_known)


def let_go_idle(state: State) -> None:
    """Lets workers go that nothing can stop any more. Called at every Tick."""
    run = state.run
    if run.configured and not run.breakpoints.can_stop:
        for worker in list(state.workers.values()):
            if worker.is_attached and worker.row.agent and worker.run is run and _is_idle(state, worker):
                selection.detach_worker(state, worker.key)


def _is_idle(state: State, worker: Worker) -> bool:
    """Whether the user neither looks at a thread of it nor wants it to be attached or to pause."""
    threads = worker.threads.values()
    is_needed = worker.key in state.pauses or attach_decisions.is_needed(worker.run, worker.row)
    return not is_needed and not any(thread.is_shown or thread.stepping for thread in threads)
