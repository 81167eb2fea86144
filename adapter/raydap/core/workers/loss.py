"""Reports of lost workers: in the middle of an attach, at a stop, or while they run.

The loss of a stopped worker is reported, unless the worker ended with its job. A running worker is reported only if it
crashed. The message waits a moment for Ray's reason. The end of a job is reported in one line, without its workers.
"""

from collections.abc import Iterable

from raydap.core.effects import AskExitReason, HangUp
from raydap.core.events import JobsEnded, WorkerGone, WorkersEnded
from raydap.core.model.processes import Loss
from raydap.core.model.run import Run
from raydap.core.model.state import State
from raydap.core.model.worker import AttachStage, ThreadState, Worker
from raydap.core.process_info import EndedWorker, RayFacts
from raydap.core.translate import names
from raydap.core.workers import prepared
from raydap.core.workers.attach import give_up
from raydap.core.workers.detach import forget
from raydap.errors import Code, Problem, sentence

STOPPED_WAIT_S = 3.0
"""Seconds for which the message about a stopped worker waits for Ray's reason, and for the end of its job."""
RUNNING_WAIT_S = 10.0
"""Seconds for which the message about a running worker waits for Ray's reason, and for the end of its job."""

_PROCESS_ENDED = "its process has ended"
"""The reason in messages until Ray has reported its own."""


def gone(state: State, worker: Worker, event: WorkerGone, ended: bool = False) -> None:
    """Handle the end of the connection to a worker, or a failure to connect.

    `ended`: the process is known to have ended, too.
    """
    where = f"{worker.row.host}:{worker.row.port}"
    if worker.leaving:
        forget(state, worker, "is gone")
    elif worker.row.agent:
        _prepared_gone(state, worker, event)
    elif worker.stage is AttachStage.ATTACHED:
        _attached_gone(state, worker, event.reason, ended)
    elif event.refused:
        text = f"Nothing listens on the debug port {where} of {worker}, because its debugger died."
        give_up(state, worker, Problem(Code.WORKER_REFUSED, text))
    elif worker.stage is AttachStage.DIALLING:
        text = f"{where} cannot be reached ({event.reason}); run raydap where it can, for example on the head node."
        give_up(state, worker, Problem(Code.WORKER_UNREACHABLE, text))
    else:
        text = f"The attach to {worker} was interrupted ({event.reason}): it has ended, or has another debugger."
        give_up(state, worker, Problem(Code.WORKER_BUSY, text))


def _prepared_gone(state: State, worker: Worker, event: WorkerGone) -> None:
    """Handle the end of the connection to an agent.

    A direct connection ends only with its process, because there is no adapter that could end alone. A connection over
    the relay may end alone, even during the attach. raydap finds the process again if it is alive.
    """
    has_begun = worker.stage is not AttachStage.DIALLING
    if worker.stage is AttachStage.ATTACHED or (has_begun and worker.row.over_relay):
        worker.run.processes.lose_agent(worker.key)
        reason = event.reason if worker.row.over_relay else _PROCESS_ENDED
        _attached_gone(state, worker, reason, ended=not worker.row.over_relay)
    elif event.refused:
        worker.run.processes.lose_agent(worker.key)
        forget(state, worker, "has ended")
    else:
        prepared.refused(state, worker, event)


def _attached_gone(state: State, worker: Worker, reason: str, ended: bool) -> None:
    of_ray = worker.row.worker_type in ("WORKER", "DRIVER")
    shown = [thread for thread in worker.threads.values() if thread.is_shown]
    stopped = any(thread.state is not ThreadState.RESUMING or not worker.can_end_unanswered for thread in shown)
    problem = _loss_message(worker, reason, ended) if stopped else f"The running {worker} is gone ({_PROCESS_ENDED})."
    until = state.now + (STOPPED_WAIT_S if stopped else RUNNING_WAIT_S)
    label = names.label(worker) if worker.facts != RayFacts() else ""
    certain = ended or not worker.row.over_relay
    if_ended = _loss_message(worker, _PROCESS_ENDED, ended=True) if stopped and not certain else ""
    loss = Loss(worker.key, label, worker.facts.job, problem, stopped, until, if_ended)
    worker.run.roster.end(worker.key, "")
    worker.run.processes.note_end(worker.key)
    if of_ray:
        state.emit(AskExitReason(worker.row))
    if of_ray and (ended or not stopped or if_ended):
        with worker.run.processes.changing(worker.key) as process:
            process.loss = loss
    elif stopped:
        _report(state, [loss])
    forget(state, worker, "is gone")


def _loss_message(worker: Worker, reason: str, ended: bool) -> str:
    """Return the message about a stopped worker that is lost.

    debugpy reports the end of its process, even if the process is killed. Without that report, the debugger has died,
    or the connection to it was lost. A worker without a debugger keeps running; a Ray worker then waits at its next
    `breakpoint()`.
    """
    if ended:
        return sentence(f"The stopped {worker} is gone ({reason}). The other workers are not affected.")
    text = f"The debugger of the stopped {worker} is lost ({reason}): the worker, if it is alive, is running again"
    if worker.row.agent:
        text += ", and raydap attaches to it again when it can"
    elif worker.row.worker_type in ("WORKER", "DRIVER"):
        text += " and can stop here again at its next breakpoint()"
    return sentence(f"{text}. The other workers are not affected.")


def workers_ended(state: State, event: WorkersEnded) -> None:
    """Report workers that crashed, in one message, because whole nodes may die.

    A worker that did not crash may have ended with its job, so its message still waits for the end of the job. A worker
    that crashed after the end of its job is not reported: threads of Ray sometimes crash while the process exits.
    """
    crashed: list[Loss] = []
    for ended in event.workers:
        loss = state.run.processes[ended.row.key].loss
        if loss is not None:
            first_sentence = " ".join(ended.reason.split()).partition(". ")[0].rstrip(".")
            loss.problem = (loss.if_ended or loss.problem).replace(_PROCESS_ENDED, first_sentence)
            if ended.crashed and not _outlived_job(state.run, loss, ended):
                crashed.append(loss)
    _report(state, crashed, "; ".join(ended.reason for ended in event.workers if ended.crashed))


def jobs_ended(state: State, event: JobsEnded) -> None:
    """Record the jobs that have ended, and print a line for each."""
    for job in event.jobs:
        state.run.ended_jobs[job.job] = job.ended_ms
        state.print_to_console(job.text)


def report_overdue(state: State) -> None:
    """Report the stopped workers that have waited long enough for a reason, unless their job has ended.

    Called at every Tick.
    """
    timed = list(state.run.processes.timed.values())
    due = [each.loss for each in timed if each.loss is not None and each.loss.until <= state.now]
    _forget(state.run, due)
    # A worker whose job is unknown counts as ended with any job that has ended.
    _report(state, [loss for loss in due if loss.stopped and not _has_ended_with_job(state.run, loss)])


def _forget(run: Run, losses: Iterable[Loss]) -> None:
    for loss in losses:
        with run.processes.changing(loss.key) as process:
            process.loss = None


def _outlived_job(run: Run, loss: Loss, worker: EndedWorker) -> bool:
    """Return whether the worker ended after its job, or after any job if its own is unknown."""
    ends = [run.ended_jobs.get(loss.job, 0)] if loss.job else run.ended_jobs.values()
    return any(0 < job_ended_ms <= worker.ended_ms for job_ended_ms in ends)


def _has_ended_with_job(run: Run, loss: Loss) -> bool:
    """Return whether the worker's job has ended, or any job if its own is unknown."""
    return loss.job in run.ended_jobs if loss.job else bool(run.ended_jobs)


def _report(state: State, losses: list[Loss], detail: str = "") -> None:
    """Report these losses in one message."""
    _forget(state.run, losses)
    if losses:
        for loss in losses:
            state.run.roster.end(loss.key, loss.problem)
        first, *others = (f"{loss.label}: {loss.problem}" if loss.label else loss.problem for loss in losses)
        more = f" {len(others)} more worker{'s are' if len(others) > 1 else ' is'} gone, too." if others else ""
        state.report(Problem(Code.WORKER_GONE, first + more, detail or "; ".join(others)))


def terminated(state: State, worker: Worker) -> None:
    """Close the connection to the adapter of a process that has ended, and report the loss.

    Never send `disconnect` here: it would sometimes end the adapter, which may also serve the process's parent.
    """
    state.emit(HangUp(worker.key))
    gone(state, worker, WorkerGone(worker.key, _PROCESS_ENDED), ended=True)
