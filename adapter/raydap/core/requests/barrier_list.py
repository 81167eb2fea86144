"""The request `raydap/barriers`: list, show or release the workers that wait at barriers (docs/requests.md)."""

from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.workers import barrier_progress
from raydap.core.workers.barriers import release, show
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.raydap_messages import Barriers, BarriersArguments

_ACTIONS = {"show": show, "release": release}


def barriers(state: State, _: Request, arguments: BarriersArguments) -> Barriers:
    """Carry out the action, if there is one, and return the barriers at which workers still wait.

    Without the argument `barrier`, the action applies to all barriers. Raises ProblemError (STALE_ID) if that barrier
    no longer exists.
    """
    if arguments.barrier is not None and arguments.barrier not in state.barriers:
        text = f"Barrier {arguments.barrier} no longer exists; raydap/barriers lists the current barriers."
        raise ProblemError(Problem(Code.STALE_ID, text))
    if arguments.action is not None:
        for wait in [each for each in state.barriers.values() if arguments.barrier in (None, each.id)]:
            _ACTIONS[arguments.action](state, wait)
    shown = [wait for wait in state.barriers.values() if wait.waiting]
    return Barriers(barriers=tuple(barrier_progress.describe(state, wait) for wait in shown))
