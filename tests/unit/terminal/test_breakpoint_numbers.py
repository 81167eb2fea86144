"""Breakpoints with the numbers that users see, next to breakpoints of an editor in the same session."""

import asyncio
from typing import Any

from raydap.protocol.raydap_messages import BreakpointList, SetBreakpoint
from raydap.terminal.debugger.breakpoint_numbers import NumberedBreakpoints, as_spec
from support.scripted_session import ScriptedLive


def breakpoint_at(id: int, path: str = "/app/a.py", line: int = 7, **texts: str) -> SetBreakpoint:
    fields: dict[str, Any] = {"function": "", "condition": "", "hit_condition": "", "log_message": "", "message": ""}
    return SetBreakpoint(id=id, path=path, line=line, verified=True, **{**fields, **texts})


class Session:
    """A session in which raydap keeps the breakpoints `kept`."""

    def __init__(self, *kept: SetBreakpoint) -> None:
        self.kept = list(kept)
        answer: Any = {"breakpoints": []}
        self.live = ScriptedLive(
            raydap__breakpoints=lambda _: BreakpointList(breakpoints=tuple(self.kept)),
            setBreakpoints=answer,
            setFunctionBreakpoints=answer,
        )
        self.breakpoints = NumberedBreakpoints(self.live)

    @property
    def sent(self) -> list[Any]:
        return [each for each in self.live.connection.requests if each[0] != "raydap/breakpoints"]

    def numbers(self) -> list[tuple[int, int]]:
        return [(number, each.id) for number, each in asyncio.run(self.breakpoints.all())]


def test_a_number_is_never_given_twice() -> None:
    session = Session(breakpoint_at(30), breakpoint_at(20))
    assert session.numbers() == [(1, 30), (2, 20)]
    session.kept = [breakpoint_at(10), breakpoint_at(20)]
    assert session.numbers() == [(2, 20), (3, 10)]
    found = asyncio.run(session.breakpoints.named("3"))
    assert found is not None
    assert found.id == 10
    for text in ("1", "", "x", "03"):
        assert asyncio.run(session.breakpoints.named(text)) is None


def test_temporary_ones_go_when_they_are_hit() -> None:
    session = Session(breakpoint_at(5), breakpoint_at(6, line=9))
    session.breakpoints.temporary = {5}
    asyncio.run(session.breakpoints.remove_hit([6]))
    assert session.sent == []
    asyncio.run(session.breakpoints.remove_hit([6, 5]))
    assert session.sent == [("setBreakpoints", {"source": {"path": "/app/a.py"}, "breakpoints": [{"line": 9}]})]
    assert session.breakpoints.temporary == set()


def test_the_other_breakpoints_of_a_file_are_set_again_unchanged() -> None:
    others = breakpoint_at(1, condition="x > 1", hit_condition="all 3", log_message="{x}")
    session = Session(others, breakpoint_at(2, line=8), breakpoint_at(3, path="/app/b.py"))
    asyncio.run(session.breakpoints.remove(session.kept[1]))
    spec = {"line": 7, "condition": "x > 1", "hitCondition": "all 3", "logMessage": "{x}"}
    assert session.sent == [("setBreakpoints", {"source": {"path": "/app/a.py"}, "breakpoints": [spec]})]
    assert asyncio.run(session.breakpoints.lines("/app/a.py")) == {7, 8}
    assert asyncio.run(session.breakpoints.specs("/app/c.py")) == []


def test_another_condition_leaves_the_number() -> None:
    other, found = breakpoint_at(1), breakpoint_at(2, line=8)
    for changed, condition in ((3, "x"), (2, "")):
        session = Session(other, found)
        session.breakpoints.temporary = {2}
        session.live.connection.answers["setBreakpoints"] = {"breakpoints": [{"id": 1}, {"id": changed}]}
        asyncio.run(session.breakpoints.change(found, condition))
        specs = [{"line": 7}, {"line": 8, "condition": condition}]
        assert session.sent == [("setBreakpoints", {"source": {"path": "/app/a.py"}, "breakpoints": specs})]
        session.kept = [other, breakpoint_at(changed, line=8, condition=condition)]
        assert session.numbers() == [(1, 1), (2, changed)]
        assert session.breakpoints.temporary == {changed}


def test_functions_are_a_list_of_their_own() -> None:
    step = breakpoint_at(1, path="", line=0, function="step")
    session = Session(step, breakpoint_at(2, path="", line=0, function="Trainer.learn"), breakpoint_at(3))
    assert as_spec(step) == {"name": "step"}
    asyncio.run(session.breakpoints.remove(step))
    assert session.sent == [("setFunctionBreakpoints", {"breakpoints": [{"name": "Trainer.learn"}]})]
