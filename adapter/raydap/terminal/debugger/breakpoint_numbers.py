"""The breakpoints of the session, with numbers as pdb has them.

raydap keeps the breakpoints, those of an editor in the same session, too. Who sets one of a file sets all of that file,
so the others are asked for before, and set again as they are."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raydap.protocol.raydap_messages import BreakpointList, BreakpointsArguments, SetBreakpoint
from raydap.terminal.live_session import LiveSession

Spec = Mapping[str, Any]
"""A SourceBreakpoint or FunctionBreakpoint of DAP."""


class Breakpoints:
    """Numbers the breakpoints as pdb does, and sets them. `temporary` are the ids of those that go when they are hit,
    `answered` those of which workers have said something since they were set."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._numbers: dict[int, int] = {}
        self._count = itertools.count(1)
        self._hidden: set[int] = set()
        self.temporary: set[int] = set()
        self.answered: set[int] = set()

    async def all(self) -> list[tuple[int, SetBreakpoint]]:
        """With their numbers, 0 for hidden ones. Raises SessionError."""
        found = await self._live.ask("raydap/breakpoints", BreakpointsArguments(), BreakpointList)
        for each in found.breakpoints:
            if each.id not in self._numbers:
                self._numbers[each.id] = 0 if each.id in self._hidden else next(self._count)
        return sorted(((self._numbers[each.id], each) for each in found.breakpoints), key=lambda pair: pair[0])

    def hide(self, ids: Iterable[int]) -> None:
        """These are temporary, and none of the user's."""
        self._hidden.update(ids)
        self.temporary.update(self._hidden)

    async def specs(self, path: str, without: int | None = None) -> list[Spec]:
        """Those of a file, or with "" of functions, without the one with this id."""
        return [as_spec(each) for _, each in await self.all() if each.path == path and each.id != without]

    async def send(self, path: str, specs: Sequence[Spec]) -> Sequence[Mapping[str, Any]]:
        """Replaces all of a file, or of all functions. Returns what raydap says of each (DAP's Breakpoint)."""
        if path:
            answer = await self._live.session.connection.request(
                "setBreakpoints", {"source": {"path": path}, "breakpoints": list(specs)}
            )
        else:
            answer = await self._live.session.connection.request("setFunctionBreakpoints", {"breakpoints": list(specs)})
        found: Sequence[Mapping[str, Any]] = answer["breakpoints"]
        return found

    async def change(self, breakpoint: SetBreakpoint, condition: str) -> None:
        """Gives it another condition. For raydap it is another breakpoint then, but it keeps its number."""
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
        self.temporary.discard(breakpoint.id)
        await self.send(breakpoint.path, await self.specs(breakpoint.path, without=breakpoint.id))

    async def remove_hit(self, ids: Sequence[int]) -> None:
        """The temporary ones among these have done their work."""
        for _, each in await self.all() if self.temporary.intersection(ids) else ():
            if each.id in ids and each.id in self.temporary:
                await self.remove(each)

    async def lines(self, path: str) -> set[int]:
        return {each.line for _, each in await self.all() if each.path == path}

    async def named(self, text: str) -> SetBreakpoint | None:
        """By its number."""
        return next((each for number, each in await self.all() if text == str(number)), None)


def as_spec(breakpoint: SetBreakpoint) -> Spec:
    known = {
        "condition": breakpoint.condition,
        "hitCondition": breakpoint.hit_condition,
        "logMessage": breakpoint.log_message,
    }
    place: Spec = {"line": breakpoint.line} if breakpoint.path else {"name": breakpoint.function}
    return {**place, **{name: text for name, text in known.items() if text}}
