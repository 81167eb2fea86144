"""The stopped threads of a session, according to its events."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from raydap.client.dap_connection import SessionError
from raydap.terminal.debugger.stopped_threads import StoppedThreads, ThreadStop


def stopped(threads: StoppedThreads, thread: int, **more: object) -> None:
    assert threads.take_event("stopped", {"threadId": thread, "reason": "step", **more})


def test_stops_are_counted_and_forgotten() -> None:
    threads = StoppedThreads()
    stopped(threads, 7, description=None, text="KeyError", hitBreakpointIds=[3, 4])
    stopped(threads, 8)
    stop = ThreadStop(7, 1, "step", "", "KeyError", (3, 4))
    assert threads.stops == threads.unseen == {7: stop, 8: ThreadStop(8, 2, "step", "", "", ())}
    assert threads.take_event("continued", {"threadId": 7})
    assert list(threads.stops) == list(threads.unseen) == [8]
    assert [threads.number(thread) for thread in (7, 8, 9)] == [1, 2, 0]
    assert threads.take_event("thread", {"threadId": 8, "reason": "exited"})
    assert (threads.stops, threads.has_ended(8), threads.has_ended(7)) == ({}, True, False)
    stopped(threads, 8)
    assert not threads.has_ended(8)


def test_other_events_are_none_of_its_business() -> None:
    threads = StoppedThreads()
    assert not threads.take_event("output", {"output": "x"})
    assert not threads.take_event("thread", {"threadId": 8, "reason": "started"})
    # An event of a thread that was never stopped has no effect.
    assert threads.take_event("continued", {"threadId": 8})
    assert threads.stops == {}


def test_missing_threads() -> None:
    threads = StoppedThreads()
    for thread in (1, 2, 3):
        stopped(threads, thread)
    before = {thread: threads.number(thread) for thread in (1, 2, 3)}
    assert threads.missing(before) == {1, 2, 3}
    threads.take_event("continued", {"threadId": 1})
    stopped(threads, 1)
    threads.take_event("thread", {"threadId": 2, "reason": "exited"})
    assert threads.missing(before) == {3}


def run(work: Callable[[StoppedThreads], Awaitable[None]]) -> None:
    async def begin() -> None:
        await work(StoppedThreads())

    asyncio.run(begin())


def test_waiting_for_the_next_stop() -> None:
    async def work(threads: StoppedThreads) -> None:
        stopped(threads, 1)
        stopped(threads, 2)
        threads.unseen.clear()
        order: list[str] = []

        async def move() -> None:
            order.append("move")
            assert threads.expected == {1, 2}
            for thread in (1, 2):
                threads.take_event("continued", {"threadId": thread})
            asyncio.get_running_loop().call_soon(finish)

        def finish() -> None:
            order.append("finish")
            stopped(threads, 1)
            threads.take_event("thread", {"threadId": 2, "reason": "exited"})

        assert await threads.wait_again([1, 2], move, None) == set()
        assert order == ["move", "finish"]
        # The command shows this stop itself. A later stop is not expected.
        assert (threads.unseen, threads.expected) == ({}, set())
        stopped(threads, 1)
        assert list(threads.unseen) == [1]

    run(work)


def test_a_thread_that_does_not_stop_in_time_is_missing() -> None:
    async def work(threads: StoppedThreads) -> None:
        stopped(threads, 1)

        async def move() -> None:
            threads.take_event("continued", {"threadId": 1})

        assert await threads.wait_again([1], move, 0.001) == {1}
        assert threads.expected == set()
        assert not await threads.wait(lambda: False, 0.0)
        assert await threads.wait(lambda: True, 0.0)

    run(work)


def test_a_move_that_is_refused_leaves_nothing_expected() -> None:
    async def work(threads: StoppedThreads) -> None:
        async def move() -> None:
            raise SessionError("no")

        with pytest.raises(SessionError):
            await threads.wait_again([1], move, None)
        assert threads.expected == set()

    run(work)


def test_all_who_wait_learn_of_a_change() -> None:
    async def work(threads: StoppedThreads) -> None:
        over: list[int] = []
        waiting = [asyncio.ensure_future(threads.wait(lambda: bool(over))) for _ in range(2)]
        await asyncio.sleep(0)
        threads.notify()
        await asyncio.sleep(0)
        assert not any(each.done() for each in waiting)
        over.append(1)
        threads.notify()
        assert await asyncio.gather(*waiting) == [True, True]

    run(work)


def test_a_step_that_leads_to_another_thread_is_over_there() -> None:
    async def work(threads: StoppedThreads) -> None:
        stopped(threads, 7)

        async def move() -> None:
            threads.take_event("continued", {"threadId": 7})
            stopped(threads, 8, raydap={"steppedFrom": 7})

        assert await threads.wait_again([7], move, None) == set()
        assert threads.led_to == {7: 8}
        # The command shows this stop, so it is not announced.
        assert 8 not in threads.unseen

    run(work)
