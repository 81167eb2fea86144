"""Requests that take a set of workers (docs/usage/sets.md)."""

import json

import pytest

from raydap.core.process_info import RayFacts
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.stopped_workers import running, stopped

WHERE = "bool(x > 1\n)"


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("", [0, 1, 2]),
        ("pid:101,103", [0, 2]),
        ("not pid:102", [0, 2]),
        ("state:running", []),
        ("line:train.py", [0, 2]),
    ],
)
def test_threads_in_a_set_continue(play: Play, select: str, expected: list[int]) -> None:
    client = play.session()
    workers = play.attached("w1", "w2", "w3")
    workers[1].path = "/app/other.py"
    for worker in workers:
        worker.stop()
    threads = [client.stop()["threadId"] for _ in workers]
    resumed = [threads[number] for number in expected]
    assert client.request("raydap/continue", select=select) == {"threads": resumed}
    assert sorted(client.event("continued")["threadId"] for _ in expected) == resumed


def test_a_silent_worker_is_at_no_line_and_delays_no_other(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    workers[0].hold = {"stackTrace"}
    request = client.send("raydap/continue", select="line:train.py:7")
    play.tick(6)
    assert client.answer(request) == {"threads": threads[1:]}
    client.event("continued")


def test_a_worker_that_dies_while_a_set_asks_for_it_is_asked_no_more(play: Play) -> None:
    """The set needs the worker's line first, and would then evaluate its expression."""
    client = play.session()
    workers, _ = stopped(play, client, "w1", "w2")
    workers[0].hold = {"stackTrace"}
    request = client.send("raydap/evaluate", expression="y", select="not line:other.py where x > 1")
    workers[0].die()
    assert client.answer(request)["results"] == []
    client.told(Code.WORKER_GONE)
    client.event("thread")


def test_an_expression_is_evaluated_where_the_rest_of_the_set_is_true(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3")
    for worker in workers:
        worker.commands()
        worker.hold = {"evaluate"}
    request = client.send("raydap/evaluate", expression="y", select="pid:101,102 where x > 1")
    for worker, result in ((workers[0], "True"), (workers[1], "False")):
        (asked,) = [each for each in worker.heard if each["command"] == "evaluate"]
        assert asked["arguments"]["expression"] == WHERE
        worker.reply(asked, {"result": result, "variablesReference": 0})
    assert "evaluate" not in workers[2].commands()
    (asked,) = [each for each in workers[0].heard if each["arguments"].get("expression") == "y"]
    workers[0].reply(asked, {"result": "5", "type": "int", "variablesReference": 0})
    answer = client.answer(request)
    assert [result["threadId"] for result in answer["results"]] == threads[:1]
    assert answer["statistics"] == {"min": 5.0, "max": 5.0, "mean": 5.0, "std": 0.0, "nan": 0, "inf": 0}


def test_where_is_not_true_if_it_fails(play: Play) -> None:
    client = play.session()
    workers, _ = stopped(play, client, "w1")
    workers[0].hold = {"evaluate"}
    request = client.send("raydap/continue", select="where x > 1")
    workers[0].refuse(workers[0].heard[-1], "NameError: x")
    assert client.answer(request) == {"threads": []}


def test_a_worker_has_a_rank_of_its_own(play: Play) -> None:
    """raydap asks a worker for its rank once, if a set uses ranks; a worker without a rank again after a while."""
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3")
    workers[1].rank, workers[2].rank = "7", "no number"
    for _ in range(2):
        assert (
            client.request("raydap/evaluate", expression="x", select="rank:7")["results"][0]["threadId"] == threads[1]
        )
    assert [asked(worker) for worker in workers] == [1, 1, 1]
    workers[0].rank = "8"
    play.tick(11.0)
    assert client.request("raydap/evaluate", expression="x", select="rank:8")["results"][0]["threadId"] == threads[0]
    assert [asked(worker) for worker in workers] == [2, 1, 2]


def test_a_set_of_ranks_waits_for_the_answer_to_an_earlier_question(play: Play) -> None:
    """A stop has asked the actor for its rank, because its name contains it, and the answer comes after the request."""
    client = play.session()
    worker = play.worker("w1", RayFacts(task="Trainer.step", actor="Trainer", job="01", rank=1, created=2))
    play.paused(worker)
    worker.hold = {"evaluate"}
    worker.stop()
    thread = client.stop()["threadId"]
    request = client.send("raydap/evaluate", expression="x", select="rank:7")
    questions = [each for each in worker.heard if each.get("arguments", {}).get("expression") == calls.own_rank()]
    worker.hold = set()
    for question in questions:
        worker.reply(question, {"result": json.dumps("7"), "variablesReference": 0})
    assert [each["threadId"] for each in client.answer(request)["results"]] == [thread]
    assert len(questions) == 2


def test_the_members_of_a_set_are_listed(play: Play) -> None:
    client = play.session()
    workers, _ = stopped(play, client, "w1", "w2", "w3")
    assert client.request("raydap/select", select="pid:102-103") == {"workers": ["w2", "w3"]}
    workers[1].resume(1)
    client.event("continued")
    assert client.request("raydap/select", select="state:running") == {"workers": ["w2"]}
    assert client.request("raydap/select", select="") == {"workers": ["w1", "w2", "w3"]}
    assert "did you mean" in client.refused(Code.BAD_ARGUMENT, "raydap/select", select="actr:x")


def asked(worker: FakeWorker) -> int:
    return len([each for each in worker.heard if "RANK" in str(each)])


def test_workers_are_named_by_a_set(play: Play) -> None:
    client = play.session()
    workers, _ = stopped(play, client, "w1", "w2")
    client.request("raydap/detach", select="pid:102")
    client.event("thread")
    assert "disconnect" in workers[1].commands()
    assert "disconnect" not in workers[0].commands()


def test_a_step_can_be_for_a_set(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1", "w2", "w3")
    answer = client.request("raydap/step", threadId=threads[0], command="next", select="pid:103")
    assert answer == {"threads": [threads[0], threads[2]]}
    for _ in answer["threads"]:
        client.event("continued")


@pytest.mark.parametrize(
    ("request_", "arguments", "text"),
    [
        ("raydap/continue", {"select": "pid:x"}, 'at "pid:x" (character 1)'),
        ("raydap/continue", {"select": "", "threads": []}, "not both"),
        ("raydap/detach", {"select": "", "workers": []}, "not both"),
        ("raydap/detach", {}, '"workers" or "select" is missing'),
        ("raydap/pause", {}, '"workers" or "select" is missing'),
        ("raydap/stack", {}, '"worker" is missing'),
        ("raydap/stack", {"select": "pid:101,102"}, "There are 2 workers in the set, not one."),
        ("raydap/stack", {"select": "pid:7"}, "There are 0 workers in the set, not one."),
        ("raydap/attach", {"select": "set:x"}, "unknown set x (there are no named sets)"),
        ("raydap/sets", {"name": "a b", "select": ""}, "letters, digits, - and _ only"),
        ("raydap/sets", {"name": "", "select": ""}, "letters, digits, - and _ only"),
        ("raydap/sets", {"name": "a", "select": "set:a"}, "the set a contains itself"),
        ("raydap/sets", {"name": "a", "select": "where x"}, 'has no "where"'),
    ],
)
def test_what_is_wrong_is_refused(play: Play, request_: str, arguments: dict[str, object], text: str) -> None:
    client = play.session()
    stopped(play, client, "w1", "w2")
    assert text in client.refusal(Code.BAD_ARGUMENT, client.send(request_, **arguments))


def test_sets_are_kept_for_all_clients_until_they_are_dropped(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1", "w2")
    kept = {"sets": [{"name": "slow", "select": "pid:102"}]}
    assert client.request("raydap/sets", name="slow", select="pid:102") == kept
    assert client.request("raydap/sets") == kept
    assert client.request("raydap/continue", select="set:slow") == {"threads": threads[1:]}
    client.event("continued")
    assert client.request("raydap/sets", name="slow") == {"sets": []}
    assert client.request("raydap/sets", name="slow") == {"sets": []}


def test_an_observer_evaluates_nothing(play: Play) -> None:
    client = play.session()
    stopped(play, client, "w1")
    observer = play.joined({"role": "observer"})
    observer.stop()
    assert "cannot evaluate" in observer.refused(Code.OBSERVER, "raydap/stack", select="where x")


def test_threads_in_a_set_resume_though_their_client_has_gone(play: Play) -> None:
    client = play.session()
    other = play.joined()
    workers, threads = stopped(play, client, "w1", "w2")
    other.inbox.clear()
    for worker in workers:
        worker.heard.clear()
        worker.hold = {"evaluate"}
    client.send("raydap/continue", select="where x > 1")
    client.hang_up()
    for worker in workers:
        (asked,) = [each for each in worker.heard if each["command"] == "evaluate"]
        worker.reply(asked, {"result": "True", "variablesReference": 0})
        worker.release()
    assert running(other) == set(threads)
