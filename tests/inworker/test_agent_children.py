"""Forked children of a process with an agent, in real debugpy: each child has its own agent."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach, attach_greeted, read_line
from support.entered import EnteredWorker

Start = Callable[[str], PreparedProgram]

pytestmark = pytest.mark.core

FORK = """\
def work(number):
    return number * 2  # here

import os
pid = os.fork()
if pid == 0:
    work(21)
    os._exit(7)
_, status = os.waitpid(pid, 0)
print("the child has ended with", os.waitstatus_to_exitcode(status), flush=True)
work(1)
"""

POOL = """\
def work(number):
    return number * 2  # here

if __name__ == "__main__":
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print("result: " + str(pool.apply(work, (21,))), flush=True)
    work(1)
"""


@pytest.fixture
def start(tmp_path: Path, packages: Path | None, children: ExitStack) -> Start:
    return lambda source: PreparedProgram.start(source, tmp_path, packages, children)


def go_on(worker: EnteredWorker, thread: int) -> None:
    """Resume a thread without waiting for the response: a process that ends at once may not send one."""
    worker.client.send("evaluate", expression=calls.resume_thread(thread), context="repl")


# Ray's breakpoint() sends a request to the cluster, but the thread that receives the answer does not exist in the
# child.
ASKS = """\
import os, sys, threading
sys.modules["ray.util.debugpy"] = fake = type(sys)("ray.util.debugpy")
fake.POST_MORTEM_ERROR_UUID = "post mortem"
fake._try_import_debugpy = lambda: threading.Event().wait()
exec("def set_trace():\\n    if not _try_import_debugpy(): return", vars(fake))
pid = os.fork()
if pid == 0:
    fake.set_trace()
    os._exit(7)
print("ended with", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_rays_breakpoint_does_not_wait_forever_in_a_child_without_a_debugger(start: Start) -> None:
    program = start(ASKS)
    program.called().close()
    program.called().close()
    assert program.child.wait() == 0
    assert "ended with 7" in program.child.output


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("source", [FORK, POOL])
def test_a_child_stops_and_its_parent_too(start: Start, children: ExitStack, source: str) -> None:
    program = start(source)
    parent = attach(program, program.called(), children, 2)
    connection = program.called()
    said = read_line(connection)
    assert (said["worker_type"], said["parent"], said["worker_id"]) == ("CHILD", "w1", "")
    child = attach_greeted(program, connection, children, 2)
    reason, line, thread = child.stop()
    assert (reason, line) == ("breakpoint", "return number * 2  # here")
    assert said["pid"] != program.child.process.pid
    go_on(child, thread)
    reason, line, thread = parent.stop()
    assert (reason, line) == ("breakpoint", "return number * 2  # here")
    go_on(parent, thread)
    assert program.child.wait() == 0
    assert "ended with 7" in program.child.output or "result: 42" in program.child.output


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("source", [FORK, POOL])
def test_a_child_of_a_process_without_a_debugger_stops(start: Start, children: ExitStack, source: str) -> None:
    program = start(source)
    program.called().close()
    child = attach(program, program.called(), children, 2)
    _, line, thread = child.stop()
    assert line == "return number * 2  # here"
    go_on(child, thread)
    assert program.child.wait() == 0


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("source", [FORK, POOL])
def test_a_child_that_raydap_refuses_continues(start: Start, children: ExitStack, source: str) -> None:
    program = start(source)
    parent = attach(program, program.called(), children, 2)
    program.called().close()
    _, _, thread = parent.stop()
    go_on(parent, thread)
    assert program.child.wait() == 0
    assert "ended with 7" in program.child.output or "result: 42" in program.child.output


PRIVATE = """\
import debugpy.server.api, inspect
from _pydev_bundle import pydev_monkey
from _pydevd_bundle import pydevd_constants
from _pydevd_frame_eval import pydevd_frame_eval_main
import pydevd, pydevd_tracing
assert "setup_tracing" in inspect.signature(pydev_monkey._on_forked_process).parameters
needed = [pydev_monkey.undo_patch_thread_modules, pydevd_tracing.restore_sys_set_trace_func]
pydevd_frame_eval_main.clear_thread_local_info
if getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
    from _pydevd_sys_monitoring import pydevd_sys_monitoring
    needed += [pydevd_sys_monitoring.stop_monitoring, pydevd_sys_monitoring.reset_thread_local_info]
assert all(map(callable, needed))
"""


def test_pydevd_has_what_a_forked_child_needs(packages: Path | None) -> None:
    """If this fails, read what settrace_forked in pydevd.py does now, and do the same in forget_debugger."""
    environment = {**os.environ, **({} if packages is None else {"PYTHONPATH": str(packages)})}
    subprocess.run([sys.executable, "-Xfrozen_modules=off", "-c", PRIVATE], check=True, timeout=60, env=environment)
