"""A program beside an editor joins the editor's session, and does not keep it alive."""

import pytest

from raydap.core.effects import StartDebuggee, StartDiscovery, StopDebuggee, StopDiscovery
from raydap.core.events import DiscoveryFailed, DiscoveryReady
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code, Problem
from support.playbook import Play


@pytest.mark.parametrize("hub_settings", [None, HubSettings(AttachSettings())], ids=["adapter", "hub"])
def test_a_joining_client_waits_until_a_session_begins(hub_settings: HubSettings | None) -> None:
    play = Play(hub_settings=hub_settings)
    other = play.client()
    attach = other.send("attach", join=True, role="observer")
    assert other.open == {attach: "attach"}, "it begins nothing, and is not refused"
    editor = play.session()
    other.event("initialized")
    other.answer(attach)
    other.request("configurationDone")
    (worker,) = play.attached("w1")
    worker.stop()
    assert other.stop()["threadId"] == editor.stop()["threadId"]
    other.refused(Code.OBSERVER, "continue", threadId=1000)
    play.finish()


def test_a_client_that_joins_a_session_takes_part_at_once() -> None:
    play = Play()
    editor = play.session({"actor": "Trainer"})
    (worker,) = play.attached("w1")
    other = play.joined({"join": True})
    assert worker.connected or editor.open == {}
    other.nothing()
    play.finish()


def test_the_session_ends_with_the_editor_though_others_have_joined() -> None:
    play = Play()
    editor = play.session()
    (worker,) = play.attached("w1")
    other = play.joined({"join": True, "role": "observer"})
    editor.leave()
    play.take(StopDiscovery)
    assert not worker.connected
    other.event("terminated")
    again = other.send("attach", join=True)
    assert list(other.open) == [again]
    play.session()
    other.event("initialized")
    other.answer(again)
    play.finish()


def test_a_program_is_ended_though_others_have_joined() -> None:
    play = Play()
    editor = play.client()
    launch = editor.send("launch", program="/app/train.py")
    editor.event("capabilities")
    editor.event("initialized")
    other = play.client()
    attach = other.send("attach", join=True, role="observer")
    assert attach in other.open, "the program does not run yet"
    editor.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    assert launch in editor.open
    editor.hang_up()
    play.take(StopDebuggee)
    play.take(StopDiscovery)
    other.refusal(Code.OTHER_SESSION, attach)
    play.finish()


def test_a_waiting_client_may_leave() -> None:
    play = Play()
    other = play.client()
    other.send("attach", join=True)
    other.leave()
    play.session()
    play.finish()


def test_a_session_that_cannot_begin_refuses_who_joins() -> None:
    play = Play()
    other = play.client()
    attach = other.send("attach", join=True)
    editor = play.client()
    refused = editor.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "Nobody there.")))
    editor.refusal(Code.DASHBOARD_UNREACHABLE, refused)
    other.refusal(Code.DASHBOARD_UNREACHABLE, attach)
    play.warned("Nobody there.")
    play.take(StopDiscovery)
    again = editor.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    editor.event("initialized")
    editor.answer(again)
    play.finish()


def test_launch_joins_nothing() -> None:
    play = Play()
    play.client().refused(Code.OBSERVER, "launch", program="a.py", join=True)
    play.finish()


def test_a_client_that_joins_a_held_run_leaves_it_to_its_editor() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings()))
    editor = play.session()
    editor.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    (worker,) = play.attached("w1")
    editor.event("breakpoint")
    editor.hang_up()
    worker.commands()
    other = play.joined({"join": True})
    assert other.event("breakpoint")["breakpoint"]["line"] == 7
    other.leave()
    assert "setBreakpoints" not in worker.commands(), "those of the editor stay"
    worker.stop()
    again = play.joined()
    assert again.stop()["threadId"]
    play.finish()
