"""pydevd's threads wait with Python's own locks. The locks of gevent would need a hub in each thread."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker.agent_threads import Signal
from support.agents import PreparedProgram, attach

pytestmark = pytest.mark.core

PROGRAM = """\
import _thread, os, threading, time
seen = set()
original = threading._allocate_lock
def allocate_lock():
    thread = threading._active.get(_thread.get_ident())
    seen.add(getattr(thread, "name", ""))
    return original()
threading._allocate_lock = allocate_lock
print("replaced", flush=True)
while not os.path.exists(os.path.join(os.path.dirname(__file__), "asked")):
    time.sleep(0.01)
print("seen:", sorted(seen - {"", "MainThread"}), flush=True)
"""


@pytest.mark.usefixtures("debuggable")
def test_they_make_no_lock_by_the_functions_of_threading(
    tmp_path: Path, packages: Path | None, children: ExitStack
) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    worker = attach(program, program.called(), children)
    program.child.wait_for("replaced")
    for _ in range(3):  # The writer thread waits for each message.
        worker.client.request("threads")
    (tmp_path / "asked").touch()
    program.child.wait_for("seen:")
    assert "seen: []" in program.child.output
    assert program.child.wait() == 0, program.child.output


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
