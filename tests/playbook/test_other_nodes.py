"""Prepared workers on other nodes. raydap reaches them over the relay, and the relay can fail while they live."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from raydap.core.effects import AskExitReason, ReachNodes
from raydap.core.events import (
    AgentCalled,
    AgentFound,
    AgentsEnded,
    AgentsExpected,
    Event,
    NodesAlive,
    WorkerGone,
    WorkersEnded,
)
from raydap.core.process_info import EndedWorker
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, launched, prepared

NODES = {"n0": "10.0.0.1", "n1": "10.0.0.2"}


def found(play: Play) -> FakeWorker:
    worker = prepared(play, "w1", over_relay=True, node_id="n1")
    play.feed(AgentFound(worker.row))
    return worker


def stopped(play: Play) -> tuple[FakeClient, FakeWorker]:
    client = play.session()
    client.request("setBreakpoints", **LINES)
    worker = found(play)
    assert worker.complete
    client.event("breakpoint")
    worker.stop()
    client.stop()
    return client, worker


def lose(play: Play, worker: FakeWorker) -> None:
    worker.connected = False
    play.feed(WorkerGone(worker.key, "closed over the relay"))


def reached(play: Play) -> list[Mapping[str, str]]:
    """Return the nodes of each ReachNodes effect."""
    return [effect.nodes for effect in play._effects if isinstance(effect, ReachNodes)]


def near(play: Play, **row: Any) -> FakeWorker:
    return prepared(play, "w0", node_id="n0", **row)


SIGNS: dict[str, Callable[[Play], Event]] = {
    "Ray or a driver reports it": lambda play: AgentsExpected("job 1 has one"),
    "an agent on raydap's own node": lambda play: AgentFound(near(play).row),
    "a call from raydap's own node": lambda play: AgentCalled(near(play).row),
    "a program that waits": lambda play: AgentCalled(near(play, worker_type="DRIVER").row, waits=True),
}


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_the_nodes_are_reached_as_soon_as_something_is_prepared(play: Play, sign: Callable[[Play], Event]) -> None:
    play.session()
    play.feed(NodesAlive(NODES))
    assert reached(play) == []
    play.feed(sign(play))
    assert reached(play) == [NODES]
    play.feed(AgentsExpected("job 2 has one"))
    assert reached(play) == [NODES], "they are reached already"
    more = {**NODES, "n2": "10.0.0.3"}
    play.feed(NodesAlive(more))
    assert reached(play) == [NODES, more]
    play.feed(NodesAlive(NODES))
    assert reached(play) == [NODES, more, NODES]
    play._effects.clear()


def test_what_was_seen_before_the_nodes_counts(play: Play) -> None:
    play.session()
    play.feed(AgentsExpected("job 1 has one"))
    assert reached(play) == []
    play.feed(NodesAlive(NODES))
    assert play.take(ReachNodes).nodes == NODES


def test_the_next_session_begins_anew(play: Play) -> None:
    client = play.session()
    play.feed(NodesAlive(NODES), AgentsExpected("job 1 has one"))
    assert play.take(ReachNodes).nodes == NODES
    client.request("disconnect")
    play._effects.clear()
    play.feed(AgentsExpected("it comes too late"))
    play.session()
    play.feed(NodesAlive(NODES))
    assert reached(play) == []


def test_all_nodes_are_reached_at_once_if_all_workers_are(play: Play) -> None:
    play.session({"reach": "any"})
    play.feed(NodesAlive(NODES))
    assert play.take(ReachNodes).nodes == NODES
    play.feed(AgentsExpected("job 1 has one"))
    assert reached(play) == []


@pytest.mark.parametrize("relay", ["auto", "always"])
def test_a_hub_that_looks_for_no_agent_on_its_own_node_reaches_all_at_once(relay: Any) -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), relay=relay))
    play.session()
    play.feed(NodesAlive(NODES))
    assert reached(play) == ([NODES] if relay == "always" else [])


def test_all_nodes_are_reached_for_a_launched_program(play: Play) -> None:
    launched(play)
    play.feed(NodesAlive(NODES))
    assert play.take(ReachNodes).nodes == NODES


@pytest.mark.parametrize("launch", [False, True])
def test_no_node_is_reached_if_the_user_wants_what_pauses_only(play: Play, launch: bool) -> None:
    if launch:
        launched(play, reach="paused")
    else:
        play.session({"reach": "paused"})
    play.feed(NodesAlive(NODES), AgentsExpected("job 1 has one"))
    assert reached(play) == []


def test_the_workers_of_a_node_that_is_gone_are_not_dialled(play: Play) -> None:
    client = play.session()
    worker = found(play)
    other = prepared(play, "w2", node_id="n1")
    play.feed(AgentFound(other.row))
    play.feed(NodesAlive({"n0": "10.0.0.1"}))
    play.take(ReachNodes)
    client.request("setBreakpoints", **LINES)
    assert (worker.dials, other.dials) == (0, 1)
    client.event("breakpoint")


def test_a_worker_whose_relay_is_lost_is_attached_again_when_it_is_found(play: Play) -> None:
    client, worker = stopped(play)
    lose(play, worker)
    client.event("thread")
    client.event("breakpoint")
    play.feed(AgentFound(worker.row))
    assert worker.connected
    assert worker.dials == 2
    told = client.told(Code.WORKER_GONE)
    assert "closed over the relay" in told
    assert "raydap attaches to it again" in told
    client.event("breakpoint")
    play.tick(60)
    worker.stop()
    client.stop()


def test_a_worker_that_has_ended_is_reported_with_ray_s_reason(play: Play) -> None:
    client, worker = stopped(play)
    lose(play, worker)
    client.event("thread")
    client.event("breakpoint")
    assert play.asked_exit_reasons == [worker.row]
    play.feed(WorkersEnded((EndedWorker(worker.row, "The node has died. Its raylet", crashed=True),)))
    told = client.told(Code.WORKER_GONE)
    assert "is gone (The node has died)" in told
    assert AskExitReason not in map(type, play._effects)


def test_a_worker_that_is_not_found_again_is_reported_once(play: Play) -> None:
    client, worker = stopped(play)
    lose(play, worker)
    client.event("thread")
    client.event("breakpoint")
    play.tick(60)
    assert "if it is alive, is running again" in client.told(Code.WORKER_GONE)
    play.tick(60)
    client.nothing()


def test_a_relay_that_is_lost_during_an_attach_is_no_news(play: Play) -> None:
    client = play.session()
    client.request("setBreakpoints", **LINES)
    worker = prepared(play, "w1", over_relay=True, node_id="n1")
    worker.hold = {"configurationDone"}
    play.feed(AgentFound(worker.row))
    assert client.event("breakpoint")["breakpoint"]["verified"] is True
    worker.die("closed over the relay")
    play.warned("so configurationDone has no answer")
    assert client.event("breakpoint")["breakpoint"]["verified"] is False
    worker.release()
    play.feed(AgentFound(worker.row))
    assert worker.complete
    client.event("breakpoint")


def test_a_process_that_ends_here_is_none_on_another_node(play: Play) -> None:
    """Two nodes can use one path, because it contains only the process id."""
    client = play.session()
    far, here = found(play), near(play)
    here.row = dataclasses.replace(here.row, agent=far.row.agent)
    play.feed(AgentFound(here.row), AgentsEnded({far.row.agent}))
    client.request("setBreakpoints", **LINES)
    assert (far.dials > 0, here.dials > 0) == (True, False)
    client.event("breakpoint")
