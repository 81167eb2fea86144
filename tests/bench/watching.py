"""The cost of a watchpoint, in the watched function and outside of it, in a process that raydap debugs."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from bench.connection import Connection
from bench.report import Row, within
from support.bridge import Bridge
from support.debuggee import Debuggee

PROGRAM = """
import json, sys, time

class Model:
    def __init__(self):
        self.scale, self.history = 1.0, []

    def forward(self, batch):
        total = 0.0
        for each in batch:
            total += each * self.scale
        return total

def train(model, count):
    loss, best, seen = 1.0, 1e9, 0
    for step in range(count):
        batch = [step + each for each in range(64)]
        prediction = model.forward(batch)
        error = prediction - 2 * step
        if error < 0:
            error = -error
        loss = error * 0.0 + 1.0
        if loss < best:
            best = loss
        seen += 1
        scaled = seen * 3 % 7
        rest = scaled + batch[0] - batch[1]
    return loss

def other(model, count):
    total = 0
    for step in range(count):
        total += model.forward([step])
        total = total % 1000
    return total

def used(function, count):
    model = Model()
    function(model, 1000)
    began = time.process_time()
    function(model, count)
    return (time.process_time() - began) * 1000

def measured():
    return {each.__name__: [used(each, COUNT) for _ in range(7)] for each in (train, other)}

breakpoint()
print("MEASURED " + json.dumps(measured()), flush=True)
breakpoint()
print("MEASURED " + json.dumps(measured()), flush=True)
breakpoint()
print("MEASURED " + json.dumps(measured()), flush=True)
breakpoint()
print("MEASURED " + json.dumps(measured()), flush=True)
"""

WATCHED = ("loss", "loss != loss", "model.scale")
"""A variable, a comparison, and an attribute that any call may change."""


def measure(folder: Path, quick: bool) -> Iterator[Row]:
    source = PROGRAM.replace("COUNT", "2_000" if quick else "20_000")
    with contextlib.ExitStack() as stack:
        bridge = Bridge.start(folder / "watching.log")
        stack.callback(bridge.end)
        debuggee = Debuggee.start(source, folder)
        stack.push(debuggee.child)
        client = stack.enter_context(Connection(bridge.host, bridge.port))
        client.start({"workers": [f"{debuggee.host}:{debuggee.port}"]})
        stack.callback(client.leave)
        line = source.splitlines().index("    for step in range(count):") + 2
        plain: dict[str, list[float]] = {}
        for number, expression in enumerate(("", *WATCHED)):
            thread = client.event("stopped")["threadId"]
            client.request("evaluate", expression="/unwatch", context="repl")
            if expression:
                client.request(
                    "evaluate", expression=f"/watch --at {debuggee.path}:{line} {expression}", context="repl"
                )
            client.request("continue", threadId=thread)
            texts = debuggee.child.wait_for(rf"(?s)(?:MEASURED [^\n]*\n.*?){{{number + 1}}}")[0]
            found = json.loads(re.findall(r"MEASURED ([^\n]*)\n", texts)[number])
            if not expression:
                plain = found
                continue
            for function, allowed, where in (("train", 3.0, "inside"), ("other", 1.1, "outside")):
                ratios = [each / min(plain[function]) for each in found[function]]
                yield within(f"watch {expression}, {where}", ratios, allowed, "times")
