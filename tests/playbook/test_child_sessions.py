"""Failures of child sessions. tests/e2e/test_per_worker.py tests how they work."""

from typing import Any

import pytest

from raydap.core.effects import OpenChildPort, StartDebuggee, StartDiscovery, StopDiscovery
from raydap.core.events import (
    ChildPortFailed,
    ChildPortOpened,
    ClientConnected,
    DebuggeeStarted,
    DiscoveryFailed,
    DiscoveryReady,
)
from raydap.core.model.client import ClientRole
from raydap.core.requests.table import TABLE
from raydap.errors import Code, Problem
from support.fake_client import FakeClient
from support.playbook import Play


def test_a_client_whose_per_worker_attach_failed_sees_everything_in_the_next(play: Play) -> None:
    client = play.client(supportsStartDebuggingRequest=True)
    seq = client.send("attach", sessions="perWorker")
    play.take(StartDiscovery)
    play.feed(DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "Nobody there.")))
    client.refusal(Code.DASHBOARD_UNREACHABLE, seq)
    play.warned("Nobody there.")
    play.take(StopDiscovery)
    seq = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("there"))
    client.event("initialized")
    client.answer(seq)
    client.request("configurationDone")
    (worker,) = play.attached("w1")
    worker.stop()
    assert client.request("threads")["threads"] == [
        {"id": client.stop()["threadId"], "name": "worker · 101 · 10.0.0.1"}
    ]


def child_session(play: Play) -> FakeClient:
    """Connect as another process of this machine that has found the port for child sessions."""
    stranger = play.connect()
    play.feed(ClientConnected(stranger.id, child_session=True))
    assert (
        "debugs" not in stranger.request("initialize", adapterID="raydap", supportsStartDebuggingRequest=True)["raydap"]
    )
    return stranger


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("launch", {"program": "evil.py"}),
        ("launch", {"program": "evil.py", "__raydap": {"worker": "w1", "token": "wrong"}}),
        ("attach", {}),
        ("attach", {"workers": ["127.0.0.1:1"]}),
        ("attach", {"__raydap": {"worker": "w1", "token": "wrong"}}),
    ],
)
@pytest.mark.parametrize("in_session", [True, False])
def test_a_child_session_without_a_ticket_can_begin_nothing(
    play: Play, command: str, arguments: dict[str, object], in_session: bool
) -> None:
    if in_session:
        play.session()
    play.feed(ChildPortOpened(1, "right"))
    stranger = child_session(play)
    stranger.refused(Code.OTHER_SESSION, command, **arguments)


UNPROVEN_MAY = {
    ClientRole.UNTRUSTED: {"initialize", "disconnect"},
    ClientRole.JOINING: {"initialize", "attach", "disconnect"},
}
"""The requests that a client may send before it has proven its right, by its role."""


@pytest.mark.parametrize("role", UNPROVEN_MAY)
@pytest.mark.parametrize("introduced", [False, True])
@pytest.mark.parametrize("command", TABLE)
def test_a_client_without_token_or_ticket_may_send_nothing_else(
    play: Play, role: ClientRole, introduced: bool, command: str
) -> None:
    """The rule also holds while a program runs that the client could restart, and before it has sent `initialize`."""
    client = play.client(supportsStartDebuggingRequest=True)
    launch = client.send("launch", program="train.py", sessions="perWorker")
    play.take(OpenChildPort)
    play.feed(ChildPortOpened(1, "right"))
    client.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    play.feed(DebuggeeStarted("train.py", 4711))
    client.answer(launch)
    client.inbox.clear()
    stranger = play.connect()
    play.feed(
        ClientConnected(stranger.id, child_session=role is ClientRole.JOINING, admitted=role is ClientRole.JOINING)
    )
    if introduced:
        stranger.request("initialize", adapterID="raydap", supportsStartDebuggingRequest=True)
    if command in UNPROVEN_MAY[role]:
        assert role in TABLE[command].who
        return
    code = Code.NOT_ADMITTED if role is ClientRole.UNTRUSTED else Code.OTHER_SESSION
    stranger.refused(code, command, arguments={"program": "evil.py"}, program="evil.py", terminateDebuggee=True)
    assert play._effects == []
    assert stranger.inbox == client.inbox == []


def parent(play: Play, first: bool = True, **more: Any) -> FakeClient:
    """Return a client that requests a session for each worker; the port for them is open."""
    client = play.client(supportsStartDebuggingRequest=True)
    attach = client.send("attach", sessions="perWorker", **more)
    if first:
        play.take(StartDiscovery)
        play.feed(DiscoveryReady("there"))
        play.take(OpenChildPort)
        play.feed(ChildPortOpened(1, "right"))
    client.event("initialized")
    client.answer(attach)
    client.request("configurationDone")
    return client


def offered(client: FakeClient) -> list[str]:
    """Return the workers for which the client was asked to start a session."""
    asked = [message for message in client.inbox if message.get("command") == "startDebugging"]
    client.inbox = [message for message in client.inbox if message not in asked]
    return [message["arguments"]["configuration"]["__raydap"]["worker"] for message in asked]


@pytest.mark.parametrize(("given", "expected"), [({"type": "ray"}, {"type": "ray"}), ({}, {}), ({"type": 7}, {})])
def test_a_child_has_the_type_of_its_parents_configuration(
    play: Play, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The adapterID of `initialize` may differ: nvim-dap sends `nvim-dap`."""
    client = parent(play, **given)
    play.attached("w1")
    (asked,) = client.inbox
    client.inbox.clear()
    configuration = asked["arguments"]["configuration"]
    assert {key: value for key, value in configuration.items() if key == "type"} == expected


def child(play: Play, worker: str) -> FakeClient:
    client = play.connect()
    play.feed(ClientConnected(client.id, child_session=True))
    client.request("initialize", adapterID="raydap")
    client.request("attach", __raydap={"worker": worker, "token": "right"})
    client.event("initialized")
    client.request("configurationDone")
    return client


def test_a_second_parent_is_offered_what_is_attached_already(play: Play) -> None:
    first = parent(play)
    play.attached("w1", "w2")
    assert offered(first) == ["w1", "w2"]
    second = parent(play, first=False)
    assert offered(second) == ["w1", "w2"]
    assert offered(first) == []


def test_a_worker_that_is_detached_while_it_is_attached_is_not_offered(play: Play) -> None:
    client = parent(play)
    worker = play.worker("w1")
    worker.hold.add("attach")
    play.paused(worker)
    client.request("raydap/detach", workers=["w1"])
    worker.release()
    assert offered(client) == []
    assert not worker.connected


def test_a_child_session_can_use_its_own_workers_handles_only(play: Play) -> None:
    editor = parent(play)
    one, two = play.attached("w1", "w2")
    offered(editor)
    mine, other = child(play, "w1"), child(play, "w2")
    for worker in (one, two):
        worker.stop()
    thread, foreign = mine.stop()["threadId"], other.stop()["threadId"]
    two.source_reference = 0
    frame = other.request("stackTrace", threadId=foreign)["stackFrames"][0]["id"]
    variables = other.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    two.commands()
    for command, arguments in (
        ("stackTrace", {"threadId": foreign}),
        ("continue", {"threadId": foreign}),
        ("next", {"threadId": foreign}),
        ("pause", {"threadId": foreign}),
        ("scopes", {"frameId": frame}),
        ("evaluate", {"expression": "x", "frameId": frame}),
        ("variables", {"variablesReference": variables}),
        ("raydap/focus", {"threadId": foreign}),
        ("raydap/continue", {"threads": [foreign]}),
        ("raydap/step", {"threadId": foreign, "command": "next"}),
        ("raydap/evaluate", {"expression": "x", "threads": [foreign]}),
    ):
        assert "not one of raydap's" in mine.refused(Code.STALE_ID, command, **arguments), command
    assert two.commands() == []
    mine.request("stackTrace", threadId=thread)
    assert editor.request("raydap/evaluate", expression="x", threads=[foreign])["results"][0]["value"] == "x of w2"


def test_without_an_id_a_child_session_looks_at_its_own_worker(play: Play) -> None:
    editor = parent(play)
    one, two = play.attached("w1", "w2")
    offered(editor)
    mine = child(play, "w2")
    one.stop()
    mine.refused(Code.NOT_STOPPED, "evaluate", expression="x")
    two.stop()
    mine.stop()
    assert mine.request("evaluate", expression="x")["result"] == "x of w2"
    assert one.commands()[-1] != "evaluate"


def test_without_a_port_for_child_sessions_the_parent_shows_all_workers(play: Play) -> None:
    client = play.client(supportsStartDebuggingRequest=True)
    attach = client.send("attach", sessions="perWorker")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("there"))
    play.take(OpenChildPort)
    client.event("initialized")
    client.answer(attach)
    client.request("configurationDone")
    (worker,) = play.attached("w1")
    worker.stop()
    client.nothing()
    play.feed(ChildPortFailed("too many open files"))
    assert "too many open files" in client.told(Code.INTERNAL)
    client.stop()
    play.attached("w2")[0].stop()
    client.stop()
