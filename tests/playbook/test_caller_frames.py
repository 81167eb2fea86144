"""The stack of a stopped task continues with the frames of its callers (core/requests/caller_frames.py)."""

import json
from typing import Any

from raydap.core.requests import caller_frames
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker, blocked
from support.playbook import Play

TASK, OUTER = "ab" * 24, "cd" * 24


def call(*frames: tuple[str, int], task: str = "", path: str = "/app/train.py") -> dict[str, Any]:
    """Return a worker's record of a call."""
    shown = [{"name": name, "path": path, "line": line} for name, line in frames]
    return {"thread": 1, "task": task, "frames": shown}


def begun(play: Play) -> tuple[FakeClient, FakeWorker, FakeWorker, FakeWorker]:
    """Return a client, a driver, an actor that it has called, and a stopped worker with a task of that actor."""
    client = play.session()
    driver, actor, worker = play.attached("driver", "actor", "worker")
    driver.say("raydapCaller", {})
    actor.say("raydapCaller", {})
    driver.recorded = {OUTER: call(("train", 30), ("main", 40))}
    actor.recorded = {TASK: call(("step", 20), task=OUTER)}
    worker.say("raydapTask", {"threadId": 1, "task": TASK})
    worker.stop()
    return client, driver, actor, worker


def stack(client: FakeClient, thread: int, **more: int) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = client.request("stackTrace", threadId=thread, **more)["stackFrames"]
    return frames


def asked(worker: FakeWorker) -> int:
    """Return how often a worker was asked for calls since the last time."""
    number = sum("read_call" in str(each.get("arguments")) for each in worker.heard)
    worker.heard.clear()
    return number


def test_the_frames_of_all_callers_follow_those_of_the_task(play: Play) -> None:
    client, driver, actor, worker = begun(play)
    frames = stack(client, client.stop()["threadId"])
    own = len(worker.stopped[1])
    shown = [(frame["name"], frame["line"], frame["presentationHint"]) for frame in frames[own:]]
    assert [(name.partition(" by ")[0], line, hint) for name, line, hint in shown] == [
        ("called", 0, "label"),
        ("step", 20, "subtle"),
        ("called", 0, "label"),
        ("train", 30, "subtle"),
        ("main", 40, "subtle"),
    ]
    assert (asked(driver), asked(actor)) == (2, 2)


def test_a_file_of_a_caller_has_the_path_that_the_client_knows(play: Play) -> None:
    client = play.session({"pathMappings": [{"localRoot": "/home/me", "remoteRoot": "/app"}]})
    driver, worker = play.attached("driver", "worker")
    driver.say("raydapCaller", {})
    driver.recorded = {TASK: call(("train", 30))}
    worker.say("raydapTask", {"threadId": 1, "task": TASK})
    worker.stop()
    frames = stack(client, client.stop()["threadId"])
    assert frames[-1]["source"] == {"name": "train.py", "path": "/home/me/train.py"}


def test_a_call_is_looked_up_once(play: Play) -> None:
    client, driver, actor, worker = begun(play)
    thread = client.stop()["threadId"]
    first = stack(client, thread)
    assert asked(driver) + asked(actor) == 4
    assert stack(client, thread) == first
    client.request("next", threadId=thread)
    client.inbox.clear()
    worker.stop()
    client.inbox.clear()
    assert len(stack(client, thread)) == len(first)
    assert asked(driver) + asked(actor) == 0


def test_a_task_without_a_known_caller_is_looked_up_once_for_each_stop(play: Play) -> None:
    client, driver, actor, worker = begun(play)
    actor.recorded = {}
    thread = client.stop()["threadId"]
    own = len(worker.stopped[1])
    assert len(stack(client, thread)) == len(stack(client, thread)) == own
    assert (asked(driver), asked(actor)) == (1, 1)
    worker.say("raydapTask", {"threadId": 1, "task": ""})
    assert len(stack(client, thread)) == own
    assert (asked(driver), asked(actor)) == (0, 0)


def test_a_blocked_thread_which_may_run_another_task_shows_no_callers(play: Play) -> None:
    client, driver, actor, worker = begun(play)
    thread = client.stop()["threadId"]
    client.request("continue", threadId=thread)
    client.inbox.clear()
    worker.blocked = blocked(1)
    client.request("pause", threadId=thread)
    play.tick(1)
    client.inbox.clear()
    assert len(stack(client, thread)) == 3
    assert (asked(driver), asked(actor)) == (0, 0)


def test_the_first_frame_alone_looks_nothing_up(play: Play) -> None:
    client, driver, actor, worker = begun(play)
    assert len(stack(client, client.stop()["threadId"], levels=1)) == len(worker.stopped[1])
    assert (asked(driver), asked(actor)) == (0, 0)


def test_a_running_caller_shows_its_variables_and_refuses_the_rest(play: Play) -> None:
    client, _, actor, worker = begun(play)
    step = stack(client, client.stop()["threadId"])[len(worker.stopped[1]) + 1]
    actor.running_frames = {(TASK, 0): 77}
    (scope,) = client.request("scopes", frameId=step["id"])["scopes"]
    (variable,) = client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    assert variable == {"name": "loss", "value": "0.5", "type": "float", "variablesReference": 0}
    assert "runs; pause it" in client.refused(Code.NOT_STOPPED, "evaluate", expression="x", frameId=step["id"])
    wanted = {"variablesReference": scope["variablesReference"], "name": "loss", "value": "1"}
    assert "runs; pause it" in client.refused(Code.NOT_STOPPED, "setVariable", **wanted)


def test_a_function_that_has_returned_has_no_scopes(play: Play) -> None:
    client, _, actor, worker = begun(play)
    label, step = stack(client, client.stop()["threadId"])[len(worker.stopped[1]) :][:2]
    assert client.request("scopes", frameId=step["id"])["scopes"] == []
    assert client.request("scopes", frameId=label["id"])["scopes"] == []
    assert "has returned" in client.refused(Code.NOT_STOPPED, "evaluate", expression="x", frameId=step["id"])
    actor.die()
    client.inbox.clear()
    assert client.request("scopes", frameId=step["id"])["scopes"] == []


def test_the_frame_of_a_stopped_caller_is_that_of_its_own_stop(play: Play) -> None:
    client, driver, _, worker = begun(play)
    thread = client.stop()["threadId"]
    train = stack(client, thread)[len(worker.stopped[1]) + 3]
    driver.stop()
    client.stop()
    driver.running_frames = {(OUTER, 0): driver.stopped[1][0]["id"]}
    (scope,) = client.request("scopes", frameId=train["id"])["scopes"]
    (variable,) = client.request("variables", variablesReference=scope["variablesReference"])["variables"]
    assert variable["name"].startswith("driver:")
    assert client.request("evaluate", expression="x", frameId=train["id"])["result"] == "x of driver"


def test_frames_of_callers_end_with_the_stop_that_showed_them(play: Play) -> None:
    client, _, _, worker = begun(play)
    thread = client.stop()["threadId"]
    step = stack(client, thread)[len(worker.stopped[1]) + 1]
    client.request("continue", threadId=thread)
    client.inbox.clear()
    assert "no longer valid" in client.refused(Code.STALE_ID, "scopes", frameId=step["id"])


def test_a_caller_that_sends_nonsense_or_nothing_costs_only_its_frames(play: Play) -> None:
    client, _, actor, worker = begun(play)
    thread = client.stop()["threadId"]
    for answer in ("[", json.dumps({"thread": "x"}), json.dumps([]), "\ud800", "[" * 9_000):
        actor.recorded = {TASK: answer}
        worker.stop()
        client.inbox.clear()
        assert len(stack(client, thread)) == len(worker.stopped[1])
        play.warned("cannot report the call of a task")
        client.request("continue", threadId=thread)
        client.inbox.clear()
    worker.stop()
    client.inbox.clear()
    actor.hold.add("evaluate")
    seq = client.send("stackTrace", threadId=thread)
    play.tick(caller_frames.ANSWER_S + 1)
    assert len(client.answer(seq)["stackFrames"]) == len(worker.stopped[1])
    play.warned("cannot report the call of a task")
    # It delays no other stack.
    client.request("continue", threadId=thread)
    worker.stop()
    client.inbox.clear()
    assert len(stack(client, thread)) == len(worker.stopped[1])


def test_hostile_ids_and_long_stacks_of_a_caller_are_cut(play: Play) -> None:
    client, _, actor, worker = begun(play)
    many = call(*[(f"f{number}", number) for number in range(1, 10_000)], task="not an id")
    actor.recorded = {TASK: many}
    actor.running_frames = {(TASK, 0): 10**4000}
    frames = stack(client, client.stop()["threadId"])[len(worker.stopped[1]) :]
    assert len(frames) == caller_frames.MAX_FRAMES + 1
    assert client.request("scopes", frameId=frames[1]["id"])["scopes"] == []
    client.request("continue", threadId=1000)
    for task in ("x y", "é" * 9, TASK * 9_999, 5, None):
        worker.say("raydapTask", {"threadId": 1, "task": task})
    worker.stop()
    client.inbox.clear()
    actor.heard.clear()
    assert len(stack(client, 1000)) == len(worker.stopped[1])
    assert asked(actor) == 0


def test_a_chain_of_callers_that_never_ends_is_cut(play: Play) -> None:
    client, _, actor, worker = begun(play)
    actor.recorded = {TASK: call(("step", 20), task=TASK)}
    assert len(stack(client, client.stop()["threadId"])) == len(worker.stopped[1]) + 2
