"""A signal that arrives while the main thread is stopped: its handler runs after the stop, and no stop is lost."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.look import line_of

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

pytestmark = pytest.mark.core

PROGRAM = """\
import os, signal, sys, time
from pathlib import Path

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

def too_late(number, frame):
    raise TimeoutError("too late")

def work(number):
    doubled = number * 2
    return doubled  # in time

def limited(number):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        return work(number)
    except (TimeoutError, KeyboardInterrupt) as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

signal.signal(signal.SIGALRM, too_late)
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
held("go")
results = [limited(number) for number in range(2)]
assert signal.getsignal(signal.SIGALRM) is too_late
print("results:", results, flush=True)
held("end")
"""

LINE = line_of(PROGRAM, "# in time")

CALLS = PROGRAM.replace("    return doubled", "    breakpoint()\n    return doubled")
"""The same with breakpoint()."""

Run = Callable[[str], tuple[EnteredWorker, int, Callable[[], str]]]


@pytest.fixture(params=["agent", "adapter"])
def run(
    request: pytest.FixtureRequest, tmp_path: Path, packages: Path | None, children: ExitStack, start: Start
) -> Run:
    """`run(source)` attaches to the program. It returns the worker, its pid, and a function for the output at its
    end."""
    if request.param == "agent":
        request.getfixturevalue("debuggable")

    def with_agent(source: str) -> tuple[EnteredWorker, int, Callable[[], str]]:
        program = PreparedProgram.start(source, tmp_path, packages, children)
        program.called().close()
        program.child.wait_for("begun")
        worker = attach(program, program.dial(), children, *([] if "breakpoint()" in source else [LINE]))
        (tmp_path / "go").touch()

        def output() -> str:
            program.child.wait_for("results")
            worker.leave()
            (tmp_path / "end").touch()
            assert program.child.wait() == 0, program.child.output
            return program.child.output

        return worker, program.child.pid, output

    def with_adapter(source: str) -> tuple[EnteredWorker, int, Callable[[], str]]:
        worker, debuggee = start(source.replace('held("go")', "breakpoint()"))
        _, _, thread = worker.stop()
        lines = [] if "breakpoint()" in source else [{"line": LINE}]
        worker.client.request("setBreakpoints", source={"path": str(debuggee.path)}, breakpoints=lines)
        assert worker.call(calls.resume_thread(thread)) == ""

        def output() -> str:
            debuggee.child.wait_for("results")
            worker.leave()
            debuggee.path.with_name("end").touch()
            assert debuggee.child.wait() == 0, debuggee.child.output
            return debuggee.child.output

        return worker, debuggee.child.pid, output

    return with_agent if request.param == "agent" else with_adapter


@pytest.mark.parametrize("source", [PROGRAM, CALLS], ids=["editor", "call"])
def test_a_time_limit_that_ends_during_a_stop_is_raised_after_it(
    run: Run, source: str, request: pytest.FixtureRequest
) -> None:
    if "adapter-call" in request.node.name and sys.version_info < (3, 12):
        pytest.skip("before Python 3.12 debugpy's own breakpoint() drops what is raised at its stop")
    worker, _, output = run(source)
    for number in range(2):
        _, line, thread = worker.stop()
        assert line.startswith(("return doubled", "breakpoint()"))
        frame = worker.frames(thread)[0]["id"]
        wait = "[time.sleep(0.01) for _ in iter(lambda: signal.getitimer(signal.ITIMER_REAL)[0] > 0, False)] and number"
        result = worker.client.request("evaluate", expression=wait, frameId=frame, context="watch")
        assert result["result"] == str(number)
        assert worker.frames(thread)[0]["name"] == "work"
        assert worker.call(calls.resume_thread(thread)) == ""
        assert worker.client.wait_event("continued")["threadId"] == thread
    assert "results: ['TimeoutError', 'TimeoutError']" in output()


def test_a_signal_that_is_to_end_something_ends_the_stop(run: Run) -> None:
    worker, pid, output = run(PROGRAM.replace("ITIMER_REAL, 0.3", "ITIMER_REAL, 60"))
    for _ in range(2):
        _, _, thread = worker.stop()
        os.kill(pid, signal.SIGINT)
        assert worker.client.wait_event("continued")["threadId"] == thread
    assert "results: ['KeyboardInterrupt', 'KeyboardInterrupt']" in output()
