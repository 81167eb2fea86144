"""A program that ends while a thread of its agent imports modules ends after that."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.agents import PreparedProgram

pytestmark = pytest.mark.core

# Registered functions run in the reverse order, so `ends` is printed before the agent waits.
PROGRAM = """\
import _thread, atexit, os, sys
from pathlib import Path

changing = sys.modules["_raydap_agent"].AGENT.changing
begun = _thread.allocate_lock()
begun.acquire()

def import_modules():
    with changing:
        begun.release()
        open(Path(__file__).with_name("fifo")).close()
        os.write(1, b"imported\\n")

_thread.start_new_thread(import_modules, ())
begun.acquire()
atexit.register(os.write, 1, b"ends\\n")
"""


def test_a_program_ends_when_nothing_is_imported(tmp_path: Path, children: ExitStack) -> None:
    """Otherwise Python ends the thread in the middle of an import, and then waits forever, or crashes."""
    os.mkfifo(tmp_path / "fifo")
    program = PreparedProgram.start(PROGRAM, tmp_path, None, children)
    program.called().close()
    program.child.wait_for("ends")
    with open(tmp_path / "fifo", "w"):
        pass
    assert program.child.wait() == 0, program.child.output
    assert program.child.output == "ends\nimported\n"
