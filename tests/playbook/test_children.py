"""Subprocesses of workers. Each waits for a debugger, and is attached through the adapter of its parent."""

from typing import Any

import pytest

from raydap.core.effects import StopDiscovery
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def announce(play: Play, parent: FakeWorker, pid: int = 7) -> FakeWorker:
    """Announce a subprocess as debugpy does. raydap ignores its address, which is as seen from the worker's node."""
    place: dict[str, Any] = {"host": parent.row.host, "port": parent.row.port, "pid": pid, "node": parent.row.node}
    child = play.worker(f"{parent.key}/{pid}", worker_type="CHILD", **place)
    say(parent, pid)
    return child


def say(parent: FakeWorker, pid: Any) -> None:
    connect = {"host": "127.0.0.1", "port": 9}
    parent.say("debugpyAttach", {"name": f"Subprocess {pid}", "subProcessId": pid, "connect": connect})


def test_a_child_is_attached_by_its_pid_and_named_after_its_parent(play: Play) -> None:
    client = play.session({"justMyCode": False})
    client.request("setBreakpoints", source={"path": "/app/train.py"}, breakpoints=[{"line": 7}])
    worker = play.worker("w1", RayFacts(task="Trainer.step", actor="Trainer"))
    play.paused(worker)
    client.event("breakpoint")
    child = announce(play, worker)
    sent = {message["command"]: message.get("arguments", {}) for message in child.heard}
    assert sent["attach"]["subProcessId"] == 7
    assert sent["attach"]["justMyCode"] is False
    assert sent["setBreakpoints"]["breakpoints"] == [{"line": 7}]
    attach = next(message for message in worker.heard if message["command"] == "attach")
    assert "subProcessId" not in attach["arguments"]
    worker.stop()
    child.stop()
    first, second = client.stop()["threadId"], client.stop()["threadId"]
    assert client.request("threads")["threads"] == [
        {"id": first, "name": "Trainer · step · 101 · 10.0.0.1"},
        {"id": second, "name": "child of Trainer · 7 · 10.0.0.1"},
    ]
    assert play.described == ["w1", "w1"], "Ray knows nothing of a child"
    client.resume(second)
    assert 1 in worker.stopped
    child.say("output", {"category": "stdout", "output": "x\n"})
    assert client.event("output")["output"] == "[child 7 of Trainer] x\n"


def test_a_child_is_attached_once_and_not_announced_to_clients(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = announce(play, worker)
    say(worker, 7)
    assert child.dials == 1
    client.nothing()


@pytest.mark.parametrize("pid", [None, "7", True, 7.5, [7]])
def test_a_child_without_a_pid_is_none(play: Play, pid: Any) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    say(worker, pid)
    client.nothing()


def test_a_child_counts_against_no_limit(play: Play) -> None:
    client = play.session({"maxWorkers": 1, "node": "10.0.0.1"})
    (worker,) = play.attached("w1")
    assert announce(play, worker).dials == 1
    client.nothing()


def test_a_child_of_a_child(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    grandchild = announce(play, announce(play, worker), 8)
    grandchild.stop()
    client.stop()
    assert client.request("threads")["threads"][0]["name"] == "child of child 7 of worker 101 · 8 · 10.0.0.1"


def test_a_child_stays_attached_when_its_parent_is_gone(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = announce(play, worker)
    worker.say("terminated")
    assert not worker.connected
    child.stop()
    thread = client.stop()["threadId"]
    assert client.request("threads")["threads"][0]["name"] == "child of worker 101 · 7 · 10.0.0.1"
    client.resume(thread)
    child.say("terminated")
    assert client.event("thread") == {"reason": "exited", "threadId": thread}


def test_the_end_of_a_child_is_not_its_parents(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = announce(play, worker)
    child.say("terminated")
    assert not child.connected
    worker.stop()
    client.stop()


def test_a_child_that_ends_before_it_answers_has_been_continued(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = announce(play, worker)
    child.stop()
    thread = client.stop()["threadId"]
    child.hold = {"evaluate"}
    request = client.send("continue", threadId=thread)
    child.say("terminated")
    assert client.answer(request) == {"allThreadsContinued": False}
    assert client.event("continued")["threadId"] == thread
    assert client.event("thread") == {"reason": "exited", "threadId": thread}


def test_a_child_that_cannot_be_attached_is_reported_and_its_parent_stays(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = play.worker("w1/7", host=worker.row.host, port=worker.row.port, pid=7, worker_type="CHILD")
    child.hold.add("dial")
    say(worker, 7)
    child.die("connection refused", refused=True)
    assert "worker 7" in client.told(Code.WORKER_REFUSED)
    worker.stop()
    client.stop()


@pytest.mark.parametrize("leave", [FakeClient.leave, FakeClient.hang_up])
def test_a_client_that_leaves_detaches_the_children_too(play: Play, leave: Any) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = announce(play, worker)
    child.stop()
    client.stop()
    leave(client)
    play.take(StopDiscovery)
    for each in (worker, child):
        assert each.heard[-1]["command"] == "disconnect"
        assert each.heard[-1]["arguments"] == {"terminateDebuggee": False}
        assert not each.connected


@pytest.mark.parametrize("step", ["dial", "initialized", "attach"])
def test_a_child_in_its_handshake_is_detached_once_it_is_attached(play: Play, step: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = play.worker("w1/7", host=worker.row.host, port=worker.row.port, pid=7, worker_type="CHILD")
    child.hold.add(step)
    say(worker, 7)
    client.hang_up()
    play.take(StopDiscovery)
    # One adapter serves both, so it is not disturbed during a handshake.
    assert worker.connected
    assert child.connected
    child.release()
    for each in (worker, child):
        assert each.heard[-1]["command"] == "disconnect"
        assert not each.connected


def test_a_child_of_a_worker_that_is_detaching_is_attached_and_then_detached(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold.add("evaluate")
    client.hang_up()
    play.take(StopDiscovery)
    assert worker.connected
    child = announce(play, worker)
    assert "attach" in child.commands()
    assert not child.connected
    worker.release()
    assert not worker.connected
    client.nothing()


def test_a_parent_does_not_wait_forever_for_its_childs_handshake(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    child = play.worker("w1/7", host=worker.row.host, port=worker.row.port, pid=7, worker_type="CHILD")
    child.hold.add("initialized")
    say(worker, 7)
    client.hang_up()
    play.take(StopDiscovery)
    play.tick(21)
    assert not worker.connected
