"""The beginning and the end of sessions: attach, joining, leaving, launch, outages."""

from collections.abc import Callable
from typing import Any

import pytest

from raydap.analysis.ray_state import ListCut
from raydap.core.effects import StartDiscovery, StopDiscovery
from raydap.core.events import DiscoveryFailed, DiscoveryReady, Shutdown
from raydap.core.settings import AttachSettings
from raydap.errors import Code, Problem
from support.fake_client import FakeClient
from support.playbook import VSCODE, Play

DOWN = DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))


def test_attach_is_answered_when_discovery_is(play: Play) -> None:
    client = play.client()
    attach = client.send("attach", dashboard="http://127.0.0.1:8265")
    assert play.take(StartDiscovery) == StartDiscovery(AttachSettings(dashboard="http://127.0.0.1:8265"))
    client.nothing()
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(attach)
    client.request("setExceptionBreakpoints", filters=[])
    client.request("configurationDone")


def test_workers_wait_until_the_client_is_configured(play: Play) -> None:
    client = play.client()
    attach = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(attach)
    worker = play.worker("w1")
    play.paused(worker)
    assert worker.dials == 0
    client.request("configurationDone")
    assert worker.dials == 1


def test_a_cluster_that_does_not_answer_at_first_fails_the_attach_which_can_be_repeated(play: Play) -> None:
    client = play.client()
    attach = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DOWN)
    # The refusal comes before `initialized`, so the client does not configure a session that has failed.
    assert "does not answer" in client.refusal(Code.DASHBOARD_UNREACHABLE, attach)
    play.warned("does not answer")
    play.take(StopDiscovery)
    again = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(again)
    client.request("configurationDone")


def test_an_outage_and_its_end_are_reported_once(play: Play) -> None:
    client = play.session()
    for _ in range(2):
        for _ in range(3):
            play.feed(DOWN)
        client.told(Code.DASHBOARD_UNREACHABLE)
        for _ in range(3):
            play.feed(DiscoveryReady("the cluster"))
        assert client.event("output") == {"category": "console", "output": "the cluster answers again.\n"}


@pytest.mark.parametrize("command", ["attach", "launch", "configurationDone"])
def test_the_order_of_the_beginning_is_kept(play: Play, command: str) -> None:
    client = play.connect()
    assert "only after" in client.refused(Code.WRONG_ORDER, command)


def test_initialize_and_attach_come_once(play: Play) -> None:
    client = play.session()
    client.refused(Code.WRONG_ORDER, "initialize", adapterID="x")
    client.refused(Code.WRONG_ORDER, "attach")
    client.refused(Code.WRONG_ORDER, "launch", program="x.py")
    client.request("configurationDone")


@pytest.mark.parametrize("arguments", [{"linesStartAt1": False}, {"columnsStartAt1": 0}, {"pathFormat": "uri"}])
def test_other_ways_to_count_are_refused(play: Play, arguments: dict[str, Any]) -> None:
    (name,) = arguments
    assert name in play.connect().refused(Code.BAD_ARGUMENT, "initialize", adapterID="x", **arguments)


def test_wrong_arguments_are_named_and_start_nothing(play: Play) -> None:
    client = play.client()
    assert '"filter"' in client.refused(Code.UNKNOWN_ARGUMENT, "attach", filter="x")
    assert '"maxWorkers"' in client.refused(Code.BAD_ARGUMENT, "attach", maxWorkers="two")
    assert '"program"' in client.refused(Code.BAD_ARGUMENT, "launch")


def test_two_clients_share_ids_and_stops_but_not_seq(play: Play) -> None:
    first = play.session()
    second = play.joined()
    (worker,) = play.attached("w1")
    worker.stop()
    stop = first.stop()
    assert second.stop() == stop
    frames = [client.request("stackTrace", threadId=stop["threadId"])["stackFrames"] for client in (first, second)]
    assert frames[0] == frames[1]
    second.resume(stop["threadId"])
    assert first.event("continued")["threadId"] == stop["threadId"]


def test_a_client_that_joins_later_sees_the_present_stops(play: Play) -> None:
    first = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    two.stop()
    stops = [first.stop(), first.stop()]
    second = play.client()
    second.request("attach")
    second.event("initialized")
    second.nothing()
    second.request("configurationDone")
    assert [second.stop()["threadId"] for _ in stops] == [stop["threadId"] for stop in stops]


def test_a_client_that_joins_for_something_else_is_refused(play: Play) -> None:
    play.session({"job": "01"})
    other = play.client()
    assert "join it" in other.refused(Code.OTHER_SESSION, "attach", job="02")
    assert "join it" in other.refused(Code.OTHER_SESSION, "launch", program="x.py")
    other.request("attach", job="01")
    other.event("initialized")


@pytest.mark.parametrize("leave", [FakeClient.leave, FakeClient.hang_up])
def test_the_last_one_to_leave_frees_everything(play: Play, leave: Callable[[FakeClient], None]) -> None:
    first, second = play.session(), play.joined()
    (worker,) = play.attached("w1")
    worker.stop()
    first.stop()
    second.stop()
    leave(first)
    assert worker.connected
    assert second.request("threads")["threads"]
    leave(second)
    play.take(StopDiscovery)
    assert not worker.connected
    assert play.bridge.idle
    assert not len(play.bridge.state.handles)


def test_after_the_last_one_a_new_session_may_be_another(play: Play) -> None:
    first = play.session({"job": "01"})
    first.leave()
    play.take(StopDiscovery)
    second = play.session({"job": "02"})
    worker = play.worker("w1")
    play.paused(worker)
    assert worker.dials == 0, "its label says nothing of job 02"
    second.nothing()


def test_a_new_session_has_none_of_the_old_ones_breakpoints(play: Play) -> None:
    first = play.session()
    first.request("setFunctionBreakpoints", breakpoints=[{"name": "f"}])
    first.request("setExceptionBreakpoints", filters=[])
    first.leave()
    play.take(StopDiscovery)
    play.session()
    (worker,) = play.attached("w1")
    told = {message["command"]: message.get("arguments") for message in worker.heard}
    assert "setFunctionBreakpoints" not in told
    assert told["setExceptionBreakpoints"] == {"filters": ["uncaught"]}


def test_a_client_that_only_looked_in_ends_nothing(play: Play) -> None:
    first = play.session()
    other = play.client()
    other.leave()
    (worker,) = play.attached("w1")
    worker.stop()
    first.stop()


def test_a_client_that_leaves_while_attaching_is_not_answered(play: Play) -> None:
    client = play.client()
    client.send("attach")
    play.take(StartDiscovery)
    client.hang_up()
    play.take(StopDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.nothing()


def test_a_worker_gets_one_disconnect_though_raydap_ends_before_its_answer(play: Play) -> None:
    """debugpy's adapter dies if it has an answer to forward and its client has disconnected."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold = {"disconnect"}
    worker.commands()
    client.send("disconnect")
    play.take(StopDiscovery)
    play.feed(Shutdown())
    assert worker.commands() == ["evaluate", "disconnect"]
    worker.release()
    assert not worker.connected
    client.inbox.clear()
    play._effects.clear()


def test_what_vscode_asks_is_cancelled_when_it_leaves(play: Play) -> None:
    """VS Code sends more stack requests until the adapter has ended, and waits for their answers."""
    client = play.session(**VSCODE)
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold |= {"disconnect", "stackTrace"}
    stack = client.send("stackTrace", threadId=thread)
    client.leave()
    assert client.refusal(None, stack) == "cancelled"
    play.take(StopDiscovery)
    worker.release("stackTrace")
    asked = worker.commands()
    for command in ("stackTrace", "threads", "raydap/unknown", "disconnect"):
        assert client.refused(None, command, threadId=thread) == "cancelled"
    assert worker.commands() == []
    assert asked[-1] == "disconnect"
    worker.release()
    client.nothing()
    assert play.bridge.idle
    client.hang_up()
    client.raw(b'{"seq":9,"type":"request","command":"threads"}')
    client.nothing()


def test_what_others_ask_has_no_answer_when_they_leave(play: Play) -> None:
    """Emacs would show each failure to its user."""
    client = play.session(clientID="vscode")
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("stackTrace")
    client.send("stackTrace", threadId=thread)
    client.leave()
    client.send("threads")
    worker.release()
    client.nothing()
    play.take(StopDiscovery)


def test_a_start_that_its_user_ends_is_no_failure(play: Play) -> None:
    client = play.client(**VSCODE)
    client.send("attach")
    play.take(StartDiscovery)
    client.leave()
    client.nothing()
    play.take(StopDiscovery)


def test_a_list_that_was_cut_is_reported_to_the_user(play: Play) -> None:
    client = play.session()
    play.feed(ListCut("Ray lists at most 10,000 tasks, so some workers are shown without their current task."))
    assert "Ray lists at most 10,000 tasks" in client.event("output")["output"]
