"""Step Into follows a call to the process that runs it, and Step Out leads back (core/workers/remote_steps.py)."""

from typing import Any

import pytest

from raydap.core.effects import InjectAgent, ReleaseAgent
from raydap.core.workers.remote_steps import LONG_S, READY_S
from raydap.inworker import task_calls
from raydap.protocol.types import WorkerKey
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, call, launched, prepared

TASK = "ab" * 24
CALL = {"threadId": 1, "kind": "task", "function": "outer", "code": "outer"}


def begun(play: Play, **supports: Any) -> tuple[FakeClient, FakeWorker, FakeWorker]:
    """Return a client, a driver that is stopped at a line with `.remote`, and a worker; both have agents."""
    client = launched(play, LINES)
    driver, worker = prepared(play, "driver", worker_type="DRIVER"), prepared(play, "worker")
    call(play, driver, worker)
    play.take_all(ReleaseAgent)
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    heard(driver, worker)
    client.inbox.clear()
    return client, driver, worker


def heard(*workers: FakeWorker) -> list[str]:
    """Return what the workers were asked since the last call: the commands, and the names of the functions."""
    found = []
    for worker in workers:
        for message in worker.heard:
            text = str(message.get("arguments", {}).get("expression", ""))
            names = [name for name in ("arm", "disarm", "decide", "resolve", "is_outermost", "stop_at", "forget")]
            found += [name for name in names if f".{name}(" in text] or [message["command"]]
        worker.heard.clear()
    return found


def step_into(client: FakeClient, driver: FakeWorker) -> int:
    """Step the driver into its call, and return the number of the step."""
    client.inbox.clear()
    client.request("stepIn", threadId=client.request("threads")["threads"][0]["id"])
    client.event("continued")
    (armed,) = (each for each in driver.heard if ".arm(" in str(each.get("arguments")))
    text = armed["arguments"]["expression"]
    return int(text.partition(".arm(")[2].partition(",")[0])


def functions(worker: FakeWorker) -> list[Any]:
    """Return the function breakpoints that the worker has been sent last."""
    sent = [each["arguments"]["breakpoints"] for each in worker.heard if each["command"] == "setFunctionBreakpoints"]
    return list(sent[-1])


def followed(client: FakeClient, driver: FakeWorker, worker: FakeWorker) -> int:
    """Let the call of a step reach its first line in the worker, and return the number of the step."""
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    heard(driver, worker)
    worker.say("raydapReached", {"number": number, "threadId": 1})
    worker.stop(reason="function breakpoint")
    return number


def test_a_step_follows_its_call_to_the_first_line(play: Play) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    assert heard(driver) == ["arm", "next"]
    driver.say("raydapCall", {"number": number, **CALL})
    assert functions(worker) == [{"name": "outer", "condition": task_calls.is_called(number, "")}]
    assert heard(driver) == ["setFunctionBreakpoints", "decide"]
    heard(worker)
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    assert heard(driver, worker) == ["resolve", "resolve"]
    worker.say("raydapReached", {"number": number, "threadId": 1})
    worker.stop(reason="function breakpoint")
    assert functions(worker) == []
    assert heard(worker) == ["setFunctionBreakpoints", "next"]
    client.nothing()
    worker.stop(reason="step")
    client.event("thread")
    stop = client.event("stopped")
    assert stop["reason"] == "step"
    assert stop["raydap"]["steppedFrom"] != stop["threadId"]
    assert not stop["preserveFocusHint"]


def test_a_worker_that_is_attached_later_gets_the_task(play: Play) -> None:
    client, driver, _ = begun(play)
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    late = prepared(play, "late")
    call(play, late)
    play.take_all(ReleaseAgent)
    assert functions(late) == [{"name": "outer", "condition": task_calls.is_called(number, TASK)}]


def test_a_step_out_leads_to_the_line_that_takes_the_result(play: Play) -> None:
    client, driver, worker = begun(play)
    number = followed(client, driver, worker)
    worker.stop(reason="step")
    client.event("thread")
    stop = client.event("stopped")
    heard(driver, worker)
    client.request("stepOut", threadId=stop["threadId"])
    client.event("continued")
    assert heard(worker)[:3] == ["stackTrace", "evaluate", "is_outermost"]
    assert heard(driver) == ["stop_at"]
    driver.say("raydapTaken", {"number": number, "threadId": 1, "stops": True})
    driver.stop(reason="step")
    back = client.event("stopped")
    assert back["raydap"] == {"steppedFrom": stop["threadId"]}
    assert not play.bridge.state.remote_steps


@pytest.mark.parametrize(("name", "answer"), [(".is_outermost(", "no"), (".stop_at(", "")])
def test_any_other_step_out_is_an_ordinary_one(play: Play, name: str, answer: str) -> None:
    client, driver, worker = begun(play)
    followed(client, driver, worker)
    worker.stop(reason="step")
    client.event("thread")
    stop = client.event("stopped")
    driver.steps[name] = worker.steps[name] = answer
    client.request("stepOut", threadId=stop["threadId"])
    client.event("continued")
    assert heard(worker)[-1] == "stepOut"


def test_a_step_out_of_a_later_call_in_the_thread_is_an_ordinary_one(play: Play) -> None:
    client, driver, worker = begun(play)
    followed(client, driver, worker)
    worker.stop(reason="step")
    client.event("thread")
    stop = client.event("stopped")
    worker.task = "cd" * 24
    client.request("stepOut", threadId=stop["threadId"])
    client.event("continued")
    assert heard(worker)[-1] == "stepOut"


def test_a_step_at_another_line_costs_one_request(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.event("thread")
    stop = client.event("stopped")
    worker.commands()
    client.request("stepIn", threadId=stop["threadId"])
    client.event("continued")
    assert worker.commands() == ["stepIn"]


def test_a_line_that_submits_nothing_is_stepped_over(play: Play) -> None:
    client, driver, _ = begun(play)
    step_into(client, driver)
    heard(driver)
    driver.stop(reason="step")
    client.event("stopped")
    assert heard(driver) == ["disarm"]
    assert not play.bridge.state.remote_steps


def test_a_chosen_target_that_is_no_call_of_ray_is_an_ordinary_step(play: Play) -> None:
    client, driver, _ = begun(play)
    driver.steps[".arm("] = ""
    client.request("stepIn", threadId=client.request("threads")["threads"][0]["id"])
    client.event("continued")
    assert heard(driver) == ["arm", "stepIn"]


OBSTACLES = [
    ({"code": ""}, "it has no code of Python"),
    ({"kind": "actor", "code": ""}, "its class has no __init__"),
]


@pytest.mark.parametrize(("call", "reason"), OBSTACLES)
def test_a_call_that_cannot_be_followed_is_submitted(play: Play, call: dict[str, object], reason: str) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    heard(driver, worker)
    driver.say("raydapCall", {"number": number, **CALL, **call})
    text = f"Step Into cannot follow outer: {reason}. It steps over the call.\n"
    assert client.event("output")["output"] == text
    assert "decide" in heard(driver)
    assert not play.bridge.state.remote_steps


def test_a_program_without_agents_cannot_be_followed_into_new_processes(play: Play) -> None:
    client = play.session()
    (driver,) = play.attached("w1")
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    assert "this program is not prepared" in client.event("output")["output"]


ACTOR = {"kind": "method", "worker": "w2", "pid": 7, "node": "10.0.0.1", "nodeId": "n"}


def test_the_process_of_a_running_actor_gets_an_agent(play: Play) -> None:
    client = play.session()
    (driver,) = play.attached("w1")
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    number = step_into(client, driver)
    heard(driver)
    driver.say("raydapCall", {"number": number, **CALL, **ACTOR})
    assert play.take(InjectAgent).worker.pid == 7
    assert "decide" not in heard(driver)
    actor = prepared(play, "w2")
    call(play, actor)
    assert "decide" in heard(driver)
    assert [each["name"] for each in functions(actor)] == ["outer"]
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    client.request("pause", threadId=0)
    assert "no longer waits" in client.event("output")["output"]
    assert play.bridge.state.run.processes[WorkerKey("w2")].choice is None


def test_no_agent_is_started_if_the_user_wants_paused_workers_only(play: Play) -> None:
    client = play.session({"reach": "paused"})
    (driver,) = play.attached("w1")
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL, **ACTOR})
    assert '"reach": "paused"' in client.event("output")["output"]


def test_without_an_agent_in_time_the_call_is_submitted(play: Play) -> None:
    client = play.session()
    (driver,) = play.attached("w1")
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL, **ACTOR})
    play.take(InjectAgent)
    play.tick(READY_S)
    assert "cannot attach to the process of its actor (7)" in client.event("output")["output"]


def test_a_long_wait_is_shown_and_can_be_given_up(play: Play) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    heard(driver, worker)
    play.tick(LONG_S)
    text = "Step Into waits until a worker begins outer; a pause gives it up.\n"
    assert client.event("output")["output"] == text
    client.request("pause", threadId=0)
    assert "no longer waits for the call of outer" in client.event("output")["output"]
    assert functions(worker) == []
    assert not play.bridge.state.remote_steps


def test_a_wait_is_given_up_by_its_progress(play: Play) -> None:
    client = play.session(supportsProgressReporting=True)
    driver, worker = prepared(play, "driver", worker_type="DRIVER"), prepared(play, "worker")
    client.request("setBreakpoints", **LINES)
    call(play, driver, worker)
    play.take_all(ReleaseAgent)
    driver.say("raydapSubmits", {"threadId": 1})
    driver.stop()
    number = followed(client, driver, worker)
    worker.stop(reason="step")
    client.event("thread")
    stop = client.event("stopped")
    client.request("stepOut", threadId=stop["threadId"])
    client.event("continued")
    play.tick(LONG_S)
    progress = client.event("progressStart")
    assert progress["cancellable"]
    client.event("output")
    heard(driver)
    client.request("cancel", progressId=progress["progressId"])
    client.event("progressEnd")
    client.event("output")
    assert heard(driver) == ["forget"]
    assert number not in play.bridge.state.remote_steps


def test_a_call_that_ends_without_a_stop_ends_the_step(play: Play) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    driver.say("raydapTaken", {"number": number, "threadId": 1, "stops": False})
    assert client.event("output")["output"] == "outer has ended without a stop in its function.\n"
    assert functions(worker) == []


def test_the_end_of_the_caller_removes_the_breakpoint(play: Play) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    heard(worker)
    driver.die()
    assert functions(worker) == []
    assert not play.bridge.state.remote_steps
    client.inbox.clear()


def test_a_breakpoint_of_the_user_at_the_same_function_stays(play: Play) -> None:
    client, driver, worker = begun(play)
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "outer", "condition": "x > 1"}])
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    condition = f"({task_calls.is_called(number, '')}) or (x > 1)"
    assert functions(worker) == [{"name": "outer", "condition": condition}]
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": ""})
    client.inbox.clear()
    assert functions(worker) == [{"name": "outer", "condition": "x > 1"}]


@pytest.mark.parametrize("event", ["raydapCall", "raydapSubmitted", "raydapTaken", "raydapReached", "raydapSubmits"])
@pytest.mark.parametrize("body", [{}, {"number": 99}, {"number": "x", "threadId": "y"}, {"number": []}])
def test_events_about_no_step_are_ignored(play: Play, event: str, body: dict[str, Any]) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.say(event, body)
    client.nothing()


def test_a_generator_stops_at_its_first_line_at_once(play: Play) -> None:
    client, driver, worker = begun(play)
    number = step_into(client, driver)
    driver.say("raydapCall", {"number": number, **CALL})
    driver.say("raydapSubmitted", {"number": number, "threadId": 1, "task": TASK})
    heard(driver, worker)
    worker.say("raydapReached", {"number": number, "threadId": 1, "steps": True})
    assert heard(worker) == ["setFunctionBreakpoints"]
    worker.stop(reason="step")
    client.event("thread")
    assert "raydap" in client.event("stopped")
