"""Code of the program that never returns while raydap asks for values: only its value is missing."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from dap_client import RequestFailed
from local_cluster import Child

from raydap.inworker import calls
from support.agents import PreparedProgram, attach
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.look import line_of

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

pytestmark = pytest.mark.core

PROGRAM = """\
import asyncio, threading, time
from concurrent.futures import Future
from pathlib import Path

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

class Waits:
    def __repr__(self):
        threading.Event().wait()

class Spins:
    def __repr__(self):
        while True:
            pass

class Lazy:
    plain = 7

    @property
    def size(self):
        return Future().result()

class Locked:
    def __repr__(self):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()

def look(*more):
    waits, spins, lazy, plain = Waits(), Spins(), Lazy(), 42
    return plain  # here

results = []
print("begun", flush=True)
held("go")
thread = threading.Thread(target=lambda: results.append(look()))
thread.start()
thread.join()
results.append(look(Locked()))
print("results:", results, flush=True)
held("end")
"""

LINE = line_of(PROGRAM, "# here")


def is_of(thread: int, body: dict[str, Any]) -> bool:
    return bool(body["threadId"] == thread)


def values(worker: EnteredWorker, reference: int) -> dict[str, Any]:
    listed = worker.client.request("variables", variablesReference=reference)["variables"]
    return {each["name"]: each for each in listed}


SHORTER = "__import__('pydevd').get_global_debugger().raydap.limits.__dict__.update(value_s=0.3, grace_s=0.3)"


def run_through(worker: EnteredWorker, child: Child) -> None:
    assert worker.call(SHORTER) == ""
    for number, more in enumerate(("()", "<the text of this value takes too long>")):
        _, _, thread = worker.stop()
        frame = worker.frames(thread)[0]["id"]
        scope = worker.client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        found = values(worker, scope)
        assert found["plain"]["value"] == "42"
        assert found["more"]["value"] == more
        for name in ("waits", "spins"):
            assert "too long" in found[name]["value"]
        inside = values(worker, found["lazy"]["variablesReference"])
        assert inside["plain"]["value"] == "7"
        assert "too long" in inside["size"]["value"]
        begins = f"print('stuck {number}', flush=True) or threading.Event().wait()"
        stuck = worker.client.send("evaluate", expression=begins, frameId=frame, context="watch")
        child.wait_for(f"stuck {number}")
        assert worker.call(calls.resume_thread(thread)) == ""
        with pytest.raises(RequestFailed, match="too long"):
            worker.client.result(stuck, "evaluate")
        worker.client.wait_event("continued", partial(is_of, thread))


@pytest.mark.usefixtures("debuggable")
def test_with_an_agent(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    worker = attach(program, program.dial(), children, LINE)
    (tmp_path / "go").touch()
    run_through(worker, program.child)
    program.child.wait_for(r"results: \[42, 42\]")
    worker.leave()
    (tmp_path / "end").touch()
    assert program.child.wait() == 0, program.child.output


def test_with_an_adapter(start: Start) -> None:
    worker, debuggee = start(PROGRAM.replace('held("go")', "breakpoint()"))
    _, _, thread = worker.stop()
    worker.client.request("setBreakpoints", source={"path": str(debuggee.path)}, breakpoints=[{"line": LINE}])
    assert worker.call(calls.resume_thread(thread)) == ""
    run_through(worker, debuggee.child)
    debuggee.child.wait_for(r"results: \[42, 42\]")
    worker.leave()
    debuggee.path.with_name("end").touch()
    assert debuggee.child.wait() == 0, debuggee.child.output
