"""Summaries of values that are compared, from real workers."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from dap_client import RequestFailed

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

SOURCE = """\
import array

class Config:
    def __init__(self):
        self.rate = 0.5
        self.names = {"b", "a"}
        self.me = self

def step(scale):
    loss = 0.25 * scale
    config = Config()
    breakpoint()
    return loss

step(2)
"""


@pytest.mark.core
def test_an_expression_is_evaluated_in_its_frame(start: Start) -> None:
    worker, debuggee = start(SOURCE)
    _, _, thread = worker.stop()
    frame = worker.client.request("stackTrace", threadId=thread, levels=1)["stackFrames"][0]["id"]

    def summary(expression: str) -> Any:
        arguments = {"expression": calls.summary(expression, 1.0), "frameId": frame, "context": "watch"}
        return json.loads(calls.read_summary(worker.client.request("evaluate", **arguments)["result"]))

    assert summary("loss") == summary("loss  # a comment") == summary("0.5")
    assert summary("loss")["text"] == "0.5"
    assert summary("config")["text"] == "Config(me=..., names={'a', 'b'}, rate=0.5)"
    assert summary("[each * scale for each in (1, 2)]")["text"] == "[2, 4]"
    assert summary("Config")["type"] == "type"
    assert summary("{'é': '\\u20ac'}")["text"] == "{'é': '€'}"
    assert summary("'\u20ac' * 3000")["text"] == "'" + "\u20ac" * 596 + "..."
    for wrong in ("missing", "1 +", "x = 1", "1 / 0"):
        with pytest.raises(RequestFailed, match=r"NameError|SyntaxError|ZeroDivisionError"):
            summary(wrong)
    worker.client.request("disconnect")
    assert debuggee.child.wait() == 0
    assert debuggee.child.output.count("\n") == 1
