"""A hub and the program that it has launched."""

import pytest

from raydap.core.effects import StartDebuggee, StartDiscovery, StopDebuggee, StopDiscovery
from raydap.core.events import DebuggeeExited, DebuggeeStarted, DiscoveryReady
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code
from support.fake_client import FakeClient
from support.playbook import Play


@pytest.fixture
def play() -> Play:
    """Return the session of a hub that holds workers indefinitely."""
    return Play(hub_settings=HubSettings(AttachSettings()))


def launched(play: Play) -> FakeClient:
    """Return a client whose launched program runs."""
    client = play.client()
    launch = client.send("launch", program="train.py")
    client.event("capabilities"), client.event("initialized")
    client.request("configurationDone")
    play.take(StartDebuggee), play.take(StartDiscovery)
    play.feed(DebuggeeStarted("train.py", 7))
    client.answer(launch)
    client.event("process")
    return client


def test_a_launched_program_is_held_with_its_workers_and_ends_the_session_when_it_ends(play: Play) -> None:
    client = launched(play)
    client.leave()
    play.joined().leave()
    play.feed(DebuggeeExited(0))
    play.take(StopDebuggee), play.take(StopDiscovery)
    assert "program" not in str(play.bridge.state.run.settings)
    play.finish()


def ended(play: Play, client: FakeClient) -> None:
    """End the program while its client is connected."""
    play.feed(DebuggeeExited(0))
    client.event("output"), client.event("exited"), client.event("terminated")


def test_a_hub_whose_program_has_ended_takes_the_next_launch(play: Play) -> None:
    first = launched(play)
    ended(play, first)
    first.leave()
    play.take(StopDebuggee), play.take(StopDiscovery)
    second = launched(play)
    ended(play, second)
    second.leave()
    play.take(StopDebuggee), play.take(StopDiscovery)
    play.finish()


def test_workers_that_outlive_their_program_are_held_until_they_go(play: Play) -> None:
    client = launched(play)
    play.feed(DiscoveryReady("the cluster"))
    (worker,) = play.attached("detached actor")
    worker.stop()
    client.stop()
    ended(play, client)
    client.leave()
    assert worker.connected
    assert "join it" in play.client().refused(Code.OTHER_SESSION, "launch", program="train.py")
    worker.die()
    play.warned("is lost")
    again = play.client()
    launch = again.send("launch", program="train.py")
    play.take(StopDebuggee), play.take(StopDiscovery)
    again.event("capabilities"), again.event("initialized")
    again.hang_up()
    play.take(StopDiscovery)
    assert launch in again.open


def test_a_restart_with_new_arguments_stays_on_the_hubs_cluster() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(dashboard="http://head:8265")))
    client = launched(play)
    client.request("restart", arguments={"program": "other.py"})
    play.take(StopDebuggee)
    settings = play.take(StartDebuggee).settings
    assert (settings.program, settings.dashboard) == ("other.py", "http://head:8265")
    client.request("restart", arguments={"program": "other.py"})
    play.take(StopDebuggee), play.take(StartDebuggee)
    text = client.refused(Code.OTHER_SESSION, "restart", arguments={"program": "x.py", "dashboard": "http://b:1"})
    assert '"dashboard"' in text
