"""Warns who is about to let only some workers run on that meet in collective operations: the others would keep them
waiting there until the collective times out, which ends the job."""

from collections.abc import Collection

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.flows import Flow
from raydap.core.model.barrier_wait import class_of
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, Worker
from raydap.core.sets import folding
from raydap.core.workers import worker_entries
from raydap.core.workers.replies import query
from raydap.inworker import calls

ANSWER_TIMEOUT_S = 1.0
"""Seconds for a worker to say whether it uses collectives. A stopped one takes a few ms."""

ASK_PAUSE_S = 10.0
"""Seconds for which the workers of a class are not asked again that use none."""


def warn(state: State, threads: Collection[Thread]) -> Flow[None]:
    """Called before these threads run on. The user is told once in a session."""
    run = state.run
    for of, first in {class_of(thread.worker): thread.worker for thread in threads}.items():
        if run.collectives_told or of is None or state.now < run.collectives_asked.get(of, float("-inf")) + ASK_PAUSE_S:
            continue
        resumed = {thread.worker for thread in threads if class_of(thread.worker) == of}
        stay = [worker for worker in _stopped(state) if class_of(worker) == of and worker not in resumed]
        if stay:
            run.collectives_asked[of] = state.now
            library = yield from _library(first)
            if library and not run.collectives_told:
                run.collectives_told = True
                _tell(state, resumed, stay, library)


def _stopped(state: State) -> list[Worker]:
    """The workers with a thread that is stopped, seen or at a barrier."""
    held = [thread for thread in state.stopped.values() if thread.is_held]
    waiting = [thread for wait in state.barriers for thread in wait.waiting]
    return list({thread.worker: None for thread in [*held, *waiting]})


def _library(worker: Worker) -> Flow[str]:
    """Like `torch.distributed`; "" if the worker is in no group of processes, or does not say so."""
    try:
        answer = yield from query(worker, calls.collectives(), ANSWER_TIMEOUT_S)
    except (ProblemError, calls.ResultError):
        return ""
    return answer if answer in calls.COLLECTIVES else ""


def _tell(state: State, resumed: Collection[Worker], stay: Collection[Worker], library: str) -> None:
    members = worker_entries.members(state)
    run, wait = (folding.label(members[each.key] for each in some if each.key in members) for some in (resumed, stay))
    text = (
        f"{run} would run on alone, while {wait} stay stopped. They use {library}: at a collective operation those "
        "that run wait for the others, until that times out and may end the job. To keep them together, step or "
        "continue all of them at once (/step, /continue), or set a barrier."
    )
    state.report(Problem(Code.COLLECTIVE, text))
