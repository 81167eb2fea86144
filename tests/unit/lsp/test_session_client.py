"""The server logs a wrong answer of a session, and then continues with the session or leaves it."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from raydap.client.dap_connection import SessionError
from raydap.lsp.live.session_client import SessionClient
from raydap.transport.peer import Peer

WORKERS: dict[str, Any] = {"workers": [], "outage": ""}
STACK = {"stackFrames": [{"id": 7, "line": 3, "source": {"path": "/a.py"}}]}
SCOPES = {"scopes": [{"name": "Locals", "variablesReference": 8}]}
VARIABLES = {"variables": [{"name": "x", "value": "1", "type": "int"}]}
GOOD = {"raydap/workers": WORKERS, "stackTrace": STACK, "scopes": SCOPES, "variables": VARIABLES}


class FakeSession(Peer):
    """A session that answers each request with the given body, or with an error if that is None."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = {"initialize": {}, "attach": {}, "configurationDone": {}, **GOOD, **answers}
        self.closed = False

    async def connect(self, on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Peer:
        self._say, self.end = on_message, on_gone
        return self

    def send(self, body: bytes, *_: Any) -> None:
        request = json.loads(body)
        answer = {"seq": 1, "type": "response", "request_seq": request["seq"], "command": request["command"]}
        body_of = self.answers[request["command"]]
        failed = {"success": False, "message": "no"}
        self.say(answer | (failed if body_of is None else {"success": True, "body": body_of}))

    def say(self, message: Any) -> None:
        self._say(json.dumps(message).encode())

    def event(self, name: str, body: Any) -> None:
        self.say({"seq": 1, "type": "event", "event": name, "body": body})

    def close(self, *_: Any) -> None:
        self.closed = True


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


@pytest.mark.parametrize(
    "answers",
    [{"initialize": None}, {"attach": None}, {"raydap/workers": {"workers": 7}}, {"raydap/workers": []}],
)
def test_a_session_that_cannot_be_followed_is_left(answers: dict[str, Any]) -> None:
    async def test() -> None:
        session = FakeSession(answers)
        client = SessionClient(lambda: None)
        with pytest.raises(SessionError):
            await client.follow(session.connect)
        assert session.closed
        assert not client.has_begun

    run(test())


def test_a_change_that_comes_with_the_list_is_newer() -> None:
    known: dict[str, Any] = {
        "name": "",
        "title": "",
        "label": "",
        "where": "",
        "age": 0,
        "type": "worker",
        "pid": 1,
        "node": "n",
    }
    known |= {"nodeId": "", "job": "", "submission": "", "actor": "", "actorName": "", "task": "", "agent": False}
    stopped = {"threadId": 5, "name": "", "reason": "breakpoint", "error": "", "order": 0, "place": ""}
    before = {**known, "key": "w", "state": "attaching", "threads": [], "problem": ""}
    after = {**before, "state": "stopped", "threads": [stopped]}

    class Busy(FakeSession):
        def say(self, message: Any) -> None:
            super().say(message)
            if message.get("command") == "raydap/workers":
                # The event is in the same bytes, before the code that waits for the answer runs.
                self.event("raydap/workersChanged", {"workers": [after], "outage": ""})

    async def test() -> None:
        session = Busy({"raydap/workers": {"workers": [before], "outage": ""}})
        changed = asyncio.Event()
        client = SessionClient(changed.set)
        following = asyncio.create_task(client.follow(session.connect))
        await changed.wait()
        session.end("")
        await following
        (worker,) = client.state.workers()
        assert worker.entry.state == "stopped"

    run(test())


@pytest.mark.parametrize(
    ("answers", "stops", "values"),
    [
        ({}, 1, {"x": ("1", "int")}),
        ({"stackTrace": None}, 0, None),
        ({"stackTrace": {"stackFrames": []}}, 0, None),
        ({"stackTrace": {"stackFrames": [{"id": 7, "line": 3}]}}, 0, None),
        ({"stackTrace": [1]}, 0, None),
        ({"scopes": None}, 1, {}),
        ({"scopes": {"scopes": []}}, 1, {}),
        ({"variables": None}, 1, {}),
        ({"variables": {"variables": [{"value": "1"}]}}, 1, {}),
    ],
)
def test_a_stop_that_cannot_be_read_has_no_place_or_no_values(
    answers: dict[str, Any], stops: int, values: dict[str, Any] | None
) -> None:
    async def test() -> None:
        session = FakeSession(answers)
        changed = asyncio.Event()
        client = SessionClient(changed.set)
        following = asyncio.ensure_future(client.follow(session.connect))
        await _until(changed, lambda: client.has_begun)
        changed.clear()
        session.event("stopped", {"threadId": 5})
        await changed.wait()
        found = client.state.stops("/a.py")
        assert len(found) == stops
        for thread, stop in found.items():
            client.read_values(thread, stop)
            client.read_values(thread, stop)
            await _until(changed, lambda: client.state.values(5) is not None)
            assert client.state.values(5) == values
        session.event("terminated", {})
        await following

    run(test())


def test_nonsense_between_messages_is_skipped() -> None:
    async def test() -> None:
        session = FakeSession({})
        changed = asyncio.Event()
        client = SessionClient(changed.set)
        following = asyncio.ensure_future(client.follow(session.connect))
        await _until(changed, lambda: client.has_begun)
        for message in (7, {}, {"seq": 1, "type": "event", "event": "stopped", "body": {}}):
            session.say(message)
        session.event("thread", 7)
        session.event("raydap/workersChanged", {"workers": [{"key": 7}]})
        session.event("stopped", {"threadId": 5})
        await _until(changed, lambda: client.state.stops("/a.py") != {})
        session.end("gone")
        await following
        assert not client.has_begun

    run(test())


async def _until(changed: asyncio.Event, is_so: Callable[[], bool]) -> None:
    while not is_so():
        changed.clear()
        await changed.wait()
