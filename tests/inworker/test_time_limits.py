"""Code of the program that never returns while raydap requests values: only the value of that code is missing."""

from functools import partial
from typing import Any

import pytest
from dap_client import RequestFailed

from raydap.inworker import calls
from support.held_program import HELD, HeldProgram, RunHeld
from support.look import line_of

pytestmark = pytest.mark.core

PROGRAM = """\
import signal, threading
from concurrent.futures import Future

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
held("go")
thread = threading.Thread(target=lambda: results.append(look()))
thread.start()
thread.join()
results.append(look(Locked()))
print("results:", results, flush=True)
held("end")
"""

LINE = line_of(HELD + PROGRAM, "# here")

SHORTER = "__import__('pydevd').get_global_debugger().raydap.limits.__dict__.update(value_s=0.3, grace_s=0.3)"

TOO_LONG = "<reading this value took too long>"


def is_of(thread: int, body: dict[str, Any]) -> bool:
    return bool(body["threadId"] == thread)


def values(program: HeldProgram, reference: int) -> dict[str, Any]:
    listed = program.worker.client.request("variables", variablesReference=reference)["variables"]
    return {each["name"]: each for each in listed}


def wait_in(program: HeldProgram, frame: int, name: str) -> Any:
    """Send an expression that never returns, and return the request."""
    expression = f"print('stuck {name}', flush=True) or threading.Event().wait()"
    stuck = program.worker.client.send("evaluate", expression=expression, frameId=frame, context="watch")
    program.child.wait_for(f"stuck {name}")
    return stuck


def test_slow_values_are_missing_and_the_thread_is_resumed(run_held: RunHeld) -> None:
    program = run_held(PROGRAM, LINE)
    worker = program.worker
    assert worker.call(SHORTER) == ""
    for number, more in enumerate(("()", TOO_LONG)):
        _, _, thread = worker.stop()
        frame = worker.frames(thread)[0]["id"]
        scope = worker.client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        found = values(program, scope)
        shown = [found[name]["value"] for name in ("plain", "more", "waits", "spins")]
        assert shown == ["42", more, TOO_LONG, TOO_LONG]
        inside = values(program, found["lazy"]["variablesReference"])
        assert inside["plain"]["value"] == "7"
        assert "too long" in inside["size"]["value"]
        stuck = wait_in(program, frame, str(number))
        assert worker.call(calls.resume_thread(thread)) == ""
        with pytest.raises(RequestFailed, match="too long"):
            worker.client.result(stuck, "evaluate")
        worker.client.wait_event("continued", partial(is_of, thread))
    program.child.wait_for(r"results: \[42, 42\]")
    program.end()


def test_a_signal_that_the_program_uses_is_not_sent(run_held: RunHeld) -> None:
    urgent = "def urgent(*_): print('urgent', flush=True)\nsignal.signal(signal.SIGURG, urgent)\n"
    program = run_held(PROGRAM.replace("thread = ", urgent + "thread = ").replace("Locked()", "1"), LINE)
    worker = program.worker
    assert worker.call(SHORTER) == ""
    for number in range(2):
        _, _, thread = worker.stop()
        stuck = wait_in(program, worker.frames(thread)[0]["id"], str(number))
        assert worker.call(calls.resume_thread(thread)) == ""
        with pytest.raises(RequestFailed, match="too long"):
            worker.client.result(stuck, "evaluate")
    program.child.wait_for(r"results: \[42, 42\]")
    assert "urgent" not in program.end()


def test_a_session_that_is_lost_during_an_expression_leaves_no_thread_stuck(run_held: RunHeld) -> None:
    program = run_held(PROGRAM.replace("Locked()", ""), LINE)
    worker = program.worker
    assert worker.call(SHORTER) == ""
    _, _, thread = worker.stop()
    wait_in(program, worker.frames(thread)[0]["id"], "lost")
    worker.client.close()
    program.child.wait_for(r"results: \[42, 42\]")
    worker.path.with_name("end").touch()
    assert program.child.wait() == 0
