"""raydap retries an attach that failed, and a worker that does not answer delays no other worker."""

from typing import Any

import pytest

from raydap.core.effects import StartDiscovery
from raydap.core.events import AgentFound, AgentsEnded, DiscoveryReady
from raydap.core.model import processes
from raydap.core.model.attaching import AT_ONCE, MAX_ATTACHING, SLOW_S
from raydap.core.process_info import RayFacts
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, call, launched, prepared


@pytest.mark.parametrize("failure", [Code.WORKER_SILENT, Code.WORKER_BUSY])
def test_a_prepared_worker_is_tried_again_and_reported_once(play: Play, failure: Code) -> None:
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    worker.hold = {"initialized", "attach"}
    call(play, worker)
    for trial in range(1, 4):
        assert worker.dials == trial
        if failure is Code.WORKER_BUSY:
            worker.refuse(next(each for each in reversed(worker.heard) if each["command"] == "attach"), "busy")
        else:
            play.tick(20)
        if trial == 1:
            client.told(failure)
        worker.connected = False
        play.tick(processes.DELAYS_S[0] * 2 ** (trial - 1) - 1)
        assert worker.dials == trial
        play.tick(1)
    worker.release()
    assert worker.complete
    client.event("breakpoint")


def target(play: Play) -> tuple[FakeClient, FakeWorker]:
    """Return a session with an address at which nothing listens yet."""
    client = play.client()
    seq = client.send("attach", workers=["127.0.0.1:5678"])
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the given workers"))
    client.event("initialized")
    client.answer(seq)
    client.request("configurationDone")
    worker = play.worker("127.0.0.1:5678", host="127.0.0.1", port=5678, pid=0, worker_type="TARGET", node="127.0.0.1")
    refuse(play, worker)
    client.told(Code.WORKER_REFUSED)
    return client, worker


def refuse(play: Play, worker: FakeWorker) -> None:
    worker.hold = {"dial"}
    play.paused(worker)
    worker.die("refused", refused=True)
    worker.hold = set()


def test_an_address_at_which_nothing_listens_yet_is_tried_again(play: Play) -> None:
    client, worker = target(play)
    play.tick(processes.DELAYS_S[0] - 1)
    assert worker.dials == 1
    (entry,) = client.request("raydap/workers")["workers"]
    assert "Nothing listens" in entry["problem"]
    assert entry["retry"] == 1
    play.tick(1)
    assert worker.complete
    (entry,) = client.request("raydap/workers")["workers"]
    assert (entry["problem"], "retry" in entry) == ("", False)
    client.inbox.clear()


def test_the_user_can_attach_at_once_to_an_address_that_has_failed(play: Play) -> None:
    client, worker = target(play)
    client.request("raydap/attach", workers=["127.0.0.1:5678"])
    assert worker.complete


@pytest.mark.parametrize("named", [True, False])
def test_the_user_can_attach_at_once_to_a_paused_worker_that_has_failed(play: Play, named: bool) -> None:
    client = play.session()
    worker = play.worker("w1")
    refuse(play, worker)
    client.told(Code.WORKER_REFUSED)
    client.request("raydap/attach", **({"workers": ["w1"]} if named else {}))
    assert worker.complete


def silent(play: Play, count: int, **where: Any) -> list[FakeWorker]:
    workers = [play.worker(f"silent{number}", **where) for number in range(count)]
    for worker in workers:
        worker.hold = {"dial"}
    return workers


def test_workers_that_do_not_answer_delay_none_of_another_node(play: Play) -> None:
    play.session()
    healthy = play.worker("healthy", node="10.0.0.2")
    play.paused(*silent(play, 2 * AT_ONCE, node="10.0.0.1"), healthy)
    assert healthy.complete


def test_workers_that_do_not_answer_delay_others_of_their_node_for_seconds_only(play: Play) -> None:
    play.session()
    healthy = play.worker("healthy")
    waiting = silent(play, 2 * AT_ONCE)
    play.paused(*waiting, healthy)
    assert [worker.dials for worker in waiting] == [1] * AT_ONCE + [0] * AT_ONCE
    play.tick(SLOW_S)
    assert [worker.dials for worker in waiting] == [1] * 2 * AT_ONCE
    play.tick(SLOW_S)
    assert healthy.complete


def test_a_worker_that_the_user_has_chosen_is_attached_before_others(play: Play) -> None:
    client = play.session()
    chosen = play.worker("chosen")
    play.paused(*silent(play, 3 * AT_ONCE), chosen)
    client.request("raydap/attach", workers=["chosen"])
    play.tick(SLOW_S)
    assert chosen.complete


def test_so_many_connections_are_open_at_most(play: Play) -> None:
    play.session()
    waiting = [worker for node in range(6) for worker in silent(play, AT_ONCE, node=f"10.0.0.{node}")]
    for number, worker in enumerate(waiting):
        worker.row = play.worker(f"silent{number}", node=f"10.0.0.{number // AT_ONCE}").row
    play.paused(*waiting)
    for _ in range(5):
        play.tick(SLOW_S)
    assert len(play.bridge.state.attaching) <= MAX_ATTACHING


def test_a_filtered_worker_costs_nothing_when_another_one_ends(play: Play) -> None:
    """The end of a worker causes an examination only of the workers that wait for it."""
    play.session(task="train*")
    others = [play.worker(f"x{number}", RayFacts(task="other")) for number in range(20)]
    workers = [play.worker(f"w{number}", RayFacts(task="train")) for number in range(2)]
    play.paused(*others, *workers)
    workers[0].die("closed")
    assert not play.bridge.state.run.processes.queue.to_examine


@pytest.mark.parametrize("has_agent", [True, False])
def test_workers_that_end_while_they_wait_delay_none_behind_them(play: Play, has_agent: bool) -> None:
    """They wait for their turn on their node. When they have ended, the last worker is attached."""
    client = launched(play, LINES) if has_agent else play.session()
    keys = [f"w{number}" for number in range(AT_ONCE + 3)]
    workers = [prepared(play, key) if has_agent else play.worker(key) for key in keys]
    for worker in workers[:AT_ONCE]:
        worker.hold = {"dial"}
    if has_agent:
        play.feed(*(AgentFound(worker.row) for worker in workers))
    else:
        play.paused(*workers)
    assert not any(worker.dials for worker in workers[AT_ONCE:])
    if has_agent:
        play.feed(AgentsEnded({worker.row.agent for worker in workers[AT_ONCE:-1]}))
    else:
        play.paused(*workers[:AT_ONCE], workers[-1])
    play.tick(SLOW_S)
    assert workers[-1].complete
    assert not any(worker.dials for worker in workers[AT_ONCE:-1])
    client.inbox.clear()
    play._effects.clear()
