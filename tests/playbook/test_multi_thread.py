"""Requests about many threads at once (docs/requests.md)."""

from typing import Any

import pytest

from raydap.errors import Code
from support.fake_worker import PLUMBING
from support.playbook import Play
from support.stopped_workers import running, stopped


def test_all_that_are_stopped_continue(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1", "w2", "w3")
    assert client.request("raydap/continue") == {"threads": threads}
    assert running(client) == set(threads)
    assert client.request("raydap/continue") == {"threads": []}


def test_only_the_named_threads_continue(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1", "w2", "w3")
    assert client.request("raydap/continue", threads=threads[1:]) == {"threads": threads[1:]}
    assert running(client) == set(threads[1:])
    assert client.request("raydap/continue", threads=threads) == {"threads": threads[:1]}
    assert running(client) == {threads[0]}


def test_a_worker_that_dies_before_its_answer_delays_no_other(play: Play) -> None:
    client = play.session()
    (one, _), threads = stopped(play, client, "w1", "w2")
    one.hold = {"evaluate"}
    request = client.send("raydap/continue")
    assert running(client) == {threads[1]}
    one.die()
    assert client.answer(request) == {"threads": [threads[1]]}
    client.told(Code.WORKER_GONE)
    play.warned("so evaluate has no answer")
    client.event("thread")


def test_it_fails_if_no_thread_can_continue(play: Play) -> None:
    client = play.session()
    (one,), _ = stopped(play, client, "w1")
    one.hold = {"evaluate"}
    request = client.send("raydap/continue")
    one.die()
    client.refusal(Code.WORKER_GONE, request)
    client.told(Code.WORKER_GONE)
    play.warned("so evaluate has no answer")
    client.event("thread")


def test_a_worker_that_refuses_is_in_the_log_and_fails_it_only_if_it_was_alone(play: Play) -> None:
    client = play.session()
    (one, _), threads = stopped(play, client, "w1", "w2")
    one.hold = {"next"}
    for others in ([threads[1]], []):
        request = client.send("raydap/step", threadId=threads[0], command="next")
        assert running(client) == set(others)
        one.refuse([message for message in one.heard if message["command"] == "next"][-1], "no stepping today")
        if others:
            assert client.answer(request) == {"threads": others}
        else:
            assert client.refusal(None, request) == "no stepping today"
        play.warned("no stepping today")
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [threads[0]]


def test_threads_at_the_same_line_step_together(play: Play) -> None:
    client = play.session()
    workers = play.attached("w1", "w2", "w3")
    workers[2].path = "/app/other.py"
    for worker in workers:
        worker.stop()
        worker.commands()
    threads = [client.stop()["threadId"] for _ in workers]
    assert client.request("raydap/step", threadId=threads[0], command="stepIn") == {"threads": threads[:2]}
    assert running(client) == set(threads[:2])
    assert [worker.commands() for worker in workers] == [["stackTrace", "stepIn"]] * 2 + [["stackTrace"]]


def test_a_silent_worker_makes_no_thread_step(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    workers[0].hold = {"stackTrace"}
    request = client.send("raydap/step", threadId=threads[0], command="next")
    play.tick(31.0)
    client.refusal(Code.WORKER_SILENT, request)
    assert "next" not in workers[0].commands() + workers[1].commands()


def test_a_silent_worker_holds_no_other_back(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3")
    workers[1].hold = {"stackTrace"}
    request = client.send("raydap/step", threadId=threads[0], command="next")
    assert running(client) == {threads[0], threads[2]}
    play.tick(31.0)
    assert client.answer(request) == {"threads": [threads[0], threads[2]]}
    play.warned("did not answer stackTrace")


def test_a_thread_without_a_line_of_the_users_steps_alone(play: Play) -> None:
    client = play.session()
    workers = play.attached("w1", "w2")
    for worker in workers:
        worker.path = PLUMBING
        worker.stop()
    threads = [client.stop()["threadId"] for _ in workers]
    assert client.request("raydap/step", threadId=threads[1], command="next") == {"threads": [threads[1]]}
    assert running(client) == {threads[1]}


def test_an_expression_is_evaluated_in_each(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    answer = client.request("raydap/evaluate", expression="x")
    assert answer == {
        "results": [
            {
                "threadId": thread,
                "name": f"worker · {number} · 10.0.0.1",
                "label": "worker",
                "value": f"x of {worker.key}",
                "type": "",
            }
            for thread, worker, number in zip(threads, workers, (101, 102), strict=True)
        ],
        "groups": [
            {"value": f"x of {worker.key}", "type": "", "members": [thread], "label": f"worker {worker.row.pid}"}
            for thread, worker in zip(threads, workers, strict=True)
        ],
        "silent": [],
    }
    asked = [request["arguments"] for request in workers[0].heard if request["command"] == "evaluate"][-1]
    (frame,) = [frame["id"] for frame in workers[0].stopped[1] if frame["name"] == "step"]
    assert asked == {"expression": "x", "frameId": frame, "context": "watch"}


def test_an_exception_that_has_frames_of_libraries_only_is_evaluated_in_the_top_one(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.path = "/venv/ray/_private/function_manager.py"
    worker.stop(reason="exception")
    thread = client.stop()["threadId"]
    (result,) = client.request("raydap/evaluate", expression="x", threads=[thread])["results"]
    assert result["value"] == "x of w1"


def test_nothing_is_done_with_a_frame_of_a_stop_that_is_over(play: Play) -> None:
    client, other = play.session(), play.joined()
    (one,), (thread,) = stopped(play, client, "w1")
    other.stop()
    one.hold = {"stackTrace"}
    request = client.send("raydap/evaluate", expression="x")
    other.resume(thread)
    assert running(client) == {thread}
    one.stop()
    client.stop(), other.stop()
    one.commands()
    one.release()
    assert "error" in client.answer(request)["results"][0]
    assert "evaluate" not in one.commands()


def test_a_failure_is_reported_in_one_line(play: Play) -> None:
    client = play.session()
    (one, two, _), threads = stopped(play, client, "w1", "w2", "w3")
    one.hold = {"evaluate"}
    two.hold = {"stackTrace"}
    request = client.send("raydap/evaluate", expression="fail")
    one.die()
    client.told(Code.WORKER_GONE)
    client.event("thread")
    two.die()
    results = client.answer(request)["results"]
    assert [result["threadId"] for result in results] == threads
    assert [sorted(result.keys() - {"threadId", "name", "label"}) for result in results] == [["error"]] * 3
    assert results[2]["error"] == "evaluation failed"
    assert "is gone" in results[0]["error"]
    client.told(Code.WORKER_GONE)
    client.event("thread")


@pytest.mark.parametrize("step", ["stackTrace", "evaluate"])
def test_a_worker_that_hangs_does_not_withhold_the_results_of_the_others(play: Play, step: str) -> None:
    client = play.session()
    (one, _), _ = stopped(play, client, "w1", "w2")
    one.hold = {step}
    request = client.send("raydap/evaluate", expression="x", timeout=2)
    play.tick(1)
    client.nothing()
    play.tick(1)
    answer = client.answer(request)
    hung, other = answer["results"]
    assert "No result after 2 s" in hung["error"]
    assert answer["silent"] == [hung["threadId"]]
    assert [group["members"] for group in answer["groups"]] == [[other["threadId"]]]
    assert hung["name"] == "worker · 101 · 10.0.0.1"
    assert other["value"] == "x of w2"
    one.release()
    client.nothing()


def test_running_threads_are_not_asked(play: Play) -> None:
    client = play.session()
    _, threads = stopped(play, client, "w1")
    client.resume(threads[0])
    assert client.request("raydap/evaluate", expression="x")["results"] == []


@pytest.mark.parametrize("frames", [None, 7, [None, 7], [{"id": 1}], [{"id": 1, "source": 7}]])
def test_a_worker_is_not_trusted_with_its_stack(rough_play: Play, frames: Any) -> None:
    client = rough_play.session()
    (worker,), (thread,) = stopped(rough_play, client, "w1")
    worker.hold = {"stackTrace"}
    request = client.send("raydap/step", threadId=thread, command="next")
    asked = next(message for message in worker.heard if message["command"] == "stackTrace")
    worker.reply(asked, {"stackFrames": frames})
    assert client.answer(request) == {"threads": [thread]}
    assert running(client) == {thread}


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        ("raydap/continue", {"threads": 1000}, Code.BAD_ARGUMENT),
        ("raydap/continue", {"threads": [1]}, Code.STALE_ID),
        ("raydap/continue", {"threads": ["x"]}, Code.BAD_ARGUMENT),
        ("raydap/step", {"threadId": 1, "command": "next"}, Code.STALE_ID),
        ("raydap/step", {"threadId": 1}, Code.BAD_ARGUMENT),
        ("raydap/step", {"threadId": 1, "command": "terminate"}, Code.BAD_ARGUMENT),
        ("raydap/step", {"threadId": 1, "command": []}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {"expression": " "}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {"expression": "x", "timeout": 0}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {"expression": "x", "timeout": 3601}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {"expression": "x", "timeout": "soon"}, Code.BAD_ARGUMENT),
        ("raydap/evaluate", {"expression": "x", "threads": {}}, Code.BAD_ARGUMENT),
    ],
)
def test_bad_arguments(play: Play, command: str, arguments: dict[str, Any], code: Code) -> None:
    client = play.session()
    (worker,), _ = stopped(play, client, "w1")
    worker.commands()
    client.refused(code, command, **arguments)
    assert worker.commands() == []


def test_a_running_thread_makes_no_step(play: Play) -> None:
    client = play.session()
    _, (thread,) = stopped(play, client, "w1")
    client.resume(thread)
    client.refused(Code.NOT_STOPPED, "raydap/step", threadId=thread, command="next")


def test_a_step_says_who_came_to_another_line(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3")
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=5)
    assert running(client) == set(threads)
    workers[1].path = "/app/other.py"
    for worker in workers[:2]:
        worker.stop(reason="step")
        client.stop()
    client.nothing()
    workers[2].stop(reason="step")
    client.stop()
    answer = client.answer(request)
    assert (answer["threads"], answer["running"]) == (threads, [])
    assert [(group["members"], group["frame"]) for group in answer["groups"]] == [
        ([threads[1]], {"name": "step", "path": "/app/other.py", "line": 7}),
        ([threads[0], threads[2]], {"name": "step", "path": "/app/train.py", "line": 7}),
    ]


def test_a_step_does_not_wait_for_an_ended_worker_or_forever(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2", "w3")
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=5)
    assert running(client) == set(threads)
    workers[0].exit(1)
    client.event("thread")
    workers[1].stop(reason="step")
    client.stop()
    client.nothing()
    play.tick(6)
    answer = client.answer(request)
    assert [group["members"] for group in answer["groups"]] == [[threads[1]]]
    assert answer["running"] == [threads[2]]


def test_a_stop_that_comes_before_the_last_worker_has_answered_counts(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    workers[1].hold = {"next"}
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=5)
    assert running(client) == {threads[0]}
    workers[0].stop(reason="step")
    client.stop()
    workers[1].release()
    assert running(client) == {threads[1]}
    workers[1].stop(reason="step")
    client.stop()
    (group,) = client.answer(request)["groups"]
    assert group["members"] == threads


def test_a_wrong_timeout_makes_no_thread_step(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1")
    for timeout in (-1, 3601):
        step = {"threadId": threads[0], "command": "next", "timeout": timeout}
        assert "from 0 to 3600" in client.refused(Code.BAD_ARGUMENT, "raydap/step", **step)
    assert "next" not in workers[0].commands()


def test_a_worker_that_dies_during_a_step_is_waited_for_no_longer(play: Play) -> None:
    client = play.session()
    workers, threads = stopped(play, client, "w1", "w2")
    request = client.send("raydap/step", threadId=threads[0], command="next", timeout=60)
    assert running(client) == set(threads)
    workers[0].stop(reason="step")
    client.stop()
    workers[1].die()
    client.event("thread")
    answer = client.answer(request)
    assert [group["members"] for group in answer["groups"]] == [threads[:1]]
    assert answer["running"] == []
