"""Events of a run: from discovery, about jobs, and about the launched program."""

from raydap.core.effects import ReachAgents
from raydap.core.events import (
    DebuggeeExited,
    DebuggeeFailed,
    DebuggeeOutput,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
    JobsListed,
)
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.workers import holding, prepared, program_input, worker_entries
from raydap.errors import SWITCHED_OFF, Code, Problem, ProblemError
from raydap.presentation.numbers import counted
from raydap.protocol import messages

_JOBS_SHOWN = 3


def discovery_ready(state: State, event: DiscoveryReady) -> None:
    """Record the cluster that discovery has reached, and report the end of an outage."""
    run = state.run
    run.where = event.where
    run.awaits_cluster = False
    run.sockets = event.sockets
    if event.sockets and _in_session(run):
        prepared.reach(state, ReachAgents(event.sockets))
    if run.outage:
        run.outage = ""
        worker_entries.send(state, [])
        state.print_to_console(f"{event.where} answers again.")
    if run.program is None:
        run.started.set_result(None)


def jobs_listed(state: State, event: JobsListed) -> None:
    """Record the jobs that run, and send the summary to the clients that are ready.

    The other clients receive it when they are ready.
    """
    state.run.jobs = event.running
    body: messages.OutputEventBody = {"category": "console", "output": f"{summary(state)}\n"}
    state.broadcast("output", body)


def summary(state: State) -> str:
    """Return the first line that the user of a client reads: the cluster, its jobs, and the paused workers.

    A search that finds no paused worker must not look the same as one that finds some.
    """
    run = state.run
    jobs = run.jobs or ()
    shown = ", ".join(jobs[:_JOBS_SHOWN]) + (f" and {len(jobs) - _JOBS_SHOWN} more" if len(jobs) > _JOBS_SHOWN else "")
    running = f"jobs: {shown}" if jobs else "no running jobs"
    attached = sum(not worker.leaving and not worker.row.agent for worker in state.workers.values())
    found = len(run.processes.candidates()) + attached
    if found == 0:
        only_paused = run.settings is not None and run.settings.reach == "paused"
        stops = "calls breakpoint()" if only_paused else "stops"
        paused = f"No worker is paused yet. raydap shows each worker that {stops}."
    elif run.auto_attach:
        paused = f"Attaching to {counted(found, 'paused worker')}, and to every worker that pauses later."
    else:
        paused = f"Found {counted(found, 'paused worker')}. Choose the workers to attach to."
    where = f"Connected to the Ray cluster at {run.where} ({running})."
    return f"{where} {paused} Breakpoints apply to {_reached(run)}."


def _in_session(run: Run) -> bool:
    """Return whether the prepared processes are in the folder of Ray's session.

    A launched program that is not submitted has a folder of its own.
    """
    reaches = run.settings is not None and run.settings.reach != "paused"
    return reaches and (run.program is None or run.program.submit)


def _reached(run: Run) -> str:
    if run.settings is None or run.settings.reach == "paused" or (_in_session(run) and not run.sockets):
        return "attached workers"
    if run.settings.reach == "any" and run.program is None:
        return "all workers that raydap can reach"
    return "attached and prepared workers" if run.program is None else "the program and its workers"


def discovery_failed(state: State, event: DiscoveryFailed) -> None:
    """Fail the attach at the first contact; later, report an outage, while discovery tries again."""
    run = state.run
    if run.program is None and not run.started.done:
        _fail_start(state, event.problem)
    elif run.awaits_cluster and event.problem.code is Code.NO_CLUSTER:
        state.log("info", str(event.problem))
    elif not run.outage:
        run.outage = str(event.problem)
        worker_entries.send(state, [])
        note = _without_cluster(state, event.problem)
        if note:
            state.log("info", str(event.problem))
            state.print_to_console(note)
        else:
            state.report(event.problem)


def _without_cluster(state: State, problem: Problem) -> str:
    """Return a note to report instead of the problem if the launched program has no cluster; otherwise "".

    The program may have ended its cluster, or it has not joined one yet.
    """
    run = state.run
    if (
        run.program is None
        or run.program.submit
        or any(each.row.worker_type == "WORKER" for each in state.workers.values())
    ):
        return ""
    if run.where and problem.code in (Code.NO_CLUSTER, Code.DASHBOARD_UNREACHABLE):
        return "The program's Ray cluster has ended or does not answer. raydap reconnects as soon as one is available."
    if not run.where and problem.code is Code.NO_CLUSTER:
        return (
            "The program has neither joined nor started a Ray cluster yet. raydap connects as soon as one is available."
        )
    return ""


def debuggee_started(state: State, event: DebuggeeStarted) -> None:
    """Answer the requests that wait for the launched program, and send the event `process` to all clients."""
    state.run.started.set_result(None)
    body: messages.ProcessEventBody = {"name": event.name, "startMethod": "launch", "isLocalProcess": event.pid != 0}
    if event.pid:
        body["systemProcessId"] = event.pid
    state.broadcast("process", body)
    if event.off:
        state.report(Problem(Code.NO_AGENT, f"{event.name}: {SWITCHED_OFF}"))
    program_input.explain_console(state)


def debuggee_output(state: State, event: DebuggeeOutput) -> None:
    """Forward output of the launched program to all clients."""
    body: messages.OutputEventBody = {"category": event.category, "output": event.text}
    state.broadcast("output", body)
    if event.category == "stderr":
        program_input.take_error_output(state, event.text)


def debuggee_exited(state: State, event: DebuggeeExited) -> None:
    """Report the exit code of the launched program, and end the sessions of all clients."""
    state.run.program_ended = True
    program = state.run.program
    if program is not None:
        state.print_to_console(f"{program.program or program.module} has ended with exit code {event.code}.")
    state.broadcast("exited", {"exitCode": event.code})
    state.broadcast("terminated", {})
    if state.run.holding is not None:
        holding.end_run(state)


def debuggee_failed(state: State, event: DebuggeeFailed) -> None:
    """Fail the launch, because the program cannot be started.

    A restart has been answered already, so after it the session ends.
    """
    if state.run.started.done:
        state.run.program_ended = True
        state.report(event.problem)
        state.broadcast("terminated", {})
    else:
        _fail_start(state, event.problem)


def _fail_start(state: State, problem: Problem) -> None:
    """Fail the requests that wait for the start, and end the run without the event `terminated`."""
    state.log("warning", f"{problem} {problem.detail}".rstrip())
    state.run.started.set_exception(ProblemError(problem))
    for client in state.clients.values():
        client.leave_run()
    holding.end_run(state)
