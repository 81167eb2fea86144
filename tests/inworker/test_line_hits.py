"""Lines that a report watches, in real debugpy: few hits stop, all are counted, and values are reported."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

pytestmark = pytest.mark.core

MARK = "@mark-17@"

PROGRAM = """\
def work(count):
    for turn in range(count):
        value = turn / 2
        done = turn  # stops
        done += 1  # reported
    return done

for _ in range(2):
    work(500)
breakpoint()
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def test_a_condition_and_a_message(start: Callable[..., tuple[EnteredWorker, Debuggee]]) -> None:
    """The program stops at a breakpoint first, so that it does not end before the others are set."""
    worker, _ = start(PROGRAM.replace("for _ in", "breakpoint()\nfor _ in", 1))
    client = worker.client
    stop = client.wait_event("stopped")
    wanted = [
        {"line": line_of("# stops"), "condition": calls.stops_at_hit(0, MARK, "turn in {499, *range(9)}")},
        {"line": line_of("# reported"), "logMessage": calls.hit_message(1, MARK, '{"v": value}["v"]')},
    ]
    client.request("setBreakpoints", source={"path": str(worker.path)}, breakpoints=wanted)
    worker.call(calls.resume_thread(stop["threadId"]))
    turns = []
    for _ in range(6):
        _, line, thread = worker.stop()
        assert line == "done = turn  # stops"
        frame = worker.frames(thread)[0]["id"]
        turns.append(client.request("evaluate", expression="turn", frameId=frame)["result"])
        worker.call(calls.resume_thread(thread))
    assert turns == ["0", "1", "2", "3", "7", "5"]
    # Pending counts are sent when no thread has reached the line for a moment.
    client.wait_event("output", lambda body: '"line": 0, "hits": 20' in body["output"])
    client.wait_event("output", lambda body: '"line": 1, "hits": 1000' in body["output"])
    worker.call(calls.resume_thread(client.wait_event("stopped")["threadId"]))
    client.wait_event("terminated")
    told = list(messages(client))
    assert max(each["hits"] for each in told if each["line"] == 0) == 20
    values = [each for each in told if each["line"] == 1]
    assert values[0]["last"] == 0.0
    assert all(each["high"] < 250 and not each["error"] for each in values)


def messages(client: Any) -> Any:
    for message in client.received:
        if message.get("event") == "output":
            for found in re.findall(f"{MARK}({{.*?}}){MARK}", message["body"]["output"]):
                yield json.loads(found)
