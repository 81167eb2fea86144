"""The source for workers at given addresses."""

import asyncio

from raydap.cluster.source import FixedAddresses
from raydap.core.events import DiscoveryReady, Event, WorkersAlive, WorkersPaused
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey


def workers(*addresses: str) -> tuple[ProcessInfo, ...]:
    """Run the source to its end with all questions that it can get; return the workers that it reports."""
    events: list[Event] = []

    async def main() -> None:
        source = FixedAddresses(addresses, events.append)
        await source.run()
        source.note_user_activity()
        ready, paused = events
        assert ready == DiscoveryReady("the given workers")
        assert isinstance(paused, WorkersPaused)
        await source.look_up_facts(paused.workers)
        await source.look_up_exit_reason(paused.workers[0])
        assert await source.cluster_access() is None
        assert events == [ready, paused], "nothing is known of them"
        await source.watch_alive()
        assert events.pop() == WorkersAlive({}), "there are no others"

    asyncio.run(main())
    assert isinstance(events[1], WorkersPaused)
    return events[1].workers


def test_each_address_is_reported_once_in_order() -> None:
    assert workers("b:2", "a:1", "b:2") == (
        ProcessInfo(WorkerKey("b:2"), "b", 2, node="b", worker_type="TARGET"),
        ProcessInfo(WorkerKey("a:1"), "a", 1, node="a", worker_type="TARGET"),
    )


def test_ipv6_brackets_are_not_part_of_the_host() -> None:
    (worker,) = workers("[::1]:5678")
    assert (worker.key, worker.host, worker.port) == ("[::1]:5678", "::1", 5678)
