"""Work on many workers is done in parts, and other events are handled between them. Here each part is one worker."""

from collections.abc import Iterator
from typing import Any

import pytest

from raydap.core import flows
from raydap.core.effects import StopDiscovery
from raydap.core.events import NextPart, Shutdown, WorkerGone
from raydap.inworker import calls
from raydap.protocol.types import LocalId
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

FILE = {"path": "/app/train.py"}


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch, play: Play) -> Iterator[None]:
    monkeypatch.setattr(flows, "PART", 1)
    yield
    clear(*play.clients.values())
    play.holds_parts = False
    play.feed(NextPart())


def session(play: Play) -> tuple[FakeClient, list[FakeWorker]]:
    """Return a client and its workers. From now on, a part begins when the test feeds `NextPart`."""
    client = play.session()
    workers = play.attached("w1", "w2", "w3")
    for worker in workers:
        worker.heard.clear()
    play.holds_parts = True
    return client, workers


def heard(workers: list[FakeWorker], command: str) -> list[int]:
    """Return how often each worker has received a request."""
    return [sum(message["command"] == command for message in worker.heard) for worker in workers]


def resumed(workers: list[FakeWorker]) -> list[int]:
    """Return how often a thread of each worker was resumed."""
    expression = calls.resume_thread(LocalId(1))
    return [sum(message["arguments"].get("expression") == expression for message in asked(each)) for each in workers]


def asked(worker: FakeWorker) -> list[dict[str, Any]]:
    return [message for message in worker.heard if message["command"] == "evaluate"]


def set_line(client: FakeClient, line: int) -> int:
    return client.send("setBreakpoints", source=FILE, breakpoints=[{"line": line}])


def clear(*clients: FakeClient) -> None:
    for client in clients:
        client.inbox.clear()


def lines(worker: FakeWorker) -> list[Any]:
    """Return the lines of the breakpoints in each request that the worker has received."""
    sent = [message["arguments"] for message in worker.heard if message["command"] == "setBreakpoints"]
    return [[each["line"] for each in arguments["breakpoints"]] for arguments in sent]


def test_the_client_gets_its_answer_at_once_and_the_workers_one_after_the_other(play: Play) -> None:
    client, workers = session(play)
    client.answer(set_line(client, 7))
    assert heard(workers, "setBreakpoints") == [1, 0, 0]
    play.feed(NextPart())
    assert heard(workers, "setBreakpoints") == [1, 1, 0]
    play.feed(NextPart())
    assert heard(workers, "setBreakpoints") == [1, 1, 1]


def test_a_later_request_of_the_client_waits_for_all_parts(play: Play) -> None:
    """A thread that `continue` resumes must stop at the breakpoint that was set before."""
    client, workers = session(play)
    workers[2].stop()
    thread = client.stop()["threadId"]
    set_line(client, 7)
    going, listed = client.send("continue", threadId=thread), client.send("threads")
    play.feed(NextPart())
    assert heard(workers, "setBreakpoints") == [1, 1, 0]
    assert resumed(workers) == [0, 0, 0]
    play.holds_parts = False
    play.feed(NextPart())
    assert heard(workers, "setBreakpoints") == [1, 1, 1]
    assert resumed(workers) == [0, 0, 1]
    client.answer(going)
    assert client.answer(listed) == {"threads": []}


def test_stops_and_other_clients_do_not_wait(play: Play) -> None:
    client, workers = session(play)
    other = play.joined()
    set_line(client, 7)
    clear(client, other)
    workers[2].stop()
    thread = client.stop()["threadId"]
    assert other.stop()["threadId"] == thread
    assert [each["id"] for each in other.request("threads")["threads"]] == [thread]


def test_breakpoints_that_are_replaced_between_parts_are_not_set_again(play: Play) -> None:
    client, workers = session(play)
    other = play.joined()
    play.holds_parts = True
    set_line(client, 7)
    other.send("setBreakpoints", source=FILE, breakpoints=[{"line": 7}, {"line": 9}])
    play.holds_parts = False
    play.feed(NextPart())
    assert [lines(worker) for worker in workers] == [[[7], [7, 9]], [[7, 9]], [[7, 9]]]


def test_the_other_workers_get_the_breakpoints_of_a_client_that_has_gone(play: Play) -> None:
    client, workers = session(play)
    play.joined()
    play.holds_parts = True
    set_line(client, 7)
    client.send("threads")
    client.hang_up()
    play.feed(WorkerGone(workers[1].key, "closed"))
    play.holds_parts = False
    play.feed(NextPart())
    assert heard(workers, "setBreakpoints") == [1, 0, 1]


def test_a_thread_that_another_client_resumes_between_parts_is_not_resumed_again(play: Play) -> None:
    """debugpy hangs after a second `continue` (debugpy#2048)."""
    client, workers = session(play)
    other = play.joined()
    for worker in workers:
        worker.stop()
    threads = [client.stop()["threadId"] for _ in workers]
    play.holds_parts = True
    everybody = client.send("raydap/continue")
    other.answer(other.send("continue", threadId=threads[2]))
    play.holds_parts = False
    play.feed(NextPart())
    assert resumed(workers) == [1, 1, 1]
    assert client.answer(everybody)["threads"] == threads[:2]


def test_all_workers_are_detached_from_once(play: Play) -> None:
    client, workers = session(play)
    client.send("disconnect")
    play.feed(WorkerGone(workers[1].key, "closed"))
    play.feed(NextPart())
    assert heard(workers, "disconnect") == [1, 0, 0]
    play.holds_parts = False
    play.feed(NextPart())
    assert heard(workers, "disconnect") == [1, 0, 1]
    assert play.bridge.idle
    play.take(StopDiscovery)


def feed_until_the_first_is_paused(play: Play, workers: list[FakeWorker]) -> None:
    """Feed parts until one worker is paused. Membership in the set is decided in parts, too."""
    for _ in range(20):
        if heard(workers, "pause") != [0, 0, 0]:
            break
        play.feed(NextPart())
    assert heard(workers, "pause") == [1, 0, 0]


def test_a_worker_that_ends_before_its_part_leaves_nothing(play: Play) -> None:
    client, workers = session(play)
    pausing = client.send("raydap/pause", select="*")
    feed_until_the_first_is_paused(play, workers)
    play.feed(WorkerGone(workers[2].key, "closed"))
    play.holds_parts = False
    play.feed(NextPart())
    client.answer(pausing)
    assert heard(workers, "pause") == [1, 1, 0]
    assert not play.bridge.state.run.processes[workers[2].key].is_to_pause


def test_a_request_ends_with_its_run(play: Play) -> None:
    """Otherwise it would choose workers for the next run."""
    client, workers = session(play)
    client.send("raydap/pause", select="*")
    feed_until_the_first_is_paused(play, workers)
    play.feed(Shutdown())
    play.take(StopDiscovery)
    play.holds_parts = False
    play.feed(NextPart())
    assert heard(workers, "pause") == [1, 0, 0]
    assert heard(workers, "disconnect") == [1, 1, 1]
    assert len(play.bridge.state.run.processes) == 0


def test_messages_that_wait_for_a_request_are_handled_in_order(play: Play) -> None:
    client, workers = session(play)
    set_line(client, 7)
    seqs = [client.send("threads"), client.send("nonsense"), set_line(client, 9), client.send("threads")]
    play.holds_parts = False
    play.feed(NextPart())
    answered = [message["request_seq"] for message in client.inbox if message["type"] == "response"]
    assert answered[1:] == seqs
    assert [lines(worker) for worker in workers] == [[[7], [9]]] * 3
