"""A thread that cannot pause is shown by a snapshot of its stack (workers/pauses.py)."""

from typing import Any

import pytest

from raydap.errors import Code
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import PLUMBING, FakeWorker, blocked
from support.playbook import Play

PLACE = "blocked in lock.acquire (train.py:41)"


def shown(play: Play, client: FakeClient, worker: FakeWorker, **stack: Any) -> dict[str, Any]:
    """Pause all threads, and return the stop of the one thread that is blocked."""
    worker.blocked = blocked(1, **stack)
    client.request("pause", threadId=0)
    play.tick(1)
    return client.stop()


def test_a_thread_that_cannot_stop_is_shown_where_it_is(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(1)
    client.request("pause", threadId=0)
    client.nothing()
    play.tick(1)
    stop = client.stop()
    thread = stop["threadId"]
    assert stop == {
        "reason": "pause",
        "description": "blocked",
        "text": PLACE,
        "threadId": thread,
        "allThreadsStopped": False,
        "preserveFocusHint": False,
    }
    assert [each["id"] for each in client.request("threads")["threads"]] == [thread]
    worker.commands()
    stack = client.request("stackTrace", threadId=thread)
    assert stack["totalFrames"] == 3
    wait, step, main = stack["stackFrames"]
    assert [each.get("presentationHint") for each in (wait, step, main)] == ["subtle", None, "subtle"]
    assert (step["name"], step["line"], step["source"]) == ("step", 41, {"name": "train.py", "path": "/app/train.py"})
    assert main["source"]["path"] == PLUMBING
    assert client.request("stackTrace", threadId=thread, startFrame=1, levels=1)["stackFrames"] == [step]
    (scope,) = client.request("scopes", frameId=step["id"])["scopes"]
    variables = client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    assert variables == [{"name": "loss", "value": "0.5", "type": "float", "variablesReference": 0}]
    assert client.request("scopes", frameId=wait["id"])["scopes"] == []
    # The snapshot has the answers, so the worker gets no request. All ids are handles.
    assert worker.commands() == []
    assert min(thread, wait["id"], step["id"], scope["variablesReference"]) >= 1000


@pytest.mark.parametrize(
    ("stack", "place"),
    [
        ({"call": ""}, "blocked in wait below step (train.py:41)"),
        ({"call": "", "user": 0}, "blocked in native code below wait (threading.py:320)"),
        ({"activity": "busy"}, "busy in native code below step (train.py:41)"),
        ({"activity": "running"}, "running wait below step (train.py:41)"),
        ({"activity": "running", "user": 0}, "running wait (threading.py:320)"),
        ({"user": -1}, "idle"),
        ({"user": 7}, "idle"),
        ({"frames": [], "user": 0}, "idle"),
    ],
)
def test_how_a_place_is_named(play: Play, stack: dict[str, Any], place: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    stop = shown(play, client, worker, **stack)
    assert (stop["text"], stop["description"]) == (place, place.split()[0])
    client.request("stackTrace", threadId=stop["threadId"])


def test_what_needs_a_real_stop_is_refused_with_the_reason(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker)["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][1]["id"]
    (scope,) = client.request("scopes", frameId=frame)["scopes"]
    worker.commands()
    text = f"The thread is {PLACE}, so raydap can only show its stack. It stops when that call returns."
    for command in ("next", "stepIn", "stepOut"):
        assert text in client.refused(Code.BLOCKED, command, threadId=thread)
    assert text in client.refused(Code.BLOCKED, "raydap/step", threadId=thread, command="next")
    assert text in client.refused(Code.NOT_STOPPED, "evaluate", expression="loss", frameId=frame)
    assert text in client.refused(
        Code.NOT_STOPPED, "setVariable", variablesReference=scope["variablesReference"], name="loss", value="1"
    )
    assert text in client.refused(Code.NOT_STOPPED, "exceptionInfo", threadId=thread)
    (result,) = client.request("raydap/evaluate", expression="loss")["results"]
    assert result["error"] == text
    assert worker.commands() == []
    # An expression without a frame does not depend on the blocked thread.
    assert client.request("evaluate", expression="1 + 1")["result"] == "1 + 1 of w1"
    assert worker.commands() == ["evaluate"]


def test_when_the_block_ends_the_stop_takes_the_place_of_the_snapshot(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker)["threadId"]
    frame = client.request("stackTrace", threadId=thread)["stackFrames"][1]["id"]
    worker.stop(reason="pause")
    assert client.event("continued")["threadId"] == thread
    stop = client.event("stopped")
    assert (stop["threadId"], stop["description"]) == (thread, "pause")
    client.refused(Code.STALE_ID, "scopes", frameId=frame)
    worker.commands()
    client.request("stackTrace", threadId=thread)
    assert worker.commands() == ["stackTrace"]


@pytest.mark.parametrize("command", ["continue", "raydap/continue"])
def test_continue_takes_the_pause_back(play: Play, command: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker)["threadId"]
    client.request(command, **({"threadId": thread} if command == "continue" else {}))
    assert worker.heard[-1]["arguments"]["expression"] == calls.resume_thread(1)
    assert client.event("continued")["threadId"] == thread
    assert client.request("threads") == {"threads": []}
    # The thread can be paused again.
    client.request("pause", threadId=thread)
    assert worker.heard[-1]["arguments"]["expression"] == calls.pause_thread(1)
    play.tick(1)
    assert client.stop()["threadId"] == thread


def test_a_continue_that_fails_can_be_repeated(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker)["threadId"]
    worker.hold = {"evaluate"}
    seq = client.send("continue", threadId=thread)
    play.tick(3700)
    assert "did not answer" in client.refusal(Code.WORKER_SILENT, seq)
    assert client.request("stackTrace", threadId=thread)["totalFrames"] == 3


def test_a_thread_that_stops_before_the_snapshot_is_shown_once(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(1)
    worker.hold = {"evaluate"}
    client.request("pause", threadId=0)
    play.tick(1)
    worker.stop(reason="pause")
    thread = client.stop()["threadId"]
    worker.release("evaluate")
    assert client.request("raydap/continue")["threads"] == [thread]
    assert client.event("continued")["threadId"] == thread


def test_one_look_serves_several_pauses(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    for local in (1, 2):
        worker.stop(local)
        client.resume(client.stop()["threadId"])
    threads = [1, 2]
    handles = [play.bridge.state.workers[worker.key].threads[local].handle for local in threads]  # type: ignore[index]
    worker.commands()
    for handle in handles:
        client.request("pause", threadId=handle)
    play.tick(1)
    asked = worker.heard[-1]["arguments"]["expression"]
    assert asked == calls.blocked_threads(threads)
    assert worker.commands() == ["evaluate"] * 3
    client.request("pause", threadId=handles[0])
    client.request("pause", threadId=0)
    client.request("pause", threadId=handles[1])
    play.tick(1)
    assert worker.heard[-1]["arguments"]["expression"] == calls.blocked_threads([])


def test_a_stop_is_reported_again_if_it_could_be_lost(play: Play) -> None:
    """pydevd loses the stop of a thread that is resumed and paused again before the thread has noticed the resume."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    thread = client.stop()["threadId"]
    client.request("pause", threadId=0)
    play.tick(1)
    assert worker.heard[-1]["arguments"]["expression"] == calls.blocked_threads([], [1])
    worker.stop(1, reason="pause")
    client.nothing()
    client.resume(thread)
    client.request("pause", threadId=0)
    play.tick(1)
    assert worker.heard[-1]["arguments"]["expression"] == calls.blocked_threads([], [])
    worker.stop(1, reason="pause")
    assert client.stop()["threadId"] == thread


def test_a_stop_that_is_reported_twice_while_it_is_verified_is_shown_once(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1)
    client.stop()
    worker.hold = {"stackTrace"}
    worker.stop(2)
    worker.stop(2, reason="pause")
    worker.release("stackTrace")
    assert client.stop()["reason"] == "breakpoint"
    client.nothing()


def test_a_stop_that_is_repeated_while_its_thread_resumes_is_not_shown(play: Play) -> None:
    """Otherwise a thread that runs would stay stopped for clients."""
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop(1, reason="pause")
    thread = client.stop()["threadId"]
    worker.hold = {"evaluate"}
    seq = client.send("continue", threadId=thread)
    worker.stop(1, reason="pause")
    worker.release("evaluate")
    client.answer(seq)
    assert client.event("continued")["threadId"] == thread
    client.nothing()
    assert client.request("threads") == {"threads": []}


def test_a_worker_that_does_not_answer_is_reported_once(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(1)
    worker.hold = {"evaluate"}
    client.request("pause", threadId=0)
    for _ in range(4):
        play.tick(1)
    told = client.told(Code.WORKER_SILENT)
    assert "its native code blocks" in told
    assert "py-spy dump --pid 101" in told
    play.tick(60)
    client.nothing()
    worker.release("evaluate")
    assert client.stop()["text"] == PLACE


def test_a_worker_that_does_not_answer_is_looked_into_from_outside(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.sampled = {"w1": blocked(0)}
    worker.blocked = blocked(1)
    worker.hold = {"evaluate"}
    client.request("pause", threadId=0)
    for _ in range(3):
        play.tick(1)
    assert "it is blocked in lock.acquire (train.py:41), which blocks" in client.told(Code.WORKER_SILENT)
    worker.release("evaluate")
    client.stop()


@pytest.mark.parametrize("answer", ["", "nonsense", "[]", '{"cwd": "", "threads": [{}]}', "[" * 100_000, None])
def test_a_worker_that_says_nonsense_costs_nothing(play: Play, answer: Any) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = answer
    client.request("pause", threadId=0)
    play.tick(1)
    play.warned("cannot read which threads of")
    worker.stop(reason="pause")
    client.stop()


def test_workers_that_leave_before_the_snapshot(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    for each in (one, two):
        each.blocked = blocked(1)
        each.hold = {"evaluate"}
    client.request("pause", threadId=0)
    client.request("raydap/detach", workers=["w1"])
    play.tick(1)
    two.die()
    one.release()
    client.inbox.clear()
    assert not play.bridge.state.pauses


def test_two_clients_see_the_same(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker)["threadId"]
    other = play.joined()
    assert other.stop()["text"] == PLACE
    assert other.request("stackTrace", threadId=thread) == client.request("stackTrace", threadId=thread)
    other.request("continue", threadId=thread)
    for each in (client, other):
        assert each.event("continued")["threadId"] == thread


def test_paths_are_the_clients(play: Play) -> None:
    mappings = [{"localRoot": "/home/me/app", "remoteRoot": "."}, {"localRoot": "/lib", "remoteRoot": "/usr/lib/"}]
    client = play.session({"pathMappings": mappings})
    (worker,) = play.attached("w1")
    thread = shown(play, client, worker, cwd="/app")["threadId"]
    stack = client.request("stackTrace", threadId=thread)["stackFrames"]
    paths = [frame["source"]["path"] for frame in stack]
    assert paths == ["/lib/python3.11/threading.py", "/home/me/app/train.py", PLUMBING]


def test_the_list_of_workers_says_that_it_is_blocked(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    client.request("raydap/workers")
    worker.blocked = blocked(1)
    client.request("pause", threadId=0)
    play.tick(1)
    client.stop()
    (entry,) = client.event("raydap/workersChanged")["workers"]
    assert entry["state"] == "stopped"
    assert [each["place"] for each in entry["threads"]] == [PLACE]
