"""A worker that does not answer costs at most the timeout of a look, and is named in the report."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.client.dap_connection import RequestRefused
from raydap.protocol.stack_messages import MergedStacks
from raydap.report import stop_looks
from raydap.report.stop_looks import Look, look, resume
from support.report_records import STACKS, frame, node


class FakeSession:
    """A session that gives each request its answer: an object, an exception, or none at all."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.session = SimpleNamespace(connection=self)

    async def ask(self, command: str, arguments: Any, answer: Any) -> Any:
        return await self._answer(command.removeprefix("raydap/"))

    async def request(self, command: str, arguments: Any) -> Any:
        return await self._answer(command)

    async def _answer(self, name: str) -> Any:
        if name not in self.answers:
            await asyncio.Event().wait()
        if isinstance(self.answers[name], Exception):
            raise self.answers[name]
        return self.answers[name]


def looked(raised: bool = False, **answers: Any) -> Look:
    session: Any = FakeSession(**answers)
    return asyncio.run(look(session, 1001, raised))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_looks, "LOOK_TIMEOUT_S", 0.05)
    monkeypatch.setattr(stop_looks, "RESUME_TIMEOUT_S", 0.05)


def test_the_stack_of_a_thread() -> None:
    inner = node(frame("inner (Current frame)", 9).location)
    stacks = MergedStacks(
        root=node(None, 1, "", node(frame("outer", 1).location, 1, "", inner)), missing=(), silent=(), unread=()
    )
    found = looked(stacks=stacks)
    assert [(each.location.name, each.location.line) for each in found.frames] == [("outer", 1), ("inner", 9)]
    assert (found.problem, found.error) == ("", None)


def test_an_exception() -> None:
    body = {
        "exceptionId": "package.errors.OddError (note: full exception trace is shown but execution is paused at: f)",
        "description": "3 is odd",
        "details": {"stackTrace": "Traceback"},
    }
    error = looked(raised=True, stacks=STACKS, exceptionInfo=body).error
    assert error is not None
    assert (error.type, error.text, error.traceback) == ("OddError", "3 is odd", "Traceback")
    assert looked(raised=True, stacks=STACKS, exceptionInfo=RequestRefused("It runs.", 3001)).error is None


def test_a_worker_that_says_nothing_is_named() -> None:
    assert looked().problem == "It did not send its stack within 0.05 s."
    silent = MergedStacks(root=node(), missing=(), silent=(1001,), unread=())
    assert looked(stacks=silent).problem != ""
    assert looked(stacks=STACKS).problem == ""


def test_why_a_worker_is_not_resumed() -> None:
    def resumed(**answers: Any) -> str:
        session: Any = FakeSession(**answers)
        return asyncio.run(resume(session, 1001))

    assert resumed(**{"continue": {}}) == ""
    assert resumed(**{"continue": RequestRefused("The worker is gone.", 3003)}) == "The worker is gone."
    assert resumed() == "It did not confirm within 0.05 s that it resumed."
