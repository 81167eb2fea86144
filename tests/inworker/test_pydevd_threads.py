"""pydevd's threads wait with locks of Python's own: those that gevent puts in their place need a hub in each thread."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker.agent_threads import Signal
from support.agents import PreparedProgram, attach

pytestmark = pytest.mark.core

PROGRAM = """\
import _thread, threading, time
seen = set()
original = threading._allocate_lock
def allocate_lock():
    thread = threading._active.get(_thread.get_ident())
    seen.add(getattr(thread, "name", ""))
    return original()
threading._allocate_lock = allocate_lock
print("replaced", flush=True)
while True:
    time.sleep(0.01)
"""


def test_they_make_no_lock_by_the_functions_of_threading(
    tmp_path: Path, packages: Path | None, children: ExitStack
) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    worker = attach(program, program.called(), children)
    program.child.wait_for("replaced")
    for _ in range(3):  # The thread that writes waits for each message.
        worker.client.request("threads")
    expression = "sorted(__import__('sys').modules['__main__'].seen)"
    answer = worker.client.request("evaluate", expression=expression, context="clipboard")
    assert answer["result"] in ("[]", "['MainThread']")
    worker.leave()


def test_a_signal_is_an_event() -> None:
    signal = Signal()
    assert not signal.is_set()
    assert not signal.wait(0)
    arrived: list[bool] = []
    waiting = [threading.Thread(target=lambda: arrived.append(signal.wait())) for _ in range(3)]
    for thread in waiting:
        thread.start()
    signal.set()
    for thread in waiting:
        thread.join()
    assert arrived == [True] * 3
    signal.set()
    assert signal.is_set()
    assert signal.wait(0)
    signal.clear()
    signal.clear()
    assert not signal.wait(0.001)
