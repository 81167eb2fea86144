"""raydap/evaluate and raydap/compare in running workers (docs/requests.md)."""

import json
from typing import Any

import pytest

from raydap.core.effects import AskAgent, ReleaseAgent, WatchAlive
from raydap.core.events import AgentAnswered, AgentCalled
from raydap.errors import Code
from raydap.inworker import calls
from support.playbook import Play
from support.prepared_workers import launched, prepared


def value(text: str, kind: str = "float") -> str:
    return json.dumps({"result": text, "type": kind})


def test_attached_workers_that_run_are_asked_where_they_are(play: Play) -> None:
    client = play.session()
    stopped, running = play.attached("w1", "w2")
    stopped.stop()
    thread = client.stop()["threadId"]
    running.running_value = value("loss of w2")
    answer = client.request("raydap/evaluate", expression="loss", running=True)
    assert [group["members"] for group in answer["groups"]] == [[thread], []]
    assert [group.get("running") for group in answer["groups"]] == [None, ["w2"]]
    assert answer["groups"][1]["value"] == "loss of w2"
    assert [result["threadId"] for result in answer["results"]] == [thread]
    assert running.heard[-1]["arguments"]["expression"] == calls.running_value("loss", 5.0)
    # Clients that do not request running workers get the same answer as before.
    assert len(client.request("raydap/evaluate", expression="loss")["groups"]) == 1


def test_a_worker_that_runs_undebugged_is_asked_through_its_agent(play: Play) -> None:
    client = launched(play)
    worker = prepared(play, "w1")
    play.feed(AgentCalled(worker.row))
    play.take(ReleaseAgent)
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    play.alive(worker)
    client.event("raydap/workersChanged")
    seq = client.send("raydap/compare", expression="loss", running=True, timeout=3)
    asked = play.take(AskAgent)
    assert (asked.question, asked.timeout_s) == ({"evaluate": calls.summary("loss", 1.0), "seconds": 3.0}, 5.0)
    summary = json.dumps({"type": "float", "text": "0.5", "hash": "h", "places": "p", "whole": True})
    play.feed(AgentAnswered(asked.number, value(repr(summary), "str")))
    answer = client.answer(seq)
    (group,) = answer["groups"]
    assert (group["value"], group["members"], group["running"]) == ("0.5", [], ["w1"])
    assert answer["statistics"]["mean"] == 0.5
    seq = client.send("raydap/evaluate", expression="loss", running=True)
    play.feed(AgentAnswered(play.take(AskAgent).number, "", "it has ended"))
    (group,) = client.answer(seq)["groups"]
    assert group["error"].endswith("does not answer: it has ended.")
    client.send("disconnect")
    client.inbox.clear()
    play._effects.clear()


@pytest.mark.parametrize(
    ("told", "error"),
    [
        (json.dumps({"error": "NameError: x"}), "NameError: x"),
        ("nonsense", "cannot be decoded"),
        ('{"result": 7}', "cannot be decoded"),
        ("[" * 100_000, "cannot be decoded"),
    ],
)
def test_what_fails_is_a_group(rough_play: Play, told: str, error: str) -> None:
    client = rough_play.session()
    (worker,) = rough_play.attached("w1")
    worker.running_value = told
    (group,) = client.request("raydap/evaluate", expression="x", running=True)["groups"]
    assert error in group["error"]
    if error != "NameError: x":
        rough_play.warned("cannot decode")


@pytest.mark.parametrize("how", ["says so", "says nothing"])
def test_a_worker_without_an_answer_is_named(play: Play, how: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    if how == "says so":
        worker.running_value = json.dumps({"silent": True})
    else:
        worker.hold = {"evaluate"}
    seq = client.send("raydap/evaluate", expression="x", running=True)
    play.tick(9)
    answer: dict[str, Any] = client.answer(seq)
    assert (answer["groups"], answer["unread"], answer["silent"]) == ([], ["w1"], [])
    worker.hold = set()


def test_workers_that_run_have_no_threads_to_name(play: Play) -> None:
    client = play.session()
    play.attached("w1")
    client.refused(Code.BAD_ARGUMENT, "raydap/evaluate", expression="x", threads=[], running=True)


def test_the_expression_of_a_set_is_evaluated_in_workers_that_run(play: Play) -> None:
    client = play.session()
    one, other, failing = play.attached("w1", "w2", "w3")
    one.running_value = value("True", "bool")
    other.running_value = value("False", "bool")
    failing.running_value = json.dumps({"error": "NameError: x"})
    (group,) = client.request("raydap/evaluate", expression="x", running=True, select="where x > 1")["groups"]
    assert group["running"] == ["w1"]
    assert calls.running_value("bool(x > 1\n)", 5.0) in [
        each.get("arguments", {}).get("expression") for each in other.heard
    ]
    answer = client.request("raydap/places", select="where x > 1")
    assert [each["worker"] for each in answer["places"]] == ["w1"]
    assert client.request("raydap/continue", select="where x > 1") == {"threads": []}
