"""`stopOnEntry`: a launched program stops at its first line; and its name before Ray lists it."""

import json
from typing import Any

import pytest

from raydap.core.effects import StartDebuggee, StopDebuggee
from raydap.core.events import DebuggeeStarted, FactsListed
from raydap.core.process_info import RayFacts
from support.fake_worker import FakeWorker
from support.playbook import Play
from support.prepared_workers import call, launched, prepared


def driver(play: Play, key: str = "pid-4711", pid: int = 4711) -> FakeWorker:
    """Return the launched program, attached before its first line."""
    worker = prepared(play, key, pid=pid, worker_type="DRIVER")
    call(play, worker)
    return worker


def entries(worker: FakeWorker) -> int:
    """Return the number of requests to the worker to stop at its first line."""
    expressions = [each["arguments"]["expression"] for each in worker.heard if each["command"] == "evaluate"]
    return sum("first_line.stop_on_entry" in each for each in expressions)


def test_only_the_launched_program_stops_and_it_does_so_again_after_a_restart(play: Play) -> None:
    client = launched(play, stopOnEntry=True)
    assert entries(driver(play)) == 1
    assert entries(driver(play, "pid-4712", 4712)) == 0
    client.request("restart")
    play.take(StopDebuggee)
    play.take(StartDebuggee)
    play.feed(DebuggeeStarted("train.py", 4713))
    client.event("process")
    assert entries(driver(play, "pid-4713", 4713)) == 1


def test_without_the_argument_it_runs(play: Play) -> None:
    launched(play)
    assert entries(driver(play)) == 0


@pytest.mark.parametrize(
    ("first", "steps"),
    [([3], True), ([1], False), ([], True), ("broken", False)],
)
def test_a_docstring_is_stepped_over(play: Play, first: Any, steps: bool) -> None:
    client = launched(play, stopOnEntry=True)
    worker = driver(play)
    worker.first_line = json.dumps(first) if isinstance(first, list) else first
    worker.line = 1
    worker.stop(reason="entry")
    assert ("next" in worker.commands()) is steps
    if steps:
        client.nothing()
        worker.stop(reason="step")
    assert client.stop()["reason"] == "entry"
    worker.resume(1)
    client.event("continued")
    worker.stop(reason="step")
    assert client.stop()["reason"] == "step"


def test_a_breakpoint_in_the_first_line_is_a_breakpoint(play: Play) -> None:
    client = launched(play, stopOnEntry=True)
    worker = driver(play)
    worker.first_line = "[3]"
    worker.line = 1
    worker.stop(reason="entry")
    worker.stop(reason="breakpoint")
    assert client.stop()["reason"] == "breakpoint"


def test_the_program_has_its_name_before_ray_lists_it(play: Play) -> None:
    client = launched(play)
    worker = driver(play)
    worker.stop()
    client.stop()
    # Ray's list lacks the driver before its ray.init.
    play.feed(FactsListed({worker.key: RayFacts(task="driver")}))
    (thread,) = client.request("threads")["threads"]
    assert thread["name"].startswith("driver train.py · 4711")
    play.feed(FactsListed({worker.key: RayFacts(task="driver other.py", job="01000000")}))
    (thread,) = client.request("threads")["threads"]
    assert thread["name"].startswith("driver other.py · 4711")
