"""The breakpoints of the session, with numbers as in pdb.

raydap keeps the breakpoints, including those of an editor in the same session. A DAP request replaces all breakpoints
of a file. So each change first requests the present breakpoints, and then sends the others again unchanged.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from raydap.protocol.raydap_messages import BreakpointList, BreakpointsArguments, SetBreakpoint
from raydap.terminal.live_session import LiveSession

Spec = Mapping[str, Any]
"""A SourceBreakpoint or FunctionBreakpoint of DAP."""


class NumberedBreakpoints:
    """Numbers the breakpoints, and sets and removes them."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._numbers: dict[int, int] = {}
        """The numbers of the breakpoints by their ids."""
        self._count = itertools.count(1)
        self.temporary: set[int] = set()
        """The ids of the breakpoints that are removed when they are hit."""
        self.answered: set[int] = set()
        """The ids of the breakpoints about which a worker has reported since they were set."""

    async def all(self) -> list[tuple[int, SetBreakpoint]]:
        """Return all breakpoints, sorted by their numbers. Raises SessionError."""
        found = await self._live.ask("raydap/breakpoints", BreakpointsArguments(), BreakpointList)
        for each in found.breakpoints:
            if each.id not in self._numbers:
                self._numbers[each.id] = next(self._count)
        return sorted(((self._numbers[each.id], each) for each in found.breakpoints), key=lambda pair: pair[0])

    async def specs(self, path: str, without: int | None = None) -> list[Spec]:
        """Return the specs of the breakpoints in a file, or of those on functions if `path` is "". Raises SessionError.

        `without` is the id of a breakpoint to leave out.
        """
        return [as_spec(each) for _, each in await self.all() if each.path == path and each.id != without]

    async def send(self, path: str, specs: Sequence[Spec]) -> Sequence[Mapping[str, Any]]:
        """Replace all breakpoints in a file, or all on functions if `path` is "". Raises SessionError.

        Return the answer for each breakpoint, a Breakpoint of DAP.
        """
        if path:
            answer = await self._live.session.connection.request(
                "setBreakpoints", {"source": {"path": path}, "breakpoints": list(specs)}
            )
        else:
            answer = await self._live.session.connection.request("setFunctionBreakpoints", {"breakpoints": list(specs)})
        found: Sequence[Mapping[str, Any]] = answer["breakpoints"]
        return found

    async def change(self, breakpoint: SetBreakpoint, condition: str) -> None:
        """Give a breakpoint another condition. Raises SessionError.

        raydap then gives it another id, but its number stays the same.
        """
        others = [each for _, each in await self.all() if each.path == breakpoint.path]
        specs = [
            {**as_spec(each), "condition": condition} if each.id == breakpoint.id else as_spec(each) for each in others
        ]
        answers = await self.send(breakpoint.path, specs)
        changed = next(int(one["id"]) for one, each in zip(answers, others, strict=True) if each.id == breakpoint.id)
        self._numbers[changed] = self._numbers.pop(breakpoint.id)
        if breakpoint.id in self.temporary:
            self.temporary = self.temporary - {breakpoint.id} | {changed}

    async def remove(self, breakpoint: SetBreakpoint) -> None:
        """Remove a breakpoint from all workers. Raises SessionError."""
        self.temporary.discard(breakpoint.id)
        await self.send(breakpoint.path, await self.specs(breakpoint.path, without=breakpoint.id))

    async def remove_hit(self, ids: Sequence[int]) -> None:
        """Remove the breakpoints that were hit if they are temporary. Raises SessionError."""
        for _, each in await self.all() if self.temporary.intersection(ids) else ():
            if each.id in ids and each.id in self.temporary:
                await self.remove(each)

    async def lines(self, path: str) -> set[int]:
        """Return the lines of a file that have breakpoints. Raises SessionError."""
        return {each.line for _, each in await self.all() if each.path == path}

    async def named(self, text: str) -> SetBreakpoint | None:
        """Return the breakpoint with this number; None if there is none. Raises SessionError."""
        return next((each for number, each in await self.all() if text == str(number)), None)


def as_spec(breakpoint: SetBreakpoint) -> Spec:
    """Return the spec that sets this breakpoint again."""
    known = {
        "condition": breakpoint.condition,
        "hitCondition": breakpoint.hit_condition,
        "logMessage": breakpoint.log_message,
    }
    place: Spec = {"line": breakpoint.line} if breakpoint.path else {"name": breakpoint.function}
    return {**place, **{name: text for name, text in known.items() if text}}
