"""The times at which labels are looked up."""

import asyncio

from raydap.cluster.dashboard.facts_polling import GATHER_S, MANY_WORKERS, MANY_WORKERS_DELAY_S, PAUSES_S, FactsPolling
from raydap.cluster.dashboard.polls import Polls
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.protocol.types import WorkerKey
from support import virtual_time


def asked_at(workers: int, at_once: bool) -> list[float]:
    """Return the seconds of all lookups after this many workers have stopped."""
    asked: list[float] = []

    async def ask(_: tuple[ProcessInfo, ...]) -> dict[WorkerKey, RayFacts]:
        asked.append(round(asyncio.get_running_loop().time(), 6))
        return {}

    stopped = tuple(ProcessInfo(WorkerKey(f"w{number}"), "10.0.0.7", 1) for number in range(workers))
    polling = FactsPolling(Polls(), ask, lambda event: None, at_once)
    virtual_time.run(polling.look_up(stopped))
    return asked


def test_each_worker_is_looked_up_several_times() -> None:
    first, second, third, fourth = asked_at(1, False)
    assert first == GATHER_S
    assert (round(second - first, 6), round(third - second, 6), round(fourth - third, 6)) == PAUSES_S


def test_many_workers_get_labels_when_they_are_attached_but_filters_do_not_wait() -> None:
    assert asked_at(MANY_WORKERS, False)[0] == GATHER_S
    assert asked_at(MANY_WORKERS + 1, False)[0] == round(GATHER_S + MANY_WORKERS_DELAY_S, 6)
    assert asked_at(MANY_WORKERS + 1, True)[0] == GATHER_S
