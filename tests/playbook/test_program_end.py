"""raydap ends a launched program. The program's workers keep their state until the program has ended."""

from raydap.core.effects import StopDebuggee, StopDiscovery
from raydap.core.events import DebuggeeStopped, WorkerGone
from raydap.core.workers.holding import PROGRAM_END_S, WORKERS_END_S
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import LINES, call, launched, prepared


def left(play: Play) -> FakeWorker:
    """Return a stopped worker of a launched program whose client has left."""
    client = launched(play, LINES)
    worker = prepared(play, "w1")
    call(play, worker)
    client.event("breakpoint")
    worker.stop()
    client.stop()
    worker.commands()
    client.leave()
    play.take(StopDebuggee)
    play.take(StopDiscovery)
    return worker


def test_a_worker_that_ends_with_the_program_is_not_resumed_before(play: Play) -> None:
    worker = left(play)
    play.feed(DebuggeeStopped())
    play.tick(WORKERS_END_S - 0.1)
    assert worker.commands() == []
    play.feed(WorkerGone(worker.row.key, "closed"))
    assert play.bridge.idle
    play.tick(1.0)


def test_a_worker_that_outlives_the_program_is_resumed(play: Play) -> None:
    worker = left(play)
    play.feed(DebuggeeStopped())
    play.tick(WORKERS_END_S)
    assert worker.commands()[-1] == "disconnect"
    assert play.bridge.idle


def test_a_worker_of_a_program_that_does_not_end_is_resumed(play: Play) -> None:
    worker = left(play)
    play.tick(PROGRAM_END_S)
    assert worker.commands()[-1] == "disconnect"
    assert play.bridge.idle
    play.feed(DebuggeeStopped())
