"""The times of polls, in virtual time, and their share of the dashboard's time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from raydap.cluster.dashboard.polls import BURST_S, LONGEST_PAUSE_S, SHARE, Poll, Polls
from raydap.errors import Code, Problem, ProblemError
from support import virtual_time

DOWN = ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))


class Asked:
    """A question that takes these times in turn, and then always the last one."""

    def __init__(self, period_s: float, *seconds: float) -> None:
        self.begun: list[float] = []
        self.took = 0.0
        self.failures: list[Exception] = []
        self._period_s = period_s
        self._seconds = list(seconds)

    @property
    def pauses(self) -> list[float]:
        """Return the seconds between the starts of successive questions."""
        return [after - before for before, after in zip(self.begun, self.begun[1:], strict=False)]

    async def ask(self) -> float:
        seconds = self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        self.begun.append(asyncio.get_running_loop().time())
        self.took += seconds
        await asyncio.sleep(seconds)
        if self.failures:
            raise self.failures.pop(0)
        return self._period_s


def play(seconds: float, *questions: Asked, what: str = "it") -> None:
    """Run a poll for each of the questions for this long in virtual time."""

    async def main() -> None:
        polls = Polls()
        runs = [asyncio.ensure_future(Poll(polls, each.ask, what).run()) for each in questions]
        await asyncio.wait(runs, timeout=seconds)
        for each in runs:
            each.cancel()
        results = await asyncio.gather(*runs, return_exceptions=True)
        assert not any(poll.is_running for poll in polls.active)
        for result in results:
            if not isinstance(result, asyncio.CancelledError):
                assert isinstance(result, Exception)
                raise result

    virtual_time.run(main())


def test_a_quick_dashboard_is_asked_in_each_period() -> None:
    paused, nodes = Asked(0.15, 0.005), Asked(1.0, 0.005)
    play(600.0, paused, nodes)
    assert paused.pauses == pytest.approx([0.155] * len(paused.pauses))
    assert nodes.pauses == pytest.approx([1.005] * len(nodes.pauses))


@pytest.mark.parametrize("seconds", [0.01, 0.1, 1.0, 2.9])
@pytest.mark.parametrize("polls", [1, 2, 5])
def test_all_polls_together_take_at_most_their_share(seconds: float, polls: int) -> None:
    questions = [Asked(0.15, seconds) for _ in range(polls)]
    duration = 2000.0
    play(duration, *questions)
    # The first answer of each poll is not charged, and the last one can end after the duration.
    allowed = SHARE * duration + polls * (BURST_S + 2 * seconds)
    spent = sum(each.took for each in questions)
    if polls * seconds / SHARE <= LONGEST_PAUSE_S:
        assert spent <= allowed
        assert spent >= 0.8 * SHARE * duration
    assert max(max(each.pauses) for each in questions) <= LONGEST_PAUSE_S + seconds + 0.01


def test_a_poll_for_long_lists_does_not_slow_down_the_others() -> None:
    paused, nodes, alive = Asked(0.15, 0.005), Asked(1.0, 0.005), Asked(2.0, 0.5)
    duration = 1000.0
    play(duration, paused, nodes, alive)
    assert max(paused.pauses) < 0.3
    assert max(nodes.pauses) == pytest.approx(1.005)
    assert paused.took + nodes.took + alive.took <= SHARE * duration + 3 * BURST_S + 1.0


def test_a_single_slow_answer_does_not_count() -> None:
    asked = Asked(2.0, 9.0, 0.1, 9.0, 0.1)
    play(100.0, asked)
    assert asked.pauses[:4] == pytest.approx([11.0, 2.1, 11.0, 2.1])


def test_a_dashboard_that_is_quick_again_is_asked_quickly_again() -> None:
    asked = Asked(0.15, 20.0, 20.0, 20.0, 0.001)
    play(1000.0, asked)
    assert asked.pauses[1:3] == pytest.approx([20.0 + LONGEST_PAUSE_S] * 2)
    assert asked.pauses[-1] == pytest.approx(0.151)


def test_a_poll_that_runs_now_and_then_takes_no_more_than_its_share() -> None:
    asked, others = Asked(0.5, 1.0), Asked(0.15, 0.1)

    async def ask() -> float | None:
        await asked.ask()
        return None if len(asked.begun) % 4 == 0 else 0.5

    async def main() -> None:
        polls = Polls()
        poll = Poll(polls, ask)
        other = asyncio.ensure_future(Poll(polls, others.ask).run())
        for _ in range(20):
            await poll.run()
            await asyncio.sleep(10.0)
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        assert asked.took == 80.0
        assert asked.took + others.took <= SHARE * asyncio.get_running_loop().time() + 2 * BURST_S + 3.0

    virtual_time.run(main())


def test_each_failure_doubles_the_pause() -> None:
    asked = Asked(2.0, 0.0)
    asked.failures = [DOWN] * 7
    play(30.0, asked)
    assert asked.pauses[:8] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 2.0])


def test_a_dashboard_that_fails_slowly_is_asked_less() -> None:
    asked = Asked(2.0, 10.0)
    asked.failures = [DOWN] * 9
    play(1000.0, asked)
    assert asked.pauses[:7] == pytest.approx([20.0, 30.0, 50.0, 90.0, 170.0, 260.0, 260.0])


def test_an_exception_is_a_failure_if_the_poll_has_a_name(caplog: pytest.LogCaptureFixture) -> None:
    asked = Asked(2.0, 0.0)
    asked.failures = [KeyError("worker_id")]
    play(5.0, asked, what="all workers")
    assert asked.pauses == pytest.approx([0.2, 2.0, 2.0])
    assert [record.getMessage() for record in caplog.records] == ["asking for all workers failed"]
    asked.failures = [KeyError("worker_id")]
    with pytest.raises(KeyError):
        play(5.0, asked, what="")


def times(script: Callable[[Poll, Asked, asyncio.Event], Awaitable[None]], shortest_s: float = 0.0) -> Sequence[float]:
    """Return the times at which a poll asked. Its period is 10 s, and the event wakes it."""

    async def main() -> list[float]:
        asked, wake = Asked(10.0, 0.0), asyncio.Event()
        poll = Poll(Polls(), asked.ask, wake=wake, shortest_s=shortest_s)
        run = asyncio.ensure_future(poll.run())
        await script(poll, asked, wake)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        return asked.begun

    return virtual_time.run(main())


def test_an_event_ends_a_pause_early() -> None:
    async def script(poll: Poll, _: Asked, wake: asyncio.Event) -> None:
        await asyncio.sleep(3.0)
        wake.set()
        await asyncio.sleep(12.0)
        assert poll.is_running

    assert times(script) == pytest.approx([0.0, 3.0, 13.0])
    assert times(script, shortest_s=4.0) == pytest.approx([0.0, 4.0, 14.0])


def test_an_event_ends_the_pause_after_a_failure() -> None:
    async def script(_: Poll, asked: Asked, wake: asyncio.Event) -> None:
        asked.failures = [DOWN] * 3
        await asyncio.sleep(0.1)
        wake.set()
        await asyncio.sleep(0.1)

    assert times(script) == pytest.approx([0.0, 0.1])
