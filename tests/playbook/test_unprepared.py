"""The effect of `"reach": "any"` on workers without an agent."""

from typing import Any

import pytest

from raydap.core.effects import InjectAgent, WatchAlive
from raydap.core.events import AgentCalled, AgentInjected
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from raydap.protocol.types import WorkerKey
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, NO_LINES, prepared

ACTOR = RayFacts(task="Trainer.step", actor="Trainer", job="01000000")
TASK = RayFacts(task="loop", job="01000000")
ANY = {"reach": "any"}


def watched(play: Play, **arguments: Any) -> FakeClient:
    """Return a client with a breakpoint, for which raydap watches all workers."""
    client = play.session({**ANY, **arguments})
    assert play._effects == [], "without a breakpoint no worker needs an agent"
    client.request("setBreakpoints", **LINES)
    assert play.take(WatchAlive) == WatchAlive(True)
    return client


def asked(play: Play) -> list[InjectAgent]:
    """Return the agents that are to be started, and remove these effects."""
    return [play.take(InjectAgent) for _ in list(play._effects)]


def agent_calls(play: Play, worker: FakeWorker) -> None:
    """Let the agent call that was started in the worker."""
    started = prepared(play, worker.key, pid=worker.row.pid)
    started.facts = worker.facts
    play.feed(AgentInjected(worker.key, ""), AgentCalled(started.row))


def listed_twice(play: Play, worker: FakeWorker) -> None:
    """List the worker twice, which shows that it still runs."""
    play.alive(worker)
    play.alive(worker)


def problem_of(client: FakeClient, key: str) -> str:
    entries = client.request("raydap/workers", all=True)["workers"]
    return str(next(entry["problem"] for entry in entries if entry["key"] == key))


def test_a_breakpoint_reaches_all_that_run(play: Play) -> None:
    client = watched(play)
    actor, task = play.worker("w1", ACTOR), play.worker("w2", TASK)
    play.alive(actor, task)
    assert {(one.worker.key, one.actor, one.children) for one in asked(play)} == {
        ("w1", True, True),
        ("w2", False, True),
    }
    play.alive(actor, task)
    assert asked(play) == [], "once is enough"
    agent_calls(play, actor)
    assert play.workers["w1"].connected
    assert "setBreakpoints" in play.workers["w1"].commands()
    # From now on the worker is like a prepared one.
    play.alive(actor, task)
    assert asked(play) == []
    client.event("breakpoint")
    client.request("setBreakpoints", **NO_LINES)
    assert play.take(WatchAlive) == WatchAlive(False)
    play.tick(1.0)
    assert not play.workers["w1"].connected


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        ({"task": "train"}, TASK),
        ({"actor": "Trainer"}, TASK),
        ({"job": "02*"}, ACTOR),
        ({"job": "01*"}, RayFacts()),
        ({"node": "10.9.*"}, ACTOR),
        ({}, RayFacts(actor="JobSupervisor", job="01000000")),
    ],
)
def test_the_filters_spare_the_others(play: Play, arguments: dict[str, Any], label: RayFacts) -> None:
    watched(play, **arguments)
    play.alive(play.worker("w1", label))
    assert asked(play) == []


def test_no_more_than_max_workers(play: Play) -> None:
    client = watched(play, maxWorkers=1)
    play.alive(play.worker("w1", ACTOR), play.worker("w2", ACTOR))
    assert play.take(InjectAgent).worker.key == "w1"
    assert "maxWorkers allows 1" in client.told(Code.TOO_MANY_WORKERS)


def test_only_the_named_worker_without_auto_attach(play: Play) -> None:
    client = play.session({**ANY, "autoAttach": False})
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    client.request("setBreakpoints", **LINES)
    worker = play.worker("w1", ACTOR)
    play.alive(worker, play.worker("w2", ACTOR))
    client.request("raydap/attach", workers=["w1"])
    assert [one.worker.key for one in asked(play)] == ["w1"]
    agent_calls(play, worker)
    assert play.workers["w1"].connected
    client.inbox.clear()


def test_the_reason_is_in_the_entry_and_reported_once(play: Play) -> None:
    client = watched(play)
    workers = [play.worker(f"w{number}", TASK) for number in range(3)]
    play.alive(*workers)
    asked(play)
    for worker in workers[:2]:
        play.feed(AgentInjected(worker.key, "gdb is not installed on 10.0.0.1; install it there"))
    play.alive(*workers)
    client.nothing()
    play.alive(*workers)
    text = client.told(Code.NO_AGENT)
    assert text.startswith("raydap cannot attach to worker 101 on 10.0.0.1 while it runs: gdb is not installed")
    client.nothing()
    client.request("raydap/workers", all=True)
    assert "gdb is not installed" in problem_of(client, "w1")
    client.inbox.clear()


def test_a_worker_that_ended_before_its_agent_started_is_no_problem(play: Play) -> None:
    """The first list after the failure was made before the worker ended."""
    client = watched(play)
    worker = play.worker("w1", TASK)
    play.alive(worker)
    asked(play)
    play.feed(AgentInjected(worker.key, "it has ended in the meantime"))
    play.alive(worker)
    play.alive()
    play.tick(400.0)
    client.nothing()


def test_an_agent_that_does_not_call(play: Play) -> None:
    """Where native code keeps the GIL, the agent's thread is created, but has to wait."""
    client = watched(play)
    worker = play.worker("w1", TASK)
    play.alive(worker)
    asked(play)
    play.tick(100.0)
    play.feed(AgentInjected(worker.key, ""))
    play.tick(10.0)
    client.nothing()
    play.tick(11.0)
    listed_twice(play, worker)
    assert "has not called yet" in client.told(Code.NO_AGENT)
    # The agent may start late.
    agent_calls(play, worker)
    assert play.workers["w1"].connected
    client.inbox.clear()


def test_raydap_tries_again_later_and_at_once_if_the_user_wants_it(play: Play) -> None:
    client = watched(play)
    worker = play.worker("w1", TASK)
    play.alive(worker)
    asked(play)
    play.feed(AgentInjected(worker.key, "busy"))
    play.tick(5.0)
    listed_twice(play, worker)
    client.told(Code.NO_AGENT)
    assert asked(play) == []
    client.request("raydap/attach", workers=["w1"])
    assert len(asked(play)) == 1
    play.feed(AgentInjected(worker.key, "busy"))
    play.tick(11.0)
    assert len(asked(play)) == 1
    play.feed(AgentInjected(worker.key, "busy"))
    play.tick(11.0)
    assert asked(play) == [], "the delay grows"


def test_an_answer_for_a_worker_that_is_gone_is_dropped(play: Play) -> None:
    watched(play)
    worker = play.worker("w1", TASK)
    play.alive(worker)
    asked(play)
    play.alive()
    play.feed(AgentInjected(worker.key, "it has ended"), AgentInjected(WorkerKey("never"), "what"))
    assert not any(process.injection for process in play.bridge.state.run.processes)


def test_paused_and_prepared_leave_them_alone(play: Play) -> None:
    client = play.session({"reach": "prepared"})
    client.request("setBreakpoints", **LINES)
    client.request("raydap/workers", all=True)
    play.take(WatchAlive)
    play.alive(play.worker("w1", TASK))
    client.inbox.clear()
    client.request("raydap/attach", workers=["w1"])
    assert asked(play) == []
    assert '"reach": "any"' in problem_of(client, "w1")
    client.inbox.clear()
