"""raydap/evaluate and raydap/compare in workers that wait in breakpoint(), by a short attach (docs/requests.md)."""

import json
from dataclasses import replace

from raydap.core.effects import AskAgent, AskWaiting, DialWorker, StopDiscovery
from raydap.core.events import AgentAnswered, AgentFound, WaitingAnswered
from raydap.core.workers.detach import REDIAL_DELAY_S
from raydap.core.workers.waiting_workers import NEW_PORT_S
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

LISTED = {"autoAttach": False}


def value(text: str, kind: str = "float") -> str:
    """Return what debugpy answers to the expression."""
    return json.dumps(json.dumps({"result": text, "type": kind}))


def waiting(play: Play, *keys: str) -> tuple[FakeClient, list[FakeWorker]]:
    """Return a client that watches these workers, which wait."""
    client = play.session(LISTED)
    workers = [play.worker(key) for key in keys]
    play.paused(*workers)
    client.request("raydap/workers")
    return client, workers


def answer(play: Play, text: str, problem: str = "") -> AskWaiting:
    """Answer the oldest question to a worker that waits, which then waits at another port."""
    asked = play.take(AskWaiting)
    play.feed(WaitingAnswered(asked.target.worker, text, problem))
    if not problem:
        listen_again(play, play.workers[asked.target.worker])
    return asked


def listen_again(play: Play, worker: FakeWorker) -> None:
    """Let Ray list another debug port of a worker."""
    worker.row = replace(worker.row, port=worker.row.port + 1000)
    play.paused(*play.workers.values())


def test_a_worker_that_waits_is_asked_and_still_paused(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    seq = client.send("raydap/evaluate", expression="loss", running=True)
    row = worker.row
    asked = play.take(AskWaiting)
    play.feed(WaitingAnswered(asked.target.worker, value("0.5")))
    play.paused(worker)
    # Until Ray lists the new port, another debugger cannot attach to the worker.
    client.nothing()
    listen_again(play, worker)
    assert asked.target == DialWorker(row.key, row.host, row.port, row.node_id)
    assert (asked.expression, asked.timeout_s) == (calls.running_value("loss", 5.0), 7.0)
    (group,) = client.answer(seq)["groups"]
    assert (group["value"], group["members"], group["running"]) == ("0.5", [], ["w1"])
    # No event has come: the client has always seen the worker as paused.
    assert [each["state"] for each in client.request("raydap/workers")["workers"]] == ["paused"]
    assert worker.dials == 0
    # Clients that do not request it get the same answer as before.
    assert client.request("raydap/evaluate", expression="loss")["groups"] == []


def test_workers_that_wait_are_compared(play: Play) -> None:
    client, _ = waiting(play, "w1", "w2")
    seq = client.send("raydap/compare", expression="loss", running=True)
    for text in ("0.5", "0.25"):
        summary = json.dumps({"type": "float", "text": text, "hash": text, "places": "p", "whole": True})
        assert answer(play, value(repr(summary), "str")).expression.count("loss") == 1
    assert sorted(group["value"] for group in client.answer(seq)["groups"]) == ["0.25", "0.5"]


def test_the_expression_of_a_set_is_evaluated_there(play: Play) -> None:
    client, _ = waiting(play, "w1", "w2")
    seq = client.send("raydap/select", select="where x > 1", running=True)
    answer(play, value("True", "bool"))
    answer(play, json.dumps(json.dumps({"error": "NameError: x"})))
    assert client.answer(seq) == {"workers": ["w1"]}
    assert client.request("raydap/select", select="where x > 1") == {"workers": []}


def test_a_debug_port_serves_one_question_at_a_time(play: Play) -> None:
    client, _ = waiting(play, "w1")
    first = client.send("raydap/evaluate", expression="1", running=True)
    second = client.send("raydap/evaluate", expression="2", running=True)
    for seq, result in ((first, "1"), (second, "2")):
        assert answer(play, value(result)).expression == calls.running_value(result, 5.0)
        assert client.answer(seq)["groups"][0]["value"] == result


def test_an_attach_waits_for_the_end_of_the_question(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    asked = client.send("raydap/evaluate", expression="1", running=True)
    again = client.send("raydap/evaluate", expression="2", running=True)
    client.request("raydap/attach", workers=["w1"])
    assert worker.dials == 0
    answer(play, value("1"))
    assert client.answer(asked)["groups"][0]["value"] == "1"
    # A question that came before the attach is asked before it, too.
    answer(play, value("2"))
    assert client.answer(again)["groups"][0]["value"] == "2"
    assert worker.dials == 1
    assert [client.event("raydap/workersChanged")["workers"][0]["state"] for _ in range(2)] == ["attaching", "running"]
    worker.stop()
    client.stop()
    client.event("raydap/workersChanged")


def test_a_worker_whose_debugger_does_not_answer(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    seq = client.send("raydap/evaluate", expression="1", running=True)
    answer(play, "", "its process has ended")
    (group,) = client.answer(seq)["groups"]
    assert group["error"].startswith("The debugger of ")
    assert group["error"].endswith(" does not answer: its process has ended.")
    # The adapter may still be closing the session. A connection now would make it useless.
    (group,) = client.request("raydap/evaluate", expression="1", running=True)["groups"]
    assert group["error"].endswith("try again in a moment.")
    play.paused(worker)
    play.tick(REDIAL_DELAY_S)
    client.inbox.clear()
    seq = client.send("raydap/evaluate", expression="1", running=True)
    answer(play, "nonsense")
    (group,) = client.answer(seq)["groups"]
    assert "cannot be decoded" in group["error"]
    play.warned("cannot decode")


def test_a_worker_that_is_detached_at_this_moment(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    client.request("raydap/attach", workers=["w1"])
    worker.hold = {"disconnect"}
    client.request("raydap/detach", workers=["w1"])
    play.paused(worker)  # The list is older than the attach.
    client.inbox.clear()
    seq = client.send("raydap/evaluate", expression="1", running=True)
    (group,) = client.answer(seq)["groups"]
    assert group["error"].endswith("try again in a moment.")
    worker.hold = set()


def test_the_session_ends_after_the_question(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    client.send("raydap/evaluate", expression="1", running=True)
    asked = play.take(AskWaiting)
    client.send("disconnect")
    client.inbox.clear()
    client.hang_up()
    assert not play.bridge.idle
    play.take_all(StopDiscovery)
    # The next session does not disturb it.
    play.session()
    play.paused(worker)
    assert worker.dials == 0
    play.feed(WaitingAnswered(asked.target.worker, value("1")))
    assert worker.dials == 0
    listen_again(play, worker)
    assert worker.dials == 1


def test_a_worker_that_does_not_listen_again(play: Play) -> None:
    client, _ = waiting(play, "w1")
    seq = client.send("raydap/evaluate", expression="1", running=True)
    play.feed(WaitingAnswered(play.take(AskWaiting).target.worker, value("1")))
    play.tick(NEW_PORT_S - 1)
    client.nothing()
    play.tick(1)
    assert client.answer(seq)["groups"][0]["value"] == "1"
    play.warned("does not listen again after 30 s")


def test_a_worker_that_is_paused_no_more_need_not_listen_again(play: Play) -> None:
    client, _ = waiting(play, "w1")
    seq = client.send("raydap/evaluate", expression="1", running=True)
    play.feed(WaitingAnswered(play.take(AskWaiting).target.worker, value("1")))
    play.paused()
    assert client.answer(seq)["groups"][0]["value"] == "1"
    assert client.event("raydap/workersChanged")["workers"][0]["state"] == "detached"


def test_an_agent_is_asked_rather_than_the_debug_port(play: Play) -> None:
    client, (worker,) = waiting(play, "w1")
    play.feed(AgentFound(replace(worker.row, agent="/agents/w1", port=0)))
    seq = client.send("raydap/evaluate", expression="loss", running=True)
    play.feed(AgentAnswered(play.take(AskAgent).number, json.loads(value("0.5"))))
    (group,) = client.answer(seq)["groups"]
    assert (group["value"], group["running"]) == ("0.5", ["w1"])


def test_a_worker_that_ray_does_not_list_is_not_asked(play: Play) -> None:
    client = play.session(LISTED)
    play.paused(play.worker("t1", worker_type="TARGET"))
    client.request("raydap/workers")
    (group,) = client.request("raydap/evaluate", expression="1", running=True)["groups"]
    assert group["error"].endswith("attach to it to evaluate expressions there.")
