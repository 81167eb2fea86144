"""Prepared workers have an agent and can be attached at any time, without a breakpoint() in their code.

Each such process calls raydap when it begins, and waits for an answer; raydap finds the processes that began earlier. A
worker is attached before its first line if something could stop it there. Otherwise it runs at full speed without a
debugger, until the user sets a breakpoint or chooses the worker. It is detached when nothing can stop it any more.

raydap reaches other nodes of the cluster only when agents are expected there, because each node costs an actor.
"""

from raydap.core.effects import ReachAgents, ReachNodes
from raydap.core.events import (
    AgentCalled,
    AgentFound,
    AgentsEnded,
    AgentsExpected,
    AgentsSearched,
    NodesAlive,
    WorkerGone,
)
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.core.workers import attach, attach_decisions, reloading, selection, unprepared, worker_entries
from raydap.errors import Code, Problem, sentence


def reach(state: State, effect: ReachAgents | ReachNodes) -> None:
    """Find the agents in the places that `effect` names, and accept the calls of new ones."""
    state.run.agents_searched = False
    state.emit(effect)


def searched(state: State, _: AgentsSearched) -> None:
    """Record that raydap has searched for agents everywhere, which may complete the list of workers."""
    state.run.agents_searched = True
    worker_entries.send_complete(state)


def called(state: State, event: AgentCalled) -> None:
    """Handle the call of a process that waits for raydap: attach to it, or release it."""
    row, run = event.worker, state.run
    if event.waits and not run.started.done and run.settings is not None and run.program is None:
        # This program may start the very cluster that raydap waits for, so do not wait. The program calls again when
        # the client has set its breakpoints.
        run.awaits_cluster = True
        run.started.set_result(None)
    _has_agent(state, row)
    with run.processes.changing(row.key) as process:
        process.retry = None
        if (event.waits or event.stops) and run.auto_attach and process.choice is None:
            # The filters do not matter: the user has chosen this program (`waits`), or its breakpoint() stops it.
            process.choice = True
        if run.settings is not None:
            process.agent = row
    if row.key in state.attaching:
        # It was found before it called. It is released when it has its breakpoints (detach.end_attach).
        state.workers[row.key].has_called = True
    elif not attach_decisions.examine(state, row.key, at_once=True):
        reloading.release(state, row.key)
        if event.waits:
            # A process that calls repeatedly has no socket yet.
            with run.processes.changing(row.key) as process:
                process.agent = None


def found(state: State, event: AgentFound) -> None:
    """Record an agent that raydap has found, and decide whether to attach to its process."""
    run, row = state.run, event.worker
    if run.settings is not None:
        _has_agent(state, row)
        with run.processes.changing(row.key) as process:
            process.agent = row
        attach_decisions.examine(state, row.key)


def ended(state: State, event: AgentsEnded) -> None:
    """Forget processes that have ended and are not attached.

    If an attached process ends, its connection reports that.
    """
    processes = state.run.processes
    for key, process in list(processes.prepared.items()):
        row = process.agent
        is_here = row is not None and row.agent in event.sockets and not row.over_relay
        if is_here and key not in state.workers:
            processes.lose_agent(key)
            processes.detached(key)


def nodes_alive(state: State, event: NodesAlive) -> None:
    """Update the nodes of the cluster, and reach the agents on them if agents are expected there.

    The agents of nodes that are gone have ended.
    """
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
    """Reach the other nodes from now on, because they have agents or will have some soon."""
    _expect_agents(state, event.reason)


def _expect_agents(state: State, reason: str) -> None:
    """Reach the other nodes from now on; `reason` is logged.

    One agent is enough as a reason: a prepared program seldom comes alone.
    """
    run = state.run
    if run.settings is None or run.agents_expected:
        return
    reached = _reaches_nodes(state, run.settings)
    run.agents_expected = True
    if run.nodes and not reached:
        state.log("info", f"searching all nodes of the cluster for agents: {reason}")
        reach(state, ReachNodes(run.nodes))


def _reaches_nodes(state: State, settings: AttachSettings) -> bool:
    """Return whether raydap reaches agents on other nodes.

    It does so if other nodes have agents, or will have some. With `--relay always` raydap searches for no agents on its
    own node, so it could not notice that agents exist.
    """
    run = state.run
    always = state.hub is not None and state.hub.relay == "always"
    return run.agents_expected or run.program is not None or settings.reach == "any" or always


def _has_agent(state: State, row: ProcessInfo) -> None:
    """Record that a process has an agent.

    If raydap has started this agent in a running worker, it already knows what the worker runs.
    """
    _expect_agents(state, f"process {row.pid} has one")
    processes = state.run.processes
    if processes[row.key].injection is not None:
        with processes.changing(row.key) as process:
            process.injection = None
            if process.alive is not None:
                process.problem = ""
                process.facts = process.facts if process.known == RayFacts() else process.known


def attach_needed(state: State) -> None:
    """Attach to the prepared workers that need it now, and start agents in other workers if the user wants that.

    Called after a change of what can stop workers, or of what the user has chosen.
    """
    if state.run.configured:
        attach_decisions.examine_prepared(state)
        unprepared.inject_needed(state)


def refused(state: State, worker: Worker, event: WorkerGone) -> None:
    """Report that a worker cannot be debugged, unless another worker had the same reason, such as another raydap."""
    text = sentence(f"{worker} cannot be debugged ({event.reason}). It keeps running, and raydap tries again later.")
    problem = Problem(Code.WORKER_BUSY, text)
    is_known = event.reason in worker.run.refusals
    worker.run.refusals.add(event.reason)
    attach.note_failure(state, worker, problem, is_known)


def detach_idle(state: State) -> None:
    """Detach workers that nothing can stop any more.

    Called at every Tick.
    """
    run = state.run
    if run.configured and not run.can_stop:
        for worker in list(state.workers.values()):
            if worker.is_attached and worker.row.agent and worker.run is run and _is_idle(state, worker):
                selection.detach_worker(state, worker.key)


def _is_idle(state: State, worker: Worker) -> bool:
    """Return whether the user neither looks at a thread of the worker nor wants the worker attached or paused."""
    threads = worker.threads.values()
    is_needed = worker.key in state.pauses or attach_decisions.is_needed(worker.run, worker.row)
    steps = [thread for step in state.remote_steps.values() for thread in (step.caller, step.callee) if thread]
    is_needed = is_needed or any(thread.worker is worker for thread in steps)
    return not is_needed and not any(thread.is_shown or thread.stepping for thread in threads)
