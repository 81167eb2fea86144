"""Requests and their answers on one connection, whose other side is a stand-in."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
import pytest

from raydap.client.dap_connection import ConnectionEnded, DapConnection, RequestRefused, SessionError
from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers, WorkerList
from raydap.wire import envelope


class FakePeer:
    """A peer that keeps the sent messages. `answer`, `event` and `take` deliver messages to the connection."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.events: list[tuple[str, Any]] = []
        self.gone: list[str] = []
        self.is_closed = False
        self.connection = DapConnection(lambda name, body: self.events.append((name, body)), self.gone.append)

    async def connect(self, take: Callable[[bytes], None], end: Callable[[str], None]) -> Any:
        self.take, self.end = take, end
        return self

    def send(self, body: bytes) -> None:
        self.sent.append(json.loads(body))

    def close(self) -> None:
        self.is_closed = True

    async def wait_closed(self) -> None:
        assert self.is_closed

    def answer(self, seq: int, body: Any = None) -> None:
        self.take(envelope.response(1, seq, "threads", body))

    def event(self, name: str, body: Any = None) -> None:
        self.take(envelope.event(1, name, body))


def play(work: Callable[[FakePeer], Awaitable[None]]) -> FakePeer:
    peer = FakePeer()

    async def run() -> None:
        await peer.connection.open(peer.connect)
        await work(peer)

    asyncio.run(run())
    return peer


async def begun(*requests: Awaitable[Any]) -> Sequence["asyncio.Future[Any]"]:
    """Start these requests, so that their messages are sent; return their tasks."""
    tasks = [asyncio.ensure_future(request) for request in requests]
    await asyncio.sleep(0)
    return tasks


def test_requests_are_numbered_and_answered_in_any_order() -> None:
    async def work(peer: FakePeer) -> None:
        ask = peer.connection.request
        tasks = await begun(ask("threads"), ask("scopes", {"frameId": 1}), ask("next", {"threadId": 7}))
        assert [(one["seq"], one["type"], one["command"], one["arguments"]) for one in peer.sent] == [
            (1, "request", "threads", {}),
            (2, "request", "scopes", {"frameId": 1}),
            (3, "request", "next", {"threadId": 7}),
        ]
        peer.answer(3, {"three": 3})
        peer.answer(1)
        # A second answer, and an answer to a number that was never sent, have no effect.
        peer.answer(3, {"again": 3})
        peer.answer(99)
        peer.answer(2, {"two": 2})
        assert await asyncio.gather(*tasks) == [{}, {"two": 2}, {"three": 3}]

    play(work)


def test_a_body_is_taken_before_the_events_behind_it() -> None:
    async def work(peer: FakePeer) -> None:
        order: list[str] = []
        peer.connection._on_event = lambda name, body: order.append(name)
        (task,) = await begun(peer.connection.request("threads", take=lambda body: order.append("taken")))
        peer.answer(1)
        peer.event("stopped")
        assert order == ["taken", "stopped"]
        await task

    play(work)


def test_a_refusal_has_its_words_and_its_number() -> None:
    async def work(peer: FakePeer) -> None:
        tasks = await begun(*(peer.connection.request("next") for _ in range(4)))
        peer.take(envelope.failure(1, 1, "next", "It runs.", {"error": {"id": 31}}))
        peer.take(envelope.failure(1, 2, "next", "It runs.", {"error": {"id": "31"}}))
        peer.take(envelope.failure(1, 3, "next", "", b'["odd"]'))
        peer.take(b'{"seq":1,"type":"response","request_seq":4,"success":false,"command":"next"}')
        errors = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(error, RequestRefused) for error in errors)
        assert [(str(error), getattr(error, "code", None)) for error in errors] == [
            ("It runs.", 31),
            ("It runs.", 0),
            ("next has failed.", 0),
            ("next has failed.", 0),
        ]

    play(work)


def test_an_answer_that_cannot_be_read_is_a_session_error() -> None:
    async def work(peer: FakePeer) -> None:
        def picky(body: Any) -> None:
            raise KeyError("threads")

        connection = peer.connection
        taking, asking = await begun(
            connection.request("threads", take=picky),
            connection.ask("raydap/select", SelectArguments(select="x"), SelectedWorkers),
        )
        peer.answer(1)
        peer.answer(2, {"workers": 3})
        with pytest.raises(SessionError, match=r"The answer to threads cannot be read \('threads'\)\."):
            await taking
        with pytest.raises(SessionError, match="The answer to raydap/select comes from another version of raydap"):
            await asking
        assert peer.sent[1]["arguments"] == {"select": "x", "running": False}

    play(work)


def test_the_end_of_the_connection_fails_all_that_wait() -> None:
    async def work(peer: FakePeer) -> None:
        tasks = await begun(peer.connection.request("threads"), peer.connection.request("next"))
        peer.end("connection reset")
        peer.end("again")
        for task in tasks:
            with pytest.raises(ConnectionEnded, match="connection reset"):
                await task
        with pytest.raises(ConnectionEnded, match="connection reset"):
            await peer.connection.request("threads")
        # A late answer has no effect.
        peer.answer(1)
        assert len(peer.sent) == 2

    assert play(work).gone == ["connection reset"]


def test_closing_fails_them_too_without_calling_on_gone() -> None:
    async def work(peer: FakePeer) -> None:
        (task,) = await begun(peer.connection.request("threads"))
        peer.connection.close()
        peer.end("closed")
        with pytest.raises(ConnectionEnded, match="The session is over"):
            await task
        await peer.connection.wait_closed()

    assert play(work).gone == []


def test_a_connection_that_was_never_opened() -> None:
    async def run() -> None:
        connection = DapConnection(lambda name, body: None, lambda reason: None)
        with pytest.raises(ConnectionEnded):
            await connection.request("threads")
        connection.close()
        await connection.wait_closed()

    asyncio.run(run())


def test_a_cancelled_task_cancels_its_request() -> None:
    async def work(peer: FakePeer) -> None:
        tasks = await begun(peer.connection.request("threads"), peer.connection.request("next"))
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert (peer.sent[2]["seq"], peer.sent[2]["command"], peer.sent[2]["arguments"]) == (
            3,
            "cancel",
            {"requestId": 1},
        )
        # Its answer still comes.
        peer.answer(1)
        # A request that was answered, or whose connection ended, need not be cancelled.
        peer.answer(2)
        tasks[1].cancel()
        await asyncio.wait(tasks)
        assert len(peer.sent) == 3
        (late,) = await begun(peer.connection.request("pause"))
        peer.end("closed")
        late.cancel()
        await asyncio.wait([late])
        assert len(peer.sent) == 4

    play(work)


def test_messages_that_cannot_be_read_cost_only_themselves(caplog: pytest.LogCaptureFixture) -> None:
    async def work(peer: FakePeer) -> None:
        def on_event(name: str, body: Any) -> None:
            if name == "output":
                # Reports read output like this. json would raise the same error.
                msgspec.json.decode(body["output"], type=WorkerList)
            peer.events.append((name, body["threadId"]))

        peer.connection._on_event = on_event
        (task,) = await begun(peer.connection.request("threads"))
        for odd in (b"", b"[", b"[]", b'{"seq":1,"type":"event"}', b'{"seq":1,"type":"event","event":"x","body":7}'):
            peer.take(odd)
        peer.event("output", {"output": '{"odd":' + "[" * 50_000})
        # A client like this does not answer requests of the session.
        peer.take(envelope.request(1, "runInTerminal"))
        peer.event("stopped", {"threadId": 7})
        peer.answer(1, {"threads": []})
        assert await task == {"threads": []}
        assert peer.events == [("stopped", 7)]

    with caplog.at_level(logging.INFO, "raydap.client.dap_connection"):
        play(work)
    assert sum("cannot read a message" in record.message for record in caplog.records) == 6
