"""Which threads are stopped, as the events of the session tell, and waiting for the next stop."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from raydap.bounded_wait import wait_for


@dataclass(frozen=True, slots=True)
class Stop:
    """`number` counts the stops of the session. `text` is about an exception. `hit` are ids of breakpoints."""

    thread: int
    number: int
    reason: str
    description: str
    text: str
    hit: tuple[int, ...]


class StoppedThreads:
    """`unseen` are the stops that nobody has shown to the user yet. `expected` are the threads whose next stop a
    command waits for and shows."""

    def __init__(self) -> None:
        self.stops: dict[int, Stop] = {}
        self.unseen: dict[int, Stop] = {}
        self.expected: set[int] = set()
        self._count = 0
        self._numbers: dict[int, int] = {}
        self._ended: set[int] = set()
        self._changed = asyncio.Event()

    def take_event(self, name: str, body: Any) -> bool:
        """Returns whether it was about a thread."""
        if name == "stopped":
            self._stopped(body)
        elif name == "continued":
            self._forget(body["threadId"])
        elif name == "thread" and body["reason"] == "exited":
            self._forget(body["threadId"])
            self._ended.add(body["threadId"])
        else:
            return False
        self.notify()
        return True

    def _stopped(self, body: Any) -> None:
        thread = body["threadId"]
        self._count += 1
        stop = Stop(
            thread,
            self._count,
            str(body.get("reason", "")),
            str(body.get("description") or ""),
            str(body.get("text") or ""),
            tuple(body.get("hitBreakpointIds") or ()),
        )
        self.stops[thread] = stop
        self._numbers[thread] = self._count
        self._ended.discard(thread)
        if thread not in self.expected:
            self.unseen[thread] = stop

    def _forget(self, thread: int) -> None:
        self.stops.pop(thread, None)
        self.unseen.pop(thread, None)

    def notify(self) -> None:
        """Something has changed for which somebody may wait."""
        self._changed.set()
        self._changed = asyncio.Event()

    def number(self, thread: int) -> int:
        """That of the thread's last stop, 0 if it has never stopped."""
        return self._numbers.get(thread, 0)

    def has_ended(self, thread: int) -> bool:
        """Or raydap has detached from its worker."""
        return thread in self._ended

    def missing(self, before: dict[int, int]) -> set[int]:
        """Those that have neither stopped again nor ended since these were the numbers of their last stops."""
        return {
            thread
            for thread, number in before.items()
            if thread not in self._ended and (thread not in self.stops or self.number(thread) <= number)
        }

    async def wait(self, is_over: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Whether it is over in time."""
        loop = asyncio.get_running_loop()
        until = None if timeout_s is None else loop.time() + timeout_s
        while not is_over():
            left = None if until is None else until - loop.time()
            if left is not None and left <= 0:
                return False
            try:
                await wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:
                return is_over()
        return True

    async def wait_again(self, threads: Collection[int], move: Callable[[], Any], timeout_s: float | None) -> set[int]:
        """Lets threads run by `move`, and waits until each has stopped again or ended. Returns those that have not in
        time. Their stops are expected meanwhile."""
        before = {thread: self.number(thread) for thread in threads}
        self.expected |= before.keys()
        try:
            await move()
            await self.wait(lambda: not self.missing(before), timeout_s)
            return self.missing(before)
        finally:
            self.expected -= before.keys()
