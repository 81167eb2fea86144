"""Threads that Python did not start, such as Ray's C++ threads: pydevd has one `Thread` object for each of them."""

import sys

import pytest

from raydap.inworker import calls
from support.held_program import HELD, RunHeld
from support.look import line_of

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 debugpy does not trace such threads"),
]

PROGRAM = """\
import collections, ctypes, functools, threading

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


def test_threads_of_c_are_read_and_resumed(run_held: RunHeld) -> None:
    program = run_held(PROGRAM, line_of(HELD + PROGRAM, "# in a thread"))
    worker = program.worker
    threads = [worker.stop()[2] for _ in range(3)]
    assert len(set(threads)) == 3
    for thread in threads:
        frame = worker.frames(thread)[0]["id"]
        same = worker.client.request("evaluate", expression="threading.current_thread() is before", frameId=frame)
        assert same["result"] == "True"
        assert worker.call(calls.resume_thread(thread)) == ""
    program.end()
