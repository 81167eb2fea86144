"""The ranks that programs give their workers: in torch.distributed, or as RANK in the environment."""

from collections.abc import Iterable

from raydap.core.flows import Flow
from raydap.core.model.client import Client
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.process_info import rank_of
from raydap.core.workers import renaming
from raydap.core.workers.replies import query
from raydap.inworker import calls

TIMEOUT_S = 5.0
"""Seconds for a worker to answer which rank it has."""


def ask_stopped(state: State, worker: Worker) -> None:
    """Ask an actor for its rank when it has stopped, if its name contains its rank."""
    ranks = worker.run.ranks
    is_shown = worker.is_attached and any(thread.is_shown for thread in worker.threads.values())
    has_rank_in_name = worker.parent is None and worker.facts.actor != "" and ranks.is_numbered(worker.facts)
    if is_shown and has_rank_in_name and ranks.may_ask(worker.key, state.now):
        state.start(_learn(state, worker))


def ask(state: State, client: Client, workers: Iterable[Worker]) -> Flow[None]:
    """Ask attached workers for their ranks, if they have not answered in the last seconds."""
    asked = [each for each in workers if each.is_attached and _may_ask(each, state.now)]
    yield from state.parts.gather({worker.key: _learn(state, worker) for worker in asked}, client)


def _may_ask(worker: Worker, now: float) -> bool:
    """Return whether to ask a worker on behalf of a client.

    A worker that has not answered yet is asked again, because the client waits for that answer, too.
    """
    ranks = worker.run.ranks
    return worker.key in ranks.asking or ranks.may_ask(worker.key, now)


def _learn(state: State, worker: Worker) -> Flow[None]:
    ranks = worker.run.ranks
    ranks.asking.add(worker.key)
    try:
        answer = yield from query(worker, calls.own_rank(), TIMEOUT_S)
    except calls.ResultError:
        return
    finally:
        ranks.asking.discard(worker.key)
    rank = rank_of(answer) if isinstance(answer, str) else None
    if rank is not None:
        ranks.own[worker.key] = rank
        renaming.renamed(state, worker.key)
