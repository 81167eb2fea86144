"""What can go wrong with child sessions; how they work is in tests/e2e/test_per_worker.py."""

import pytest

from raydap.core.errors import Code
from raydap.core.events import (
    ClientConnected,
    DiscoveryFailed,
    DiscoveryReady,
    DoorOpened,
    OpenDoor,
    Problem,
    StartDiscovery,
    StopDiscovery,
)
from support.playbook import FakeClient, Play


def test_a_client_whose_per_worker_attach_failed_sees_everything_in_the_next(play: Play) -> None:
    client = play.client(supportsStartDebuggingRequest=True)
    seq = client.send("attach", sessions="perWorker")
    play.take(OpenDoor)
    client.event("initialized")
    play.take(StartDiscovery)
    play.feed(DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "Nobody there.")))
    client.refusal(Code.DASHBOARD_UNREACHABLE, seq)
    play.warned("Nobody there.")
    play.take(StopDiscovery)
    seq = client.send("attach")
    client.event("initialized")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("there"))
    client.answer(seq)
    client.request("configurationDone")
    (worker,) = play.attached("w1")
    worker.stop()
    assert client.request("threads")["threads"] == [
        {"id": client.stop()["threadId"], "name": "worker · 101 · 10.0.0.1"}
    ]


def guest(play: Play) -> FakeClient:
    """Somebody on this machine who has found the port that was opened for child sessions."""
    stranger = play.connect()
    play.feed(ClientConnected(stranger.id, guest=True))
    stranger.request("initialize", adapterID="raydap", supportsStartDebuggingRequest=True)
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
def test_a_guest_without_a_ticket_can_begin_nothing(
    play: Play, command: str, arguments: dict[str, object], in_session: bool
) -> None:
    if in_session:
        play.session()
    play.feed(DoorOpened(1, "right"))
    stranger = guest(play)
    stranger.refused(Code.OTHER_SESSION, command, **arguments)
    stranger.refused(Code.WRONG_ORDER, "evaluate", expression="1")
    assert stranger.request("threads") == {"threads": []}
