"""Workers that a client attaches and detaches by request, as the list of workers shows them."""

from raydap.core.events import WorkersPaused
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from support.fake_client import FakeClient
from support.playbook import Play

ACTOR = RayFacts(task="Trainer.step", actor="Trainer", actor_name="lead", job="01000000", submission="raysubmit_7")
LISTED = {"autoAttach": False}


def told(client: FakeClient) -> list[tuple[str, str]]:
    """Take all changes of workers from the inbox; return keys and states."""
    changes = []
    while client.inbox and client.inbox[0].get("event") == "raydap/workersChanged":
        changes += [(worker["key"], worker["state"]) for worker in client.event("raydap/workersChanged")["workers"]]
    return changes


def states(client: FakeClient) -> dict[str, str]:
    return {worker["key"]: worker["state"] for worker in client.request("raydap/workers")["workers"]}


def test_only_the_chosen_are_attached(play: Play) -> None:
    client = play.session(LISTED)
    one, two = play.worker("w1"), play.worker("w2")
    play.paused(one, two)
    assert (one.dials, two.dials) == (0, 0)
    client.request("raydap/workers")
    client.request("raydap/attach", workers=["w2"])
    assert (one.dials, two.dials) == (0, 1)
    assert told(client) == [("w2", "attaching"), ("w2", "running")]
    two.stop()
    client.stop()
    assert told(client) == [("w2", "stopped")]


def test_a_choice_goes_before_filters_and_limits(play: Play) -> None:
    client = play.session({"maxWorkers": 1, "actor": "Trainer"})
    lead, second, other = play.worker("w1", ACTOR), play.worker("w2", ACTOR), play.worker("x", RayFacts(task="f"))
    play.paused(lead, second, other)
    client.told(Code.TOO_MANY_WORKERS)
    client.request("raydap/workers")
    client.request("raydap/attach", workers=["x"])
    assert (lead.dials, second.dials, other.dials) == (1, 0, 1)
    told(client)


def test_all_from_now_on(play: Play) -> None:
    client = play.session(LISTED)
    one, two = play.worker("w1"), play.worker("w2")
    play.paused(one)
    client.request("raydap/attach")
    play.paused(one, two)
    assert (one.dials, two.dials) == (1, 1)


def test_a_detached_worker_stays_detached_until_it_is_chosen_again(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    client.request("raydap/workers")
    client.request("raydap/detach", workers=["w1"])
    assert "disconnect" in worker.commands()
    assert client.event("thread") == {"reason": "exited", "threadId": thread}
    assert told(client) == [("w1", "detached")]
    play.tick(2.0)
    play.paused(worker)
    assert told(client) == [("w1", "paused")]
    assert worker.dials == 1
    client.request("raydap/attach", workers=["w1"])
    assert worker.dials == 2
    told(client)


def test_a_list_that_lags_does_not_show_a_detached_worker_as_paused(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    client.request("raydap/detach", workers=["w1"])
    assert told(client) == [("w1", "detached")]
    play.paused(worker)
    assert (told(client), states(client)) == ([], {})
    play.paused()
    play.tick(2.0)
    assert told(client) == []
    # The worker has reached its next breakpoint().
    play.paused(worker)
    assert told(client) == [("w1", "paused")]


def test_a_list_that_was_asked_for_before_a_worker_was_detached_says_nothing_of_it(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    play.tick(1.0)
    client.request("raydap/detach", workers=["w1"])
    assert told(client) == [("w1", "detached")]
    play.tick(2.0)
    play.feed(WorkersPaused((worker.row,), age_s=5.0))
    play.tick(2.0)
    assert (told(client), states(client)) == ([], {})
    play.paused(worker)
    assert told(client) == [("w1", "paused")]


def test_all_requests_may_name_a_worker_that_was_detached_just_now(play: Play) -> None:
    """Ray still lists the worker as paused, and the client shows the row that its user has clicked."""
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    client.request("raydap/detach", workers=["w1"])
    play.paused(worker)
    client.request("raydap/detach", workers=["w1"])
    client.refused(Code.NO_AGENT, "raydap/stack", worker="w1")
    client.request("raydap/attach", workers=["w1"])
    assert worker.dials == 1
    play.tick(2.0)
    assert worker.dials == 2
    told(client)


def test_a_worker_that_dies_after_it_was_detached_leaves_nothing(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    client.request("raydap/detach", workers=["w1"])
    play.paused(worker)
    play.paused()
    client.request("raydap/attach", workers=["w1"])
    play.tick(2.0)
    assert (worker.dials, told(client)) == (1, [("w1", "detached")])
    client.refused(Code.STALE_ID, "raydap/attach", workers=["w1"])
    assert not play.bridge.state.cooling_down


def test_a_worker_that_pauses_again_soon_after_its_detach_is_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    client.request("raydap/detach", workers=["w1"])
    play.paused(worker)
    play.tick(2.0)
    assert told(client) == [("w1", "detached"), ("w1", "paused")]


def test_a_detached_target_can_be_attached_again(play: Play) -> None:
    """The user names targets, and discovery reports each of them only once."""
    client = play.session({"workers": ["127.0.0.1:5678"]})
    target = play.worker("t1", worker_type="TARGET")
    play.paused(target)
    client.request("raydap/detach", workers=["t1"])
    assert states(client) == {"t1": "paused"}
    play.tick(2.0)
    client.request("raydap/attach", workers=["t1"])
    assert target.dials == 2
    told(client)
