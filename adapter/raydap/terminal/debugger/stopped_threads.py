"""The stopped threads of a session, from its events, and waits for their next stops."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from raydap.bounded_wait import wait_for


@dataclass(frozen=True, slots=True)
class ThreadStop:
    """A stop of a thread: DAP's event `stopped`."""

    thread: int
    """The id of the thread."""
    number: int
    """The number of the stop in the session, from 1."""
    reason: str
    """DAP's reason for the stop, such as `breakpoint`."""
    description: str
    """DAP's text about the stop for users; "" if there is none."""
    text: str
    """The name of the exception, if there is one."""
    hit: tuple[int, ...]
    """The ids of the breakpoints that were hit."""
    stepped_from: int = 0
    """The id of the other thread whose step has led here (docs/protocol.md); 0 for other stops."""


class StoppedThreads:
    """The stopped threads of a session."""

    def __init__(self) -> None:
        self.stops: dict[int, ThreadStop] = {}
        """The present stops, by thread."""
        self.unseen: dict[int, ThreadStop] = {}
        """The stops that the user has not been shown yet, by thread."""
        self.expected: set[int] = set()
        """The threads whose next stop a command waits for, and then shows."""
        self.led_to: dict[int, int] = {}
        """The other threads to which the last steps of threads have led."""
        self.count = 0
        """The number of stops so far."""
        self._numbers: dict[int, int] = {}
        """The number of each thread's last stop."""
        self._ended: set[int] = set()
        self._changed = asyncio.Event()

    def take_event(self, name: str, body: Any) -> bool:
        """Apply an event of the session. Return whether it was about a thread."""
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
        self.count += 1
        stop = ThreadStop(
            thread,
            self.count,
            str(body.get("reason", "")),
            str(body.get("description") or ""),
            str(body.get("text") or ""),
            tuple(body.get("hitBreakpointIds") or ()),
            (body.get("raydap") or {}).get("steppedFrom", 0),
        )
        if stop.stepped_from:
            self.led_to[stop.stepped_from] = thread
        self.stops[thread] = stop
        self._numbers[thread] = self.count
        self._ended.discard(thread)
        if thread not in self.expected and stop.stepped_from not in self.expected:
            self.unseen[thread] = stop

    def _forget(self, thread: int) -> None:
        self.stops.pop(thread, None)
        self.unseen.pop(thread, None)

    def notify(self) -> None:
        """Make all waits check their conditions again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def number(self, thread: int) -> int:
        """Return the number of the thread's last stop, 0 if it has never stopped."""
        return self._numbers.get(thread, 0)

    def has_ended(self, thread: int) -> bool:
        """Return whether the thread has ended, or raydap has detached from its worker."""
        return thread in self._ended

    def missing(self, before: dict[int, int]) -> set[int]:
        """Return the threads that have neither ended nor stopped again, and whose steps have led to no other thread.

        `before` contains the number of each thread's last stop before it was resumed.
        """
        return {
            thread
            for thread, number in before.items()
            if thread not in self._ended
            and thread not in self.led_to
            and (thread not in self.stops or self.number(thread) <= number)
        }

    async def wait(self, is_over: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until `is_over` returns True. Return False if that takes longer than `timeout_s`."""
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
        """Resume threads by `move`, and wait until each has stopped again or ended.

        Return the threads that have done neither within `timeout_s`. During the wait, all of them are in `expected`.
        """
        before = {thread: self.number(thread) for thread in threads}
        self.expected |= before.keys()
        for thread in threads:
            self.led_to.pop(thread, None)
        try:
            await move()
            await self.wait(lambda: not self.missing(before), timeout_s)
            return self.missing(before)
        finally:
            self.expected -= before.keys()
