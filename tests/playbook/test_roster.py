"""The changes of workers that clients receive on request, and how they choose workers to attach (docs/requests.md)."""

from typing import Any

import pytest

from raydap.core.events import DiscoveryFailed, DiscoveryReady, FactsListed, WorkersEnded
from raydap.core.process_info import EndedWorker, RayFacts
from raydap.errors import Code, Problem
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


def test_all_that_is_known_of_a_worker(play: Play) -> None:
    client = play.session(LISTED)
    play.paused(play.worker("w1", ACTOR, pid=7, node="node-a", node_id="abc"))
    play.tick(12.0)
    assert client.request("raydap/workers") == {
        "workers": [
            {
                "key": "w1",
                "name": "Trainer · step · 7 · node-a",
                "title": "Trainer",
                "label": "Trainer · step",
                "where": "7 · node-a",
                "state": "paused",
                "age": 12.0,
                "type": "worker",
                "pid": 7,
                "node": "node-a",
                "nodeId": "abc",
                "job": "01000000",
                "submission": "raysubmit_7",
                "actor": "Trainer",
                "actorName": "lead",
                "task": "Trainer.step",
                "agent": False,
                "threads": [],
                "problem": "",
                "rank": 0,
            }
        ],
        "outage": "",
        "cluster": "the cluster",
    }


def test_a_client_that_has_not_asked_gets_no_changes(play: Play) -> None:
    client = play.session(LISTED)
    play.paused(play.worker("w1"))
    client.nothing()


def test_a_workers_life(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers")
    worker = play.worker("w1")
    worker.hold = {"attach"}
    play.paused(worker)
    assert told(client) == [("w1", "attaching")]
    worker.release()
    assert told(client) == [("w1", "running")]
    worker.stop()
    thread = client.stop()["threadId"]
    assert told(client) == [("w1", "stopped")]
    client.resume(thread)
    assert told(client) == [("w1", "running")]
    assert states(client) == {"w1": "running"}
    worker.die()
    client.event("thread")
    assert told(client) == [("w1", "gone")]
    assert states(client) == {}


def test_a_stop_names_its_threads_and_the_error(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    worker.stop(2, "exception", text="ValueError")
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    (entry,) = client.request("raydap/workers")["workers"]
    name = "worker · 101 · 10.0.0.1"
    assert entry["threads"] == [
        {"threadId": first, "name": f"{name} · #1", "reason": "breakpoint", "error": "", "order": 1, "place": ""},
        {
            "threadId": second,
            "name": f"{name} · #2",
            "reason": "exception",
            "error": "ValueError",
            "order": 2,
            "place": "",
        },
    ]


def test_the_error_is_the_type_alone(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    held = "KeyError       (note: full exception trace is shown but execution is paused at: main)"
    worker.stop(1, "exception", text=held, description="'pear'")
    assert client.stop()["text"] == held
    (entry,) = client.request("raydap/workers")["workers"]
    assert [thread["error"] for thread in entry["threads"]] == ["KeyError"]


def test_a_second_thread_gives_the_first_another_name(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    client.stop()
    client.request("raydap/workers")
    worker.hold = {"stackTrace"}
    worker.stop(2)
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert [thread["name"] for thread in entry["threads"]] == ["worker · 101 · 10.0.0.1 · #1"]
    worker.release()
    client.stop()
    assert told(client) == [("w1", "stopped")]


def test_age_is_that_of_the_state(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.tick(5.0)
    worker.stop(1)
    client.stop()
    play.tick(3.0)
    worker.stop(2)
    client.stop()
    (entry,) = client.request("raydap/workers")["workers"]
    assert entry["age"] == 3.0


def test_labels_that_come_late_are_news_once(play: Play) -> None:
    client = play.session(LISTED)
    client.request("raydap/workers")
    worker = play.worker("w1")
    play.paused(worker)
    assert told(client) == [("w1", "paused")]
    play.feed(FactsListed({worker.key: ACTOR}))
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["name"], entry["actor"]) == ("Trainer · step · 101 · 10.0.0.1", "Trainer")
    play.feed(FactsListed({worker.key: ACTOR}))
    client.nothing()


def test_a_worker_that_another_debugger_takes_is_not_reported_as_gone(play: Play) -> None:
    client = play.session(LISTED)
    client.request("raydap/workers")
    play.paused(play.worker("w1"))
    play.paused()
    assert told(client) == [("w1", "paused"), ("w1", "detached")]


def test_a_stopped_worker_that_dies_says_so(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers")
    (worker,) = play.attached("w1")
    worker.stop()
    told(client)
    client.stop()
    told(client)
    worker.die()
    client.told(Code.WORKER_GONE)
    client.event("thread")
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["state"], entry["threads"]) == ("gone", [])
    assert "The debugger of the stopped worker 101 on 10.0.0.1 is lost" in entry["problem"]


def test_ray_says_later_why_a_running_worker_is_gone(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.feed(FactsListed({worker.key: ACTOR}))
    client.request("raydap/workers")
    worker.die()
    assert client.event("raydap/workersChanged")["workers"][0]["problem"] == ""
    play.feed(WorkersEnded((EndedWorker(worker.row, "Out of memory. More.", crashed=True),)))
    client.told(Code.WORKER_GONE)
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["state"], entry["actor"]) == ("gone", "Trainer")
    assert entry["problem"] == "The running worker 101 on 10.0.0.1 is gone (Out of memory)."


def test_a_worker_that_cannot_be_attached_stays_listed_with_the_reason(play: Play) -> None:
    client = play.session()
    worker = play.worker("w1")
    worker.hold = {"dial"}
    play.paused(worker)
    worker.die(refused=True)
    text = client.told(Code.WORKER_REFUSED)
    (entry,) = client.request("raydap/workers")["workers"]
    assert entry["state"] == "paused"
    assert entry["problem"] == text.rstrip()
    play.paused(worker)
    play.paused()
    assert told(client) == [("w1", "detached")]


def test_an_editor_that_joins_a_watcher_gets_all_workers(play: Play) -> None:
    play.session(LISTED)
    (worker,) = play.attached("w1")
    assert worker.dials == 0
    play.joined()
    assert worker.dials == 1


def test_a_client_that_only_watches_delays_no_attach(play: Play) -> None:
    """The reverse: a client that joins to watch changes nothing for a client that debugs."""
    play.session()
    watcher = play.joined(LISTED)
    (worker,) = play.attached("w1")
    assert worker.dials == 1
    assert states(watcher) == {"w1": "running"}


def test_an_observer_attaches_no_worker(play: Play) -> None:
    observer = play.session({"role": "observer"})
    worker = play.worker("w1")
    play.paused(worker)
    assert states(observer) == {"w1": "paused"}
    play.joined()
    assert worker.dials == 1
    assert told(observer) == [("w1", "attaching"), ("w1", "running")]


def test_an_outage_is_reported_to_watching_clients(play: Play) -> None:
    client = play.session(LISTED)
    client.request("raydap/workers")
    play.feed(DiscoveryFailed(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer.")))
    text = "The dashboard does not answer. [raydap 2002]"
    assert client.event("raydap/workersChanged") == {"workers": [], "outage": text}
    client.told(Code.DASHBOARD_UNREACHABLE)
    assert client.request("raydap/workers")["outage"] == text
    play.feed(DiscoveryReady("the cluster"))
    assert client.event("raydap/workersChanged") == {"workers": [], "outage": ""}
    client.event("output")


def test_a_child_belongs_where_its_parent_does(play: Play) -> None:
    client = play.session()
    parent = play.worker("w1", ACTOR)
    play.paused(parent)
    play.worker("w1/7", port=parent.row.port, pid=7)
    parent.say("debugpyAttach", {"subProcessId": 7})
    child = client.request("raydap/workers")["workers"][1]
    assert (child["type"], child["name"]) == ("child", "child of Trainer · 7 · 10.0.0.1")
    assert (child["job"], child["actor"]) == ("01000000", "Trainer")


def test_one_client_is_shown_a_stop_again(play: Play) -> None:
    client, other = play.session(), play.joined()
    one, two = play.attached("w1", "w2")
    one.stop()
    two.stop()
    stops = [client.stop(), client.stop()]
    other.stop(), other.stop()
    assert [stop["preserveFocusHint"] for stop in stops] == [False, True]
    client.request("raydap/focus", threadId=stops[1]["threadId"])
    assert client.event("stopped") == {**stops[1], "preserveFocusHint": False}
    other.nothing()
    client.resume(stops[1]["threadId"])
    client.refused(Code.NOT_STOPPED, "raydap/focus", threadId=stops[1]["threadId"])
    other.event("continued")


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        ("raydap/attach", {"workers": "w1"}, Code.BAD_ARGUMENT),
        ("raydap/attach", {"workers": [1]}, Code.BAD_ARGUMENT),
        ("raydap/attach", {"workers": ["w1", "nobody"]}, Code.STALE_ID),
        ("raydap/detach", {}, Code.BAD_ARGUMENT),
        ("raydap/detach", {"workers": ["nobody"]}, Code.STALE_ID),
    ],
)
def test_bad_arguments(play: Play, command: str, arguments: dict[str, Any], code: Code) -> None:
    client = play.session(LISTED)
    worker = play.worker("w1")
    play.paused(worker)
    client.refused(code, command, **arguments)
    assert worker.dials == 0


def test_a_worker_that_stops_before_its_attach_is_over_is_shown_as_stopped(play: Play) -> None:
    client = play.session()
    client.request("raydap/workers")
    worker = play.worker("w1")
    worker.hold = {"attach"}
    play.paused(worker)
    worker.stop()
    assert told(client) == [("w1", "attaching")]
    client.stop()
    assert told(client) == [("w1", "stopped")]
    worker.release()
    client.inbox.clear()
