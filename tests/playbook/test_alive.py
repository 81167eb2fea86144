"""Clients that request all workers also get the running workers that are not attached (docs/requests.md)."""

from typing import Any

import pytest

from raydap.core.effects import ReleaseAgent, StartDebuggee, StartDiscovery, WatchAlive
from raydap.core.events import AgentCalled, AgentsSearched, WorkerGone, WorkersAlive
from raydap.core.process_info import RayFacts
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code
from support.alive_workers import end, listed, told, watching
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import launched

ACTOR = RayFacts(task="Trainer.step", actor="Trainer", job="01000000")
DRIVER = RayFacts(task="driver train.py", job="01000000")
LISTED = {"autoAttach": False}


def released(play: Play, key: str, **row: Any) -> FakeWorker:
    """Return a worker with an agent, released because nothing can stop it."""
    worker = play.worker(key, ACTOR, port=0, agent=f"/sockets/{key}", **row)
    play.feed(AgentCalled(worker.row))
    assert play.take(ReleaseAgent).worker == key
    return worker


def test_all_that_is_known_of_an_alive_worker(play: Play) -> None:
    client = watching(play)
    play.alive(play.worker("w1", ACTOR, pid=7, node="node-a", node_id="abc", port=0))
    assert client.event("raydap/workersChanged") == {
        "workers": [
            {
                "key": "w1",
                "name": "Trainer · step · 7 · node-a",
                "title": "Trainer",
                "label": "Trainer · step",
                "where": "7 · node-a",
                "state": "alive",
                "age": 0.0,
                "type": "worker",
                "pid": 7,
                "node": "node-a",
                "nodeId": "abc",
                "job": "01000000",
                "submission": "",
                "actor": "Trainer",
                "actorName": "",
                "task": "Trainer.step",
                "agent": False,
                "threads": [],
                "problem": "",
                "rank": 0,
            }
        ],
        "outage": "",
        "complete": True,
    }
    end(play, client)


def test_what_runs_nothing_is_idle_and_a_driver_is_no_worker(play: Play) -> None:
    client = watching(play)
    play.alive(
        play.worker("w1"), play.worker("d", DRIVER, worker_type="DRIVER"), play.worker("e", worker_type="DRIVER")
    )
    labels = [(worker["label"], worker["type"]) for worker in client.event("raydap/workersChanged")["workers"]]
    assert labels == [("idle", "worker"), ("driver train.py", "driver"), ("driver", "driver")]
    end(play, client)


def test_the_source_is_asked_only_while_a_client_requests_all(play: Play) -> None:
    client = play.session(LISTED)
    assert listed(client) == {}
    assert listed(client, all=False) == {}
    other = play.joined(LISTED)
    for each in (client, other):
        listed(each, all=True)
    assert play.take(WatchAlive) == WatchAlive(True)
    other.leave()
    assert play._effects == []
    play.alive(play.worker("w1"))
    assert told(client) == [("w1", "alive")]
    assert listed(client) == {}
    assert play.take(WatchAlive) == WatchAlive(False)
    # A list that was already under way arrives too late.
    play.alive(play.worker("w2"))
    assert told(client) == []
    assert not play.bridge.state.run.processes.alive


def test_a_launched_program_is_looked_for_when_it_starts(play: Play) -> None:
    client = play.client()
    client.send("launch", program="train.py")
    client.event("capabilities")
    client.event("initialized")
    listed(client, all=True)
    assert play._effects == []
    client.request("configurationDone")
    play.take(StartDebuggee)
    play.take(StartDiscovery)
    assert play.take(WatchAlive) == WatchAlive(True)
    end(play, client)


def test_an_alive_workers_life(play: Play) -> None:
    client = watching(play)
    worker = play.worker("w1", ACTOR)
    play.alive(worker)
    play.alive(worker)
    assert told(client) == [("w1", "alive")]
    worker.hold = {"attach"}
    play.paused(worker)
    assert told(client) == [("w1", "attaching")]
    play.alive(worker)
    worker.release()
    play.alive(worker)
    assert told(client) == [("w1", "running")]
    client.request("raydap/detach", workers=["w1"])
    assert told(client) == [("w1", "detached")]
    play.alive(worker)
    assert told(client) == [("w1", "alive")]
    play.tick(2.0)
    play.paused(worker)
    assert told(client) == [("w1", "paused")]
    play.alive(worker)
    play.paused()
    assert told(client) == [("w1", "detached")]
    play.alive(worker)
    assert listed(client, all=True) == {"w1": "alive"}
    told(client)
    play.alive()
    assert told(client) == [("w1", "gone")]
    assert listed(client, all=True) == {}
    end(play, client)


def test_a_client_that_does_not_request_all_gets_the_same_list_as_before(play: Play) -> None:
    client = play.session()
    everything = play.joined()
    listed(everything, all=True)
    play.take(WatchAlive)
    assert listed(client) == {}
    worker, other = play.worker("w1", ACTOR), play.worker("w2", ACTOR)
    play.alive(worker, other)
    assert told(client) == []
    assert listed(client) == {}
    play.paused(worker)
    assert told(client) == [("w1", "attaching"), ("w1", "running")]
    client.request("raydap/detach", workers=["w1"])
    play.alive(worker, other)
    play.alive()
    assert told(client) == [("w1", "detached")]
    assert told(everything)[-2:] == [("w2", "gone"), ("w1", "gone")]
    listed(everything)
    assert play.take(WatchAlive) == WatchAlive(False)


def test_workers_dropped_because_no_client_requests_all_cause_no_event(play: Play) -> None:
    client = watching(play)
    play.alive(play.worker("w1"))
    told(client)
    assert listed(client) == {}
    play.take(WatchAlive)
    client.nothing()
    assert listed(client, all=True) == {}
    play.take(WatchAlive)
    play.alive(play.workers["w1"])
    assert told(client) == [("w1", "alive")]
    end(play, client)


def test_a_change_of_its_task_is_reported_once(play: Play) -> None:
    client = watching(play)
    worker = play.worker("w1")
    play.alive(worker)
    assert told(client) == [("w1", "alive")]
    play.tick(5.0)
    for _ in range(2):
        play.feed(WorkersAlive({worker.row: RayFacts(task="normalise")}))
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["label"], entry["state"], entry["age"]) == ("normalise", "alive", 5.0)
    client.nothing()
    end(play, client)


def test_a_worker_that_has_died_does_not_come_back_by_a_list_from_before(play: Play) -> None:
    client = watching(play)
    (worker,) = play.attached("w1")
    told(client)
    worker.say("terminated")
    assert told(client) == [("w1", "gone")]
    play.alive(worker)
    assert told(client) == []
    end(play, client)


def test_one_with_an_agent_is_attached_when_it_is_named(play: Play) -> None:
    client = launched(play, maxWorkers=1, actor="Rollout")
    worker = released(play, "w1")
    listed(client, all=True)
    play.take(WatchAlive)
    play.alive(worker)
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["state"], entry["agent"], entry["label"]) == ("alive", True, "Trainer · step")
    client.request("raydap/attach", workers=["w1"])
    assert told(client) == [("w1", "attaching"), ("w1", "running")]
    assert worker.dials == 1
    (entry,) = client.request("raydap/workers", all=True)["workers"]
    assert (entry["state"], entry["label"]) == ("running", "Trainer · step")
    client.request("raydap/detach", workers=["w1"])
    play.alive(worker)
    assert told(client) == [("w1", "detached"), ("w1", "alive")]
    client.request("raydap/attach", workers=["w1"])
    assert told(client) == [("w1", "attaching"), ("w1", "running")]
    end(play, client)


def test_one_without_an_agent_says_why_it_cannot_be_attached(play: Play) -> None:
    client = watching(play, LISTED)
    worker = play.worker("w1")
    play.alive(worker)
    told(client)
    client.request("raydap/attach", workers=["w1"])
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["state"], worker.dials) == ("alive", 0)
    assert "has no agent" in entry["problem"]
    assert f"[raydap {Code.NO_AGENT.value}]" in entry["problem"]
    play.alive(worker)
    client.nothing()
    # The message promises that raydap attaches when the worker calls breakpoint().
    play.paused(worker)
    assert told(client) == [("w1", "attaching"), ("w1", "running")]
    client.request("raydap/detach", workers=["w1"])
    play.alive(worker)
    assert [entry["problem"] for entry in client.request("raydap/workers", all=True)["workers"]] == [""]
    told(client)
    end(play, client)


def test_a_wish_can_be_taken_back(play: Play) -> None:
    client = watching(play, LISTED)
    worker = play.worker("w1")
    play.alive(worker)
    client.request("raydap/attach", workers=["w1"])
    client.request("raydap/detach", workers=["w1"])
    assert told(client) == [("w1", "alive")]
    assert [entry["problem"] for entry in client.request("raydap/workers", all=True)["workers"]] == [""]
    play.paused(worker)
    assert told(client) == [("w1", "paused")]
    assert worker.dials == 0
    end(play, client)


def test_a_worker_that_another_debugger_holds_stays_alive_with_that_problem(play: Play) -> None:
    client = launched(play)
    worker = released(play, "w1")
    listed(client, all=True)
    play.take(WatchAlive)
    play.alive(worker)
    told(client)
    worker.hold.add("dial")
    for _ in range(2):
        client.request("raydap/attach", workers=["w1"])
        worker.connected = False
        play.feed(WorkerGone(worker.key, "raydap with pid 7 debugs it"))
        if worker.dials == 1:
            assert told(client) == [("w1", "attaching")]
            text = client.told(Code.WORKER_BUSY)
        # The message is sent once, because the error repeats.
        play.alive(worker)
        (entry,) = client.request("raydap/workers", all=True)["workers"]
        assert (entry["state"], entry["problem"]) == ("alive", text.rstrip())
        assert told(client)[-2:] == [("w1", "detached"), ("w1", "alive")]
    end(play, client)


def test_a_driver_with_an_agent_is_listed_once(play: Play) -> None:
    """The agent calls before the driver gets its id from Ray."""
    client = launched(play)
    driver = play.worker("pid-4711", pid=4711, port=0, agent="/sockets/d", worker_type="DRIVER")
    play.feed(AgentCalled(driver.row))
    listed(client, all=True)
    play.take(WatchAlive)
    in_ray = play.worker("01000000ffff", DRIVER, pid=4711, worker_type="DRIVER")
    other = play.worker("02000000ffff", DRIVER, pid=4712, worker_type="DRIVER")
    play.alive(in_ray, other)
    assert told(client) == [("02000000ffff", "alive"), ("pid-4711", "running")]
    labels = {worker["key"]: worker["label"] for worker in client.request("raydap/workers", all=True)["workers"]}
    assert labels == {"02000000ffff": "driver train.py", "pid-4711": "driver train.py"}
    client.request("raydap/detach", workers=["pid-4711"])
    play.alive(in_ray, other)
    assert told(client) == [("pid-4711", "detached"), ("pid-4711", "alive")]
    client.request("raydap/attach", workers=["pid-4711"])
    assert told(client) == [("pid-4711", "attaching"), ("pid-4711", "running")]
    assert listed(client, all=True) == {"02000000ffff": "alive", "pid-4711": "running"}
    driver.die()
    assert told(client) == [("pid-4711", "gone")]
    # Ray may still list the driver.
    play.alive(in_ray, other)
    assert told(client) == []
    end(play, client)


@pytest.mark.parametrize("hub", [True, False])
def test_a_run_that_ends_leaves_nothing(hub: bool) -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), hold=60.0) if hub else None)
    client = watching(play)
    play.alive(play.worker("w1"))
    told(client)
    client.leave()
    assert [effect for effect in play._effects if isinstance(effect, WatchAlive)] == [WatchAlive(False)] * hub
    assert not play.bridge.state.run.processes.alive
    assert not play.bridge.state.run.roster.entries
    play.leave()


def test_a_client_is_notified_when_ray_has_listed_the_workers(play: Play) -> None:
    client = watching(play)
    play.alive()
    assert client.event("raydap/workersChanged") == {"workers": [], "outage": "", "complete": True}
    play.alive()
    client.nothing()
    assert client.request("raydap/workers", all=True)["complete"] is True
    assert "complete" not in client.request("raydap/workers")
    play.take(WatchAlive)
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    play.alive()
    assert client.event("raydap/workersChanged")["complete"] is True


def test_a_client_that_requests_all_gets_the_labels_of_paused_workers(play: Play) -> None:
    client = watching(play, LISTED)
    worker = play.worker("w1")
    play.paused(worker)
    assert client.event("raydap/workersChanged")["workers"][0]["actor"] == ""
    play.feed(WorkersAlive({worker.row: ACTOR}))
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert (entry["actor"], entry["state"]) == ("Trainer", "paused")


def test_the_list_is_complete_when_the_agents_are_found_too(play: Play) -> None:
    play.search_ends = False
    client = watching(play)
    play.alive(play.worker("w1", ACTOR, port=0))
    assert "complete" not in client.event("raydap/workersChanged")
    play.feed(AgentsSearched())
    assert client.event("raydap/workersChanged") == {"workers": [], "outage": "", "complete": True}
    end(play, client)


def test_the_list_of_running_workers_has_the_task_of_a_worker_that_has_just_paused(play: Play) -> None:
    client = play.session({"task": "Trainer.step"})
    client.request("raydap/workers", all=True)
    worker = play.worker("w1", RayFacts(actor="Trainer", task="Trainer.reset"))
    play.alive(worker)
    worker.facts = None
    play.paused(worker)
    assert not worker.dials, "Ray has not sent its task"
    worker.facts = RayFacts(actor="Trainer", task="Trainer.step")
    play.alive(worker)
    assert worker.complete
    client.inbox.clear()
    play._effects.clear()
