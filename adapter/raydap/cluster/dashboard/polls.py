"""Repeated questions to one dashboard, which together take at most 5 % of its time.

A poll has a question, a period and a back-off. A dashboard that answers quickly gets each question once in its period.
A slower one gets the questions less often: `Polls` divides a part of the dashboard's time among the polls that run.

The design is in docs/design/polls.md.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from raydap.bounded_wait import wait_for
from raydap.errors import ProblemError

log = logging.getLogger("raydap")

SHARE = 0.04
"""The part of the dashboard's time that is divided. The polls take a little more, at most 5 % in the long run: some
answers do not count, and a pause that has begun does not change when another poll starts."""

BURST_S = 5.0
"""Seconds of the dashboard's time that a poll may take at once, if it took less than its share before."""

LONGEST_PAUSE_S = 300.0
"""The longest pause for a slow dashboard. Longer pauses would keep the polls within SHARE, but make them useless."""

RETRY_S, LONGEST_RETRY_S = 0.2, 5.0
"""The pause after the first failure, and the longest pause after quick failures. Each further failure doubles the
pause."""

Ask = Callable[[], Awaitable[float | None]]
"""Asks once. Returns the period, which is the seconds to the next question, or None if nothing is left to ask."""


class Polls:
    """The polls of one dashboard. `scale` is a factor for all pauses, for tests."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.active: set[Poll] = set()
        """The polls that run, and ended polls that took more than their share."""

    def now(self) -> float:
        """Return a monotonic time in the seconds that `sleep` takes."""
        return asyncio.get_running_loop().time() / self.scale

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds, multiplied by `scale`."""
        await asyncio.sleep(max(0.0, seconds) * self.scale)

    def share(self) -> float:
        """Return the part of the dashboard's time that one poll may take.

        A poll that needs less than an equal part leaves the rest to the others (max-min fairness). So a poll that asks
        for long lists does not slow down the poll that finds paused workers.
        """
        now = self.now()
        self.active = {poll for poll in self.active if poll.is_running or poll.free_at > now}
        share = left = SHARE
        demands = sorted(poll.demand for poll in self.active)
        for index, demand in enumerate(demands):
            share = left / (len(demands) - index)
            if demand >= share:
                break
            left -= demand
        return share


PROCESS_POLLS = Polls()
"""The polls of this process, which has one dashboard: those of its session, and those of a report beside it."""


class Poll:
    """One repeated question.

    After a ProblemError of `ask`, the poll asks again some time later. Any other exception ends the poll, unless `what`
    names the question for the log. The poll does not ask while the event `after` is not set. The event `wake` ends a
    pause early, but not less than `shortest_s` after the answer, and not before the end of the pause that a slow
    dashboard needs, which is at most `longest_s`.
    """

    def __init__(
        self,
        polls: Polls,
        ask: Ask,
        what: str = "",
        after: asyncio.Event | None = None,
        wake: asyncio.Event | None = None,
        shortest_s: float = 0.0,
        longest_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self.is_running = False
        self.demand = 0.0
        """The part of the dashboard's time that this poll takes if it asks once in each period."""
        self.free_at = float("-inf")
        """The earliest time of the next question: by then the answers so far have taken no more than this poll's
        share."""
        self._polls = polls
        self._ask = ask
        self._what = what
        self._after = after
        self._wake = wake
        self._shortest_s = shortest_s
        self._longest_s = longest_s
        self._took_s = 0.0
        self._failures = 0

    async def run(self, first_s: float = 0.0) -> None:
        """Ask after `first_s`, and repeat the question until nothing is left to ask."""
        polls = self._polls
        self.is_running = True
        polls.active.add(self)
        try:
            await polls.sleep(first_s)
            while True:
                if self._after is not None:
                    await self._after.wait()
                await polls.sleep(self.free_at - polls.now())
                if self._wake is not None:
                    self._wake.clear()
                begun = asyncio.get_running_loop().time()
                period_s = await self._answer()
                # A single slow answer does not count: it may include the time to load what the dashboard needs for it.
                before_s, self._took_s = self._took_s, asyncio.get_running_loop().time() - begun
                if self._failures:
                    period_s = self._back_off_s(max(RETRY_S, self._took_s))
                else:
                    self._charge(min(before_s, self._took_s), period_s)
                if period_s is None:
                    return
                await self._pause(period_s)
        finally:
            self.is_running = False

    async def _answer(self) -> float | None:
        """Ask once, and count failures. Return the period, or None after a failure."""
        try:
            period_s = await self._ask()
            self._failures = 0
            return period_s
        except ProblemError:
            # The poll that finds paused workers reports a dashboard that does not answer.
            pass
        except Exception:
            if not self._what:
                raise
            log.exception("asking for %s failed", self._what)
        self._failures += 1
        return None

    def _charge(self, cost_s: float, period_s: float | None) -> None:
        if period_s is not None:
            self.demand = cost_s / (cost_s + period_s) if cost_s else 0.0
        now, share = self._polls.now(), self._polls.share()
        # Time without questions counts up to the length of a burst.
        self.free_at = min(max(self.free_at, now - BURST_S / share) + cost_s / share, now + self._longest_s)

    def _back_off_s(self, first_s: float) -> float:
        longest_s = max(LONGEST_RETRY_S, min(first_s / SHARE, self._longest_s))
        return min(first_s * 2.0 ** min(self._failures - 1, 30), longest_s)

    async def _pause(self, seconds: float) -> None:
        if self._wake is None:
            await self._polls.sleep(seconds)
            return
        shortest_s = min(self._shortest_s, seconds)
        await self._polls.sleep(shortest_s)
        try:
            await wait_for(self._wake.wait(), (seconds - shortest_s) * self._polls.scale)
        except asyncio.TimeoutError:
            return
