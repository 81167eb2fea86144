"""A warning for resuming only some of the workers that meet in collective operations.

At the next collective operation, the resumed workers would wait for the stopped ones until the operation times out,
which ends the job.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from raydap.analysis.sets import folding
from raydap.core.flows import Flow
from raydap.core.model.barrier_wait import class_of
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.workers import worker_entries
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls

ANSWER_TIMEOUT_S = 1.0
"""Seconds for a worker to report whether it uses collectives. A stopped worker takes a few milliseconds."""

ASK_PAUSE_S = 10.0
"""Seconds until a class of workers without collectives is queried again."""


def warn(
    state: State,
    threads: Collection[WorkerThread],
    narrow: Callable[[Collection[WorkerThread]], Flow[Collection[WorkerThread]]] | None = None,
) -> Flow[None]:
    """Warn the user, once in a session, if some workers of a class would stay stopped when these threads are resumed.

    Called before the threads are resumed. If `narrow` is given, only the threads that it returns will be resumed. It
    queries the workers, so it is called only if the class uses collectives.
    """
    run = state.run
    for of, first in {class_of(thread.worker): thread.worker for thread in threads}.items():
        if (
            run.collectives_warned
            or of is None
            or state.now < run.collectives_asked.get(of, float("-inf")) + ASK_PAUSE_S
        ):
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
        if stay and resumed and not run.collectives_warned:
            run.collectives_warned = True
            _warn(state, {thread.worker for thread in resumed}, stay, library)


def _staying(state: State, resumed: Collection[WorkerThread]) -> Iterator[Worker]:
    """Yield the workers of the same classes that would stay stopped.

    A worker with several stopped threads is yielded several times.
    """
    workers = {thread.worker for thread in resumed}
    classes = {class_of(worker) for worker in workers}
    held = (thread for thread in state.stopped.values() if thread.is_held)
    waiting = (thread for wait in state.barriers.values() for thread in wait.waiting)
    for thread in chain(held, waiting):
        if thread.worker not in workers and class_of(thread.worker) in classes:
            yield thread.worker


def _library(worker: Worker) -> Flow[str]:
    """Return the library of the worker's collective operations, such as `torch.distributed`.

    The result is "" if the worker is in no process group, or does not answer.
    """
    try:
        answer = yield from query(worker, calls.collectives(), ANSWER_TIMEOUT_S)
    except (ProblemError, calls.ResultError):
        return ""
    return answer if answer in calls.COLLECTIVES else ""


def _warn(state: State, resumed: Collection[Worker], stay: Collection[Worker], library: str) -> None:
    members = worker_entries.members(state)
    run, wait = (
        folding.group_name(members[each.key] for each in some if each.key in members) for some in (resumed, stay)
    )
    text = (
        f"You are resuming only {run}, while {wait} stay stopped. They use {library}: at a collective operation the "
        "running workers wait for the stopped ones, until it times out, which may end the job. To keep them together, "
        "step or continue all of them at once (/step, /continue), or set a barrier."
    )
    state.report(Problem(Code.COLLECTIVE, text))
