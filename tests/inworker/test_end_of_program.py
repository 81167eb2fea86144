"""A program ends as it would without raydap, whatever the threads of its agent and of pydevd are doing."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach

pytestmark = pytest.mark.core

# Functions of atexit run in the reverse order, so `ends` is printed before the agent waits.
PROGRAM = """\
import _thread, atexit, os, sys
from pathlib import Path

changing = sys.modules["_raydap_agent.agent"].AGENT.changing
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
    """If the thread were in the middle of an import, Python would end it there, and then wait forever or crash."""
    os.mkfifo(tmp_path / "fifo")
    program = PreparedProgram.start(PROGRAM, tmp_path, None, children)
    program.called().close()
    program.child.wait_for("ends")
    with open(tmp_path / "fifo", "w"):
        pass
    assert program.child.wait() == 0, program.child.output
    assert program.child.output == "ends\nimported\n"


# This thread, the only one of pydevd that is not a daemon, never ends.
THREAD_THAT_NEVER_ENDS = """\
import pydevd
debugger = pydevd.get_global_debugger()
debugger.has_user_threads_alive = lambda: True
debugger.check_alive_thread.do_kill_pydev_thread = lambda: None
print("ends", flush=True)
"""


@pytest.mark.usefixtures("debuggable")
def test_a_program_does_not_wait_for_the_threads_of_pydevd(
    tmp_path: Path, packages: Path | None, children: ExitStack
) -> None:
    """If gevent has patched the program, some of these threads wait for an event that never happens."""
    program = PreparedProgram.start(THREAD_THAT_NEVER_ENDS, tmp_path, packages, children)
    attach(program, program.called(), children)
    assert program.child.wait() == 0, program.child.output


@pytest.mark.usefixtures("debuggable")
def test_the_last_message_of_a_program_arrives(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start("last = 42\nlast += 1\n", tmp_path, packages, children)
    worker = attach(program, program.called(), children, 1)
    thread = worker.stop()[2]
    logpoint = {"line": 2, "logMessage": "last is {last}"}
    worker.client.request("setBreakpoints", source={"path": str(worker.path)}, breakpoints=[logpoint])
    assert worker.call(calls.resume_thread(thread)) == ""
    while "last is 42" not in worker.client.wait_event("output")["output"]:
        pass
    assert program.child.wait() == 0, program.child.output
