"""`cancel` answers the cancelled request at once, and drops its later results (invariant 3)."""

from typing import Any

import pytest

from raydap.core.effects import StartDiscovery, StopDiscovery
from raydap.core.events import DiscoveryReady
from support.playbook import Play


def test_an_evaluation_under_way_is_answered_and_its_late_answer_dropped(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.hold.add("evaluate")
    slow = client.send("evaluate", expression="train()")
    client.request("cancel", requestId=slow)
    assert client.refusal(None, slow) == "cancelled"
    worker.release()
    client.nothing()
    assert client.request("evaluate", expression="x")["result"] == "x of w1"


@pytest.mark.parametrize("end", ["refuse", "die", "silence"])
def test_however_the_cancelled_request_ends_no_more_messages_are_sent_about_it(play: Play, end: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("stackTrace")
    slow = client.send("stackTrace", threadId=thread)
    request = worker.heard[-1]
    client.request("cancel", requestId=slow)
    client.refusal(None, slow)
    if end == "refuse":
        worker.refuse(request, "no")
        worker._held.clear()
    elif end == "die":
        worker.exit(1)
        client.event("thread")
        worker.die()
    else:
        play.tick(31)
    client.nothing()


def test_a_thread_keeps_running_though_the_wait_for_it_is_cancelled(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    worker.hold.add("evaluate")
    seq = client.send("continue", threadId=thread)
    client.request("cancel", requestId=seq)
    client.refusal(None, seq)
    worker.release()
    assert client.event("continued") == {"threadId": thread, "allThreadsContinued": False}
    client.nothing()


def test_a_cancelled_attach_is_not_answered_again(play: Play) -> None:
    client = play.client()
    attach = client.send("attach")
    play.take(StartDiscovery)
    client.request("cancel", requestId=attach)
    assert client.refusal(None, attach) == "cancelled"
    play.take(StopDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.nothing()


def test_a_client_can_attach_again_after_a_cancelled_attach(play: Play) -> None:
    client = play.client()
    first = client.send("attach")
    play.take(StartDiscovery)
    client.request("cancel", requestId=first)
    client.refusal(None, first)
    play.take(StopDiscovery)
    again = client.send("attach", task="train*")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(again)
    client.request("configurationDone")


def test_a_cancelled_attach_leaves_the_session_of_another_client(play: Play) -> None:
    editor = play.session()
    (worker,) = play.attached("w1")
    other = play.client()
    attach = other.send("attach")
    other.event("initialized")
    other.answer(attach)
    other.request("cancel", requestId=attach)
    waiting = play.client()
    joining = waiting.send("attach", join=True)
    waiting.event("initialized")
    waiting.answer(joining)
    worker.stop()
    editor.stop()


def test_a_client_that_waits_to_join_can_cancel_that(play: Play) -> None:
    other = play.client()
    attach = other.send("attach", join=True)
    other.request("cancel", requestId=attach)
    other.refusal(None, attach)
    play.session()
    other.nothing()


@pytest.mark.parametrize("named", [None, 0, 1, 2, 99, -1, "1", True, 1.0, [], {}, "open"])
def test_what_is_not_under_way_cannot_be_cancelled_and_that_is_no_error(play: Play, named: Any) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    worker.hold.add("evaluate")
    slow = client.send("evaluate", expression="x")
    client.request("cancel", requestId=named)
    client.request("cancel", requestId=client._seq + 1)  # The seq of this `cancel` itself.
    client.request("cancel")
    worker.release()
    assert client.answer(slow)["result"] == "x of w1"


def test_each_client_cancels_its_own_requests_only(play: Play) -> None:
    first, second = play.session(), play.joined()
    (worker,) = play.attached("w1")
    worker.stop()
    first.stop()
    second.stop()
    worker.hold.add("evaluate")
    slow = first.send("evaluate", expression="x")
    second.request("cancel", requestId=slow)
    worker.release()
    assert first.answer(slow)["result"] == "x of w1"
