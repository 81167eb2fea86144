"""raydap/stack returns the stack of a worker without stopping it. raydap/pause attaches a worker, then pauses it."""

import json

import pytest

from raydap.core.effects import AskAgent, ReleaseAgent
from raydap.core.events import AgentAnswered, AgentCalled, WorkerGone
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_client import FakeClient
from support.fake_worker import PLUMBING, FakeWorker, blocked
from support.playbook import Play
from support.prepared_workers import launched, prepared

PLACE = "blocked in lock.acquire (train.py:41)"


def released(play: Play, key: str) -> tuple[FakeClient, FakeWorker]:
    """Return a client, and a worker with an agent that runs without a debugger."""
    client = launched(play)
    worker = prepared(play, key)
    play.feed(AgentCalled(worker.row))
    play.take(ReleaseAgent)
    return client, worker


def paused(worker: FakeWorker) -> list[object]:
    """Return the targets of the worker's `pause` requests. pydevd takes "*" for all threads."""
    return [request["arguments"]["threadId"] for request in worker.heard if request["command"] == "pause"]


def leave(play: Play, client: FakeClient) -> None:
    client.send("disconnect")
    client.inbox.clear()
    play._effects.clear()


def to_pause(play: Play) -> list[str]:
    """Return the keys of the workers that are to pause when they are attached."""
    return [process.key for process in play.bridge.state.run.processes if process.is_to_pause]


def test_an_attached_worker_reports_its_stacks(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.blocked = blocked(1)
    stack = client.request("raydap/stack", worker="w1")
    assert worker.heard[-1]["arguments"]["expression"] == calls.all_stacks()
    assert stack["name"] == "worker · 101 · 10.0.0.1"
    (thread,) = stack["threads"]
    assert (thread["name"], thread["place"], thread["isUsers"]) == ("thread 1", PLACE, True)
    assert [(frame["name"], frame["isUsers"]) for frame in thread["frames"]] == [
        ("wait", False),
        ("step", True),
        ("main", False),
    ]
    assert thread["frames"][1] == {
        "name": "step",
        "path": "/app/train.py",
        "line": 41,
        "isUsers": True,
        "variables": [{"name": "loss", "value": "0.5", "type": "float"}],
    }
    assert stack["text"] == (
        f"worker · 101 · 10.0.0.1\n\nThread thread 1: {PLACE}\n"
        '  File "/usr/lib/python3.11/threading.py", line 320, in wait\n'
        '  File "/app/train.py", line 41, in step\n'
        "    loss = 0.5\n"
        f'  File "{PLUMBING}", line 5, in main\n'
    )


def test_an_attached_worker_that_cannot_answer(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold = {"evaluate"}
    seq = client.send("raydap/stack", worker="w1")
    play.tick(6)
    assert "py-spy dump --pid 101" in client.refusal(Code.WORKER_SILENT, seq)
    worker.release()
    worker.blocked = "nonsense"
    assert "cannot be read" in client.refused(Code.WORKER_BROKEN, "raydap/stack", worker="w1")
    worker.hold = {"evaluate"}
    seq = client.send("raydap/stack", worker="w1")
    worker.die()
    client.refusal(Code.WORKER_GONE, seq)


def test_a_worker_that_cannot_answer_is_looked_into_from_outside(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.sampled = {"w1": blocked(0)}
    worker.hold = {"evaluate"}
    seq = client.send("raydap/stack", worker="w1")
    play.tick(2)
    stack = client.answer(seq)
    assert [thread["place"] for thread in stack["threads"]] == [PLACE]
    play.sampled = {"w1": "nonsense"}
    seq = client.send("raydap/stack", worker="w1")
    play.tick(2)
    client.refusal(Code.WORKER_SILENT, seq)
    worker.release()


def test_a_worker_whose_agent_does_not_answer_is_looked_into_from_outside(play: Play) -> None:
    client, _ = released(play, "w1")
    play.sampled = {"w1": blocked(0)}
    seq = client.send("raydap/stack", worker="w1")
    play.feed(AgentAnswered(play.take(AskAgent).number, "", "it does not answer"))
    assert [thread["place"] for thread in client.answer(seq)["threads"]] == [PLACE]
    leave(play, client)


def test_a_worker_without_an_agent_is_looked_into_from_outside(play: Play) -> None:
    client = play.session({"autoAttach": False})
    worker = play.worker("w1")
    play.paused(worker)
    play.sampled = {"w1": blocked(0)}
    stack = client.request("raydap/stack", worker="w1")
    assert [thread["place"] for thread in stack["threads"]] == [PLACE]


def test_a_worker_that_runs_undebugged_is_asked_through_its_agent(play: Play) -> None:
    client, worker = released(play, "w1")
    first, second = client.send("raydap/stack", worker="w1"), client.send("raydap/stack", worker="w1")
    questions = play.take(AskAgent), play.take(AskAgent)
    assert [(asked.target.agent, asked.question) for asked in questions] == [("/sockets/w1", {"stack": True})] * 2
    for asked in questions:
        play.feed(AgentAnswered(asked.number, blocked(0)))
    stack = client.answer(first)
    assert client.answer(second) == stack
    assert [thread["place"] for thread in stack["threads"]] == [PLACE]
    assert worker.dials == 0
    # The worker may have ended, or is no agent of raydap.
    seq = client.send("raydap/stack", worker="w1")
    play.feed(AgentAnswered(play.take(AskAgent).number, "", "it has ended"))
    assert "does not answer: it has ended." in client.refusal(Code.WORKER_BROKEN, seq)
    seq = client.send("raydap/stack", worker="w1")
    number = play.take(AskAgent).number
    play.feed(AgentAnswered(number, json.dumps({"cwd": 7})))
    client.refusal(Code.WORKER_BROKEN, seq)
    play.feed(AgentAnswered(number, "late"))
    leave(play, client)


def test_a_stack_that_is_asked_for_when_the_run_ends(play: Play) -> None:
    client, _ = released(play, "w1")
    client.send("raydap/stack", worker="w1")
    number = play.take(AskAgent).number
    leave(play, client)
    play.feed(AgentAnswered(number, blocked(0)))


@pytest.mark.parametrize("command", ["raydap/stack", "raydap/pause"])
def test_a_worker_that_is_not_there(play: Play, command: str) -> None:
    client = play.session()
    arguments = {"worker": "w7"} if command == "raydap/stack" else {"workers": ["w7"]}
    client.refused(Code.STALE_ID, command, **arguments)


def test_without_an_agent_it_must_be_attached(play: Play) -> None:
    client = play.session({"autoAttach": False})
    worker = play.worker("w1")
    play.paused(worker)
    assert "has no agent" in client.refused(Code.NO_AGENT, "raydap/stack", worker="w1")
    # The worker waits at a breakpoint(), so it stops without a pause.
    client.request("raydap/pause", workers=["w1"])
    assert worker.dials == 1
    assert paused(worker) == []


def test_pause_attaches_first(play: Play) -> None:
    client, worker = released(play, "w1")
    worker.blocked = blocked(1)
    client.request("raydap/pause", workers=["w1"])
    assert worker.dials == 1
    assert paused(worker) == ["*"]
    play.tick(1)
    assert client.stop()["text"] == PLACE
    assert not to_pause(play)
    # The worker stays attached until it is detached, though nothing else could stop it.
    client.request("raydap/continue")
    client.event("continued")
    play.tick(1)
    client.request("raydap/pause", workers=["w1"])
    assert paused(worker) == ["*"] * 2
    play.tick(1)
    client.stop()
    client.request("raydap/detach", workers=["w1"])
    assert client.event("thread")["reason"] == "exited"
    assert not worker.connected
    leave(play, client)


def test_a_pause_whose_attach_fails_is_forgotten(play: Play) -> None:
    client, worker = released(play, "w1")
    worker.hold = {"dial"}
    client.request("raydap/pause", workers=["w1"])
    assert to_pause(play) == ["w1"]
    worker.connected = False
    play.feed(WorkerGone(worker.key, "raydap with pid 7 debugs it"))
    assert not to_pause(play)
    client.told(Code.WORKER_BUSY)
    leave(play, client)


def test_a_pause_that_is_taken_back_before_the_attach_is_over(play: Play) -> None:
    client, worker = released(play, "w1")
    worker.hold = {"attach"}
    client.request("raydap/pause", workers=["w1"])
    client.request("raydap/detach", workers=["w1"])
    worker.release()
    assert paused(worker) == []
    leave(play, client)
