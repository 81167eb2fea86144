"""A signal that arrives while the main thread is stopped: its handler runs after the stop, and no stop is lost."""

import os
import signal
import sys

import pytest

from raydap.inworker import calls
from support.held_program import HELD, RunHeld
from support.look import line_of

pytestmark = pytest.mark.core

PROGRAM = """\
import os, signal, sys

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
held("go")
results = [limited(number) for number in range(2)]
assert signal.getsignal(signal.SIGALRM) is too_late
print("results:", results, flush=True)
held("end")
"""

LINES = (line_of(HELD + PROGRAM, "# in time"),)

CALLS = PROGRAM.replace("    return doubled", "    breakpoint()\n    return doubled")
"""PROGRAM with breakpoint()."""


@pytest.mark.parametrize(("source", "lines"), [(PROGRAM, LINES), (CALLS, ())], ids=["editor", "call"])
def test_a_time_limit_that_ends_during_a_stop_is_raised_after_it(
    run_held: RunHeld, source: str, lines: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    if "adapter-call" in request.node.name and sys.version_info < (3, 12):
        pytest.skip("before Python 3.12 debugpy's own breakpoint() drops what is raised at its stop")
    program = run_held(source, *lines)
    worker = program.worker
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
    program.child.wait_for(r"results: \['TimeoutError', 'TimeoutError'\]")
    program.end()


def test_a_signal_that_is_to_end_something_ends_the_stop(run_held: RunHeld) -> None:
    program = run_held(PROGRAM.replace("ITIMER_REAL, 0.3", "ITIMER_REAL, 60"), *LINES)
    for _ in range(2):
        _, _, thread = program.worker.stop()
        os.kill(program.child.pid, signal.SIGINT)
        assert program.worker.client.wait_event("continued")["threadId"] == thread
    program.child.wait_for(r"results: \['KeyboardInterrupt', 'KeyboardInterrupt'\]")
    program.end()
