"""The stacks of all stopped threads as one tree (docs/requests.md)."""

import json
from typing import Any

import pytest

from raydap.core.effects import WatchAlive
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker, blocked
from support.playbook import Play


def stopped(play: Play, client: FakeClient, *keys: str) -> tuple[list[FakeWorker], list[int]]:
    """Attach and stop workers, the last one in another file; return them and the handles of their threads."""
    workers = play.attached(*keys)
    workers[-1].path = "/app/other.py"
    for worker in workers:
        worker.stop()
    return workers, [client.stop()["threadId"] for _ in workers]


def test_stopped_threads_are_one_tree(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1", "w2", "w3")
    answer = client.request("raydap/stacks")
    assert answer["silent"] == answer["missing"] == []
    root = answer["root"]
    assert (root["frame"], root["count"], root["members"], root["label"]) == (None, 3, threads, "worker (3)")
    assert [(node["frame"]["path"], node["members"]) for node in root["children"]] == [
        ("/app/other.py", threads[2:]),
        ("/app/train.py", threads[:2]),
    ]
    assert client.request("raydap/stacks", select="line:other.py")["root"]["members"] == threads[2:]
    assert client.request("raydap/stacks", maxMembers=1)["root"]["members"] == threads[:1]
    assert client.request("raydap/stacks", threads=threads[1:])["root"]["members"] == threads[1:]


def test_a_thread_that_does_not_answer_is_named(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    workers[0].hold = {"stackTrace"}
    request = client.send("raydap/stacks")
    play.tick(6)
    answer = client.answer(request)
    assert (answer["silent"], answer["root"]["members"]) == (threads[:1], threads[1:])


@pytest.mark.parametrize("frames", [None, 7, [None, 7], [{"id": 1}], [{"id": 1, "name": 7, "line": "x", "source": 7}]])
def test_a_worker_is_not_trusted_with_its_stack(rough_play: Play, frames: Any) -> None:
    client = rough_play.session()
    (worker,), _ = stopped(rough_play, client, "w1")
    worker.hold = {"stackTrace"}
    request = client.send("raydap/stacks")
    worker.reply(worker.heard[-1], {"stackFrames": frames})
    assert client.answer(request)["root"]["count"] == 1


def test_workers_that_run_are_in_the_tree(play: Play) -> None:
    client = play.session()
    (_, busy, idle, mute), threads = play.attached("w1", "w2", "w3", "w4"), []
    for worker in play.workers.values():
        if worker.key == "w1":
            worker.stop()
            threads.append(client.stop()["threadId"])
    busy.blocked = blocked(0)
    idle.blocked = json.dumps({"cwd": "/app", "threads": []})
    mute.blocked = "nonsense"
    answer = client.request("raydap/stacks", running=True)
    assert (answer["unread"], answer["silent"]) == (["w4"], [])
    root = answer["root"]
    assert (root["count"], root["members"], root["running"]) == (3, threads, ["w2", "w3"])
    places = {(node["frame"]["line"], tuple(node["members"]), tuple(node["running"])) for node in root["children"]}
    assert places == {(7, tuple(threads), ()), (41, (), ("w2",))}
    assert client.request("raydap/stacks", running=True, select="pid:102")["root"]["running"] == ["w2"]
    assert client.request("raydap/stacks")["root"]["count"] == 1


def test_the_tree_is_given_as_text(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1", "w2", "w3")
    assert client.request("raydap/stacks", export="folded")["export"].splitlines() == [
        "step (other.py:7) 1",
        "step (train.py:7) 2",
    ]
    assert client.request("raydap/stacks", export="svg")["export"].startswith("<svg")
    client.refused(Code.BAD_ARGUMENT, "raydap/stacks", export="png")


def test_nodes_have_local_variables_with_equal_values_together(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3", "w4")
    workers[1].locals = [
        {"name": "loss", "value": "nan", "type": "float"},
        {"name": "step", "value": "3", "type": "int"},
    ]
    client.request("raydap/stacks")
    assert workers[0].heard[-1]["command"] == "stackTrace"
    other, most = client.request("raydap/stacks", locals=True, maxMembers=1)["root"]["children"]
    nan = {"value": "nan", "type": "float", "count": 1, "members": threads[1:2], "running": [], "label": "worker 102"}
    half = {**nan, "value": "0.5", "count": 2, "members": threads[:1], "label": "worker (2)"}
    three = {**nan, "value": "3", "type": "int"}
    assert most["locals"] == [
        {"name": "loss", "groups": [nan, half], "more": 0},
        {"name": "step", "groups": [three], "more": 0},
    ]
    assert [each["value"] for each in other["locals"][0]["groups"]] == ["0.5"]
    assert "locals" not in client.request("raydap/stacks")["root"]


def test_a_worker_that_runs_or_is_blocked_has_local_variables_too(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(0)
    (node,) = client.request("raydap/stacks", running=True, locals=True)["root"]["children"]
    assert (node["locals"][0]["name"], node["locals"][0]["groups"][0]["running"]) == ("loss", ["w1"])


def test_of_many_values_the_largest_groups_are_reported(play: Play) -> None:
    client = play.session()
    workers, _ = stopped(play, client, *(f"w{number}" for number in range(14)))
    for number, worker in enumerate(workers):
        worker.path = "/app/train.py"
        worker.locals = [{"name": "rank", "value": str(max(number, 1)), "type": "int"}] * (number != 5)
    folded = [
        variable
        for node in client.request("raydap/stacks", locals=True)["root"]["children"]
        for variable in node["locals"]
    ]
    (most,) = [each for each in folded if len(each["groups"]) > 1]
    assert len(most["groups"]) == 10
    assert (most["groups"][-1]["value"], most["groups"][-1]["count"], most["more"]) == ("1", 2, 1)


@pytest.mark.parametrize("told", [None, 7, [7], [{"name": "loss"}], [{"name": 1, "value": 2, "type": 3}]])
def test_a_worker_is_not_trusted_with_its_variables(play: Play, told: Any) -> None:
    client = play.session()
    (worker,), threads = stopped(play, client, "w1")
    worker.locals = told
    root = client.request("raydap/stacks", locals=True)["root"]
    assert (root["members"], root["children"][0]["locals"]) == (threads, [])


def test_a_worker_that_does_not_report_its_variables_is_in_the_tree(play: Play) -> None:
    client = play.session()
    (worker,), threads = stopped(play, client, "w1")
    worker.hold = {"evaluate"}
    request = client.send("raydap/stacks", locals=True)
    play.tick(6)
    assert client.answer(request)["root"]["members"] == threads


def test_no_thread_is_stopped(play: Play) -> None:
    client = play.session()
    root: dict[str, Any] = {"frame": None, "count": 0, "members": [], "running": [], "label": "", "children": []}
    assert client.request("raydap/stacks") == {"root": root, "missing": [], "silent": [], "unread": []}


def test_what_is_wrong_is_refused(play: Play) -> None:
    client = play.session()
    for arguments in ({"maxMembers": -1}, {"select": "pid:x"}):
        client.refused(Code.BAD_ARGUMENT, "raydap/stacks", **arguments)


def test_workers_that_wait_or_run_unattached_are_looked_into_from_outside(play: Play) -> None:
    client = play.session({"autoAttach": False})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    trainer = RayFacts(task="Trainer.step", actor="Trainer", job="01")
    waiting, running, idle = play.worker("w1"), play.worker("w2", trainer, port=0), play.worker("w3", port=0)
    play.sampled = {"w1": blocked(0), "w3": blocked(0)}
    play.paused(waiting)
    play.alive(running, idle)
    client.inbox.clear()
    assert client.request("raydap/stacks", running=True)["root"]["count"] == 0
    answer = client.request("raydap/stacks", outside=True)
    assert (answer["root"]["count"], answer["root"]["running"], answer["unread"]) == (1, ["w1"], ["w2"])
    assert answer["root"]["children"][0]["frame"] == {"name": "step", "path": "/app/train.py", "line": 41}
    assert client.request("raydap/stacks", outside=True, select="actor:Trainer")["unread"] == ["w2"]
    client.request("raydap/workers")
    play.take(WatchAlive)
