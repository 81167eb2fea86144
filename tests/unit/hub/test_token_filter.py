"""The token filter removes and checks the token, and changes nothing else."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from raydap.hub import hub_token
from raydap.hub.hub_token import TokenVerifier
from raydap.hub.token_filter import TokenFilter
from raydap.tasks import Tasks
from raydap.wire import envelope

WAIT = 30.0


class SlowVerifier(TokenVerifier):
    """A verifier whose delay lasts until the test ends it."""

    def __init__(self) -> None:
        super().__init__(hub_token.digest("right"))
        self.over = asyncio.Event()

    async def delay_refusal(self) -> None:
        await self.over.wait()
        self.over.clear()


class Scene:
    def __init__(self, trusted: bool = False) -> None:
        self.verifier = SlowVerifier()
        self.happened: list[Any] = []
        self.more = asyncio.Event()
        self.filter = TokenFilter(
            self.verifier,
            lambda data: self._note(data),
            lambda: self._note("trusted"),
            lambda reason: self._note(("refused", reason)),
            Tasks(),
            trusted,
        )

    def _note(self, what: Any) -> None:
        self.happened.append(what)
        self.more.set()

    def take(self, *messages: bytes) -> None:
        for message in messages:
            self.filter.receive(message)

    async def end_delay(self) -> None:
        """End the delay, and wait for its effects."""
        self.more.clear()
        self.verifier.over.set()
        await asyncio.wait_for(self.more.wait(), WAIT)


def run(script: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(script())  # type: ignore[arg-type]


def request(command: str, **arguments: Any) -> bytes:
    return json.dumps({"type": "request", "seq": 7, "command": command, "arguments": arguments}).encode()


def content(data: bytes) -> Any:
    message = json.loads(data)
    assert message.pop("seq") == 7
    return message.pop("command"), message.pop("arguments", None)


@pytest.mark.parametrize("command", ["attach", "launch"])
def test_the_right_token_lets_in_before_its_message_which_has_it_no_more(command: str) -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(request(command, token="right", job="j"))
        trusted, data = scene.happened
        assert trusted == "trusted"
        assert content(data) == (command, {"job": "j"})
        assert b"right" not in data
        scene.take(request("attach", token="right"), request("attach", token="wrong"))
        assert [content(data) for data in scene.happened[2:]] == [("attach", {}), ("attach", {})]

    run(script)


@pytest.mark.parametrize("token", ["wrong", "", None, 7, ["right"], {"right": "right"}, "\udc80"])
def test_a_wrong_one_is_passed_on_after_the_delay_without_it(token: Any) -> None:
    async def script() -> None:
        scene = Scene()
        later = request("threads")
        scene.take(request("attach", token=token, job="j"), later)
        assert scene.happened == []
        await scene.end_delay()
        first, second = scene.happened
        assert content(first) == ("attach", {"job": "j"})
        assert second == later

    run(script)


def test_none_at_all_has_to_wait_as_well_and_one_may_try_again() -> None:
    async def script() -> None:
        scene = Scene()
        missing, right = request("attach"), request("attach", token="right")
        scene.take(missing, request("attach", token="wrong"), right)
        await scene.end_delay()
        assert scene.happened == [missing]
        await scene.end_delay()
        assert content(scene.happened[1]) == ("attach", {})
        assert scene.happened[2] == "trusted"
        assert content(scene.happened[3]) == ("attach", {})

    run(script)


@pytest.mark.parametrize(
    "data",
    [
        request("initialize", adapterID="x"),
        request("evaluate", token="stays"),
        b'{"type":"event","event":"attach","seq":1}',
        b'{"type":"response","command":"attach","request_seq":1,"success":true,"seq":1}',
        b"garbage",
        b"[]",
        b"\xff",
        b'{"type":"request","seq":1,"command":"attach","arguments":[]}',
        b'{"type":"request","seq":1,"command":"attach","arguments":{',
        b"[" * 10_000,
    ],
)
def test_everything_else_passes_as_it_came(data: bytes) -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(data)
        assert scene.happened == [data]

    run(script)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"request","seq":7,"command":"attach","arguments":{"\\u0074oken":"right"}}',
        b'{"type":"request","seq":7,"command":"\\u0061ttach","arguments":{"token":"right"}}',
        b'{"type":"request","seq":7,"command":"attach","arguments":{"token":"wrong","token":"right"}}',
        b'{"type":"request","seq":7,"command":"attach","arguments":{},"arguments":{"token":"right"}}',
        b'{"type":"request","seq":7,"command":"attach","arguments":{"token":"right"},"more":"\\udc80"}',
    ],
    ids=["escaped key", "escaped command", "twice", "arguments twice", "not strict"],
)
def test_the_token_is_found_however_it_is_written(data: bytes) -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(data)
        assert scene.happened[0] == "trusted"
        assert content(scene.happened[1]) == ("attach", {})

    run(script)


def test_an_authenticated_client_needs_no_token_but_its_token_is_removed_too() -> None:
    async def script() -> None:
        scene = Scene(trusted=True)
        plain = request("attach", job="j")
        scene.take(request("attach", token="any"), plain)
        assert content(scene.happened[0]) == ("attach", {})
        assert content(scene.happened[1]) == content(plain)
        assert len(scene.happened) == 2

    run(script)


def test_a_client_that_sends_on_and_on_during_the_delay_is_refused() -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(request("attach", token="wrong"), *[request("threads")] * 99)
        assert scene.happened == []
        scene.take(request("threads"))
        assert scene.happened == [("refused", "sent too many messages without the right token")]

    run(script)


def test_a_client_that_leaves_during_the_delay_is_forgotten() -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(request("attach", token="wrong"), request("threads"))
        scene.filter.close()
        scene.verifier.over.set()
        delaying = scene.filter._delaying
        assert delaying is not None
        with pytest.raises(asyncio.CancelledError):
            await delaying
        assert scene.happened == []

    run(script)


def test_tokens_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def script() -> None:
        scene = Scene()
        scene.take(request("attach", token="wrong-secret"))
        await scene.end_delay()

    with caplog.at_level("DEBUG"):
        run(script)
    assert "wrong token" in caplog.text
    assert "wrong-secret" not in caplog.text


@pytest.mark.parametrize(
    ("arguments", "counts", "counts_when_it_attaches"),
    [
        ({}, True, True),
        ({"autoAttach": True}, True, True),
        ({"autoAttach": False}, False, True),
        ({"autoAttach": False, "join": True}, False, False),
        ({"role": "observer"}, False, False),
    ],
)
def test_which_clients_enter_a_session(arguments: dict[str, Any], counts: bool, counts_when_it_attaches: bool) -> None:
    entered: list[None] = []

    async def script() -> None:
        verifier = TokenVerifier(hub_token.digest("right"))
        found = TokenFilter(
            verifier,
            lambda data: None,
            lambda: None,
            lambda reason: None,
            Tasks(),
            on_session=lambda: entered.append(None),
        )
        found.receive(envelope.request(1, "raydap/attach", {}))
        assert entered == []
        found.receive(envelope.request(2, "attach", {**arguments, "token": "right"}))
        found.receive(envelope.request(3, "raydap/workers", {}))
        assert bool(entered) is counts
        found.receive(envelope.request(4, "raydap/attach", {"workers": ["w1"]}))
        assert bool(entered) is counts_when_it_attaches

    run(script)
