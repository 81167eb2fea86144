"""Threads that Python did not start, as Ray's C++ threads: pydevd has one `Thread` object for each of them."""

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

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 debugpy does not trace such threads"),
]

PROGRAM = """\
import collections, ctypes, functools, threading, time
from pathlib import Path

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

def name():
    return threading.current_thread().name

def work():
    before = threading.current_thread()
    same = before is threading.current_thread()  # in a thread
    results.append(same)

def run_in_c(functions):
    calls = map(functools.partial.__call__, map(functools.partial, functions))
    return ctypes.CFUNCTYPE(None)(functools.partial(collections.deque, calls))

results = []
print("begun", flush=True)
held("go")
# From now on pydevd traces neither this function nor current_thread(), but what makes the object it still does.
name()
libc = ctypes.CDLL(None)
callbacks = [run_in_c([name, work]) for _ in range(3)]
threads = [ctypes.c_ulong() for _ in callbacks]
for thread, callback in zip(threads, callbacks):
    assert libc.pthread_create(ctypes.byref(thread), None, callback, None) == 0
for thread in threads:
    libc.pthread_join(thread, None)
held("end")
assert results == [True] * 3, results
"""

LINE = line_of(PROGRAM, "# in a thread")


def run_through(worker: EnteredWorker) -> None:
    stops = [worker.stop() for _ in range(3)]
    threads = [thread for _, _, thread in stops]
    assert len(set(threads)) == 3
    for thread in threads:
        frame = worker.frames(thread)[0]["id"]
        same = worker.client.request("evaluate", expression="threading.current_thread() is before", frameId=frame)
        assert same["result"] == "True"
        assert worker.call(calls.resume_thread(thread)) == ""


@pytest.mark.usefixtures("debuggable")
def test_an_agent_reads_and_resumes_threads_of_c(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    worker = attach(program, program.dial(), children, LINE)
    (tmp_path / "go").touch()
    run_through(worker)
    worker.leave()
    (tmp_path / "end").touch()
    assert program.child.wait() == 0, program.child.output


def test_an_adapter_reads_and_resumes_threads_of_c(start: Start) -> None:
    worker, debuggee = start(PROGRAM.replace('held("go")', "breakpoint()"))
    _, _, thread = worker.stop()
    worker.client.request("setBreakpoints", source={"path": str(debuggee.path)}, breakpoints=[{"line": LINE}])
    assert worker.call(calls.resume_thread(thread)) == ""
    run_through(worker)
    worker.leave()
    debuggee.path.with_name("end").touch()
    assert debuggee.child.wait() == 0, debuggee.child.output
