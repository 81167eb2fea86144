"""Warns who is about to let only some workers run on that meet in collective operations: the others would keep them
waiting there until the collective times out, which ends the job."""

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from raydap.analysis.sets import folding
from raydap.core.flows import Flow
from raydap.core.model.barrier_wait import class_of
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, Worker
from raydap.core.workers import worker_entries
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls

ANSWER_TIMEOUT_S = 1.0
"""Seconds for a worker to say whether it uses collectives. A stopped one takes a few ms."""

ASK_PAUSE_S = 10.0
"""Seconds for which the workers of a class are not asked again that use none."""


def warn(
    state: State,
    threads: Collection[Thread],
    narrow: Callable[[Collection[Thread]], Flow[Collection[Thread]]] | None = None,
) -> Flow[None]:
    """Called before these threads run on, or those of them that `narrow` gives. It asks the workers, so it is called
    only for workers that use collectives. The user is told once in a session."""
    run = state.run
    for of, first in {class_of(thread.worker): thread.worker for thread in threads}.items():
        if run.collectives_told or of is None or state.now < run.collectives_asked.get(of, float("-inf")) + ASK_PAUSE_S:
            continue
        resumed = [thread for thread in threads if class_of(thread.worker) == of]
        if narrow is None and next(_staying(state, resumed), None) is None:
            continue
        library = yield from _library(first)
        if not library:
            run.collectives_asked[of] = state.now
            continue
        if narrow is not None:
            resumed = [*(yield from narrow(resumed))]
        stay = dict.fromkeys(_staying(state, resumed))
        if stay and resumed and not run.collectives_told:
            run.collectives_told = True
            _tell(state, {thread.worker for thread in resumed}, stay, library)


def _staying(state: State, resumed: Collection[Thread]) -> Iterator[Worker]:
    """Yield the stopped workers of the same classes that have none of these threads. A worker with several stopped
    threads comes several times."""
    workers = {thread.worker for thread in resumed}
    classes = {class_of(worker) for worker in workers}
    held = (thread for thread in state.stopped.values() if thread.is_held)
    waiting = (thread for wait in state.barriers.values() for thread in wait.waiting)
    for thread in chain(held, waiting):
        if thread.worker not in workers and class_of(thread.worker) in classes:
            yield thread.worker


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
