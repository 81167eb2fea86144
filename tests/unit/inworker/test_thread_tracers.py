"""The thread states of CPython, while threads begin and end."""

import subprocess
import sys
import threading

import pytest

from raydap.inworker import thread_tracers
from raydap.inworker.thread_tracers import ThreadStates, is_of_debugger

before_312 = pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydevd sets no trace functions there")

PROGRAM = """\
import sys, threading
from raydap.inworker import thread_frames, thread_tracers

thread_tracers.without_collections = thread_frames.without_collections
thread_tracers.get_ident = threading.get_ident
states = thread_tracers.ThreadStates()

def trace(frame, event, arg):
    return trace

def short():
    sys.settrace(trace)
    threading.get_ident()

def start_many():
    for _ in range(300):
        threads = [threading.Thread(target=short) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

starters = [threading.Thread(target=start_many) for _ in range(3)]
for starter in starters:
    starter.start()
while any(starter.is_alive() for starter in starters):
    for number, _, function, tracer in states.tracers():
        assert tracer is trace
        states.set_tracer(number, function, tracer)
        states.set_tracer(number, None, None)
    assert states.newest() > 0
"""


@before_312
def test_threads_may_end_while_their_states_are_read() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)


@before_312
def test_an_unknown_layout_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    newest = ThreadStates().newest()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert newest > 0
    monkeypatch.setattr(thread_tracers, "get_ident", lambda: 1)
    with pytest.raises(RuntimeError, match="unknown layout"):
        ThreadStates()


class Tracer:
    def __call__(self) -> None: ...

    def method(self) -> None: ...


@pytest.mark.parametrize("tracer", [None, print, Tracer(), Tracer().method, lambda: None])
def test_a_tracer_of_the_program_is_none_of_the_debugger(tracer: object) -> None:
    assert not is_of_debugger(tracer)
