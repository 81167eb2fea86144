"""A private part of pydevd or Python on which an agent depends is missing.

The program keeps running, prints in one sentence why it is not debugged, and no trace of the attempt is left.
test_private_parts.py lists the parts.
"""

import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach, read_line

Start = Callable[[str], PreparedProgram]

pytestmark = pytest.mark.core

# Importing pydevd changes these, and only the agent restores them.
PROGRAM = """\
import builtins, os, sys, threading
def hooks():
    return [sys.breakpointhook, sys.__breakpointhook__, builtins.breakpoint]
before = hooks()
{change}
print("begun", flush=True)
with open(os.path.join(os.path.dirname(__file__), "go")) as go:
    go.read()
print("hooks as before:", hooks() == before)
print("traced:", sys.gettrace() is not None or threading.gettrace() is not None)
"""

CHANGES = {
    "pydevd.start_client": "import debugpy.server.api, pydevd; del pydevd.start_client",
    "settrace's arguments": "import debugpy.server.api, pydevd; pydevd.settrace = lambda host, port: None",
    "its way to a client": """
import debugpy.server.api, pydevd
def connect(debugger, host, port):
    raise ConnectionRefusedError("port 1")
pydevd.PyDB.connect = connect""",
    "the mark of a client": """
import debugpy.server.api, pydevd
class Nobody: pass
pydevd._create_pydb = None
original = pydevd.PyDB.__init__
def init(self, *args, **kwargs):
    original(self, *args, **kwargs)
    self.authentication = Nobody()
pydevd.PyDB.__init__ = init""",
    "pydevd_tracing": "import debugpy.server.api, pydevd_tracing; sys.modules['pydevd_tracing'] = None",
    "an exit": """
import debugpy.server.api, pydevd
def settrace(*args, **kwargs):
    raise SystemExit(1)
pydevd.settrace = settrace""",
}


@pytest.fixture
def start(tmp_path: Path, packages: Path | None, children: ExitStack) -> Start:
    def start(source: str) -> PreparedProgram:
        os.mkfifo(tmp_path / "go")
        program = PreparedProgram.start(source, tmp_path, packages, children)
        program.called().close()
        program.child.wait_for("begun")
        return program

    return start


def end(program: PreparedProgram) -> str:
    (program.folder / "go").write_text("")
    assert program.child.wait() == 0, program.child.output
    return program.child.output


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("what", CHANGES)
def test_a_process_prints_why_it_cannot_be_debugged_and_continues(start: Start, what: str) -> None:
    program = start(PROGRAM.format(change="hooks()\n" + CHANGES[what] + "\nbefore = hooks()"))
    for _ in range(2):
        connection = program.dial()
        assert read_line(connection)["holder"] == ""
        connection.sendall(b'{"debug": true}\n')
        said = read_line(connection)["error"]
        assert said.startswith("raydap cannot start debugpy ") or "pydevd_tracing" in said, said
        assert "\n" not in said
        assert connection.recv(1) == b""
        connection.close()
    output = end(program)
    assert "hooks as before: True" in output
    assert "traced: False" in output
    assert "Traceback" not in output


@pytest.mark.usefixtures("debuggable")
def test_breakpoint_is_as_before_when_raydap_dies_while_the_debugger_begins(start: Start) -> None:
    """pydevd replaces breakpoint() when it is imported. Without a restore, Ray's would never be called again."""
    program = start(PROGRAM.format(change=""))
    connection = program.dial()
    read_line(connection)
    connection.sendall(b'{"debug": true}\n')
    connection.close()
    # The agent answers when it has ended the session.
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    assert "hooks as before: True" in end(program)


@pytest.mark.usefixtures("debuggable")
def test_a_process_is_left_as_far_as_it_can_be(start: Start, children: ExitStack) -> None:
    change = "import debugpy.server.api; from _pydevd_bundle import pydevd_comm; before = hooks()"
    program = start(PROGRAM.format(change=change))
    worker = attach(program, program.dial(), children)
    worker.call("__import__('sys').modules['_pydevd_bundle.pydevd_comm'].__dict__.pop('resume_threads') and ''")
    worker.client.request("disconnect")
    worker.client.close()
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    output = end(program)
    assert output.count("raydap could not undo all its changes to this process: ") == 1
    assert "hooks as before: True" in output
    assert "traced: False" in output


@pytest.mark.usefixtures("debuggable")
def test_breakpoint_raises_nothing_when_it_cannot_stop(start: Start, children: ExitStack) -> None:
    program = start(PROGRAM.format(change="") + "breakpoint()\nprint('after it')\n")
    worker = attach(program, program.dial(), children)
    where = "__import__('sys').modules['_pydevd_bundle.pydevd_additional_thread_info']"
    worker.call(f"{where}.__dict__.pop('set_additional_thread_info') and ''")
    output = end(program)
    assert re.search(r"raydap cannot stop at this breakpoint\(\) of process \d+: ImportError\(", output)
    assert "after it" in output


def test_a_python_without_the_function_that_starts_programs_is_debugged(tmp_path: Path, children: ExitStack) -> None:
    (tmp_path / "packages").mkdir()
    # pydevd asks for the processor when it is imported. Before Python 3.11, the first answer needs another program.
    without = "import platform, subprocess, _posixsubprocess\nplatform.processor()\ndel _posixsubprocess.fork_exec\n"
    (tmp_path / "packages" / "sitecustomize.py").write_text(without)
    program = PreparedProgram.start("print('ran')\n", tmp_path, tmp_path / "packages", children)
    worker = attach(program, program.called(), children, 1)
    _, _, thread = worker.stop()
    assert worker.call(calls.resume_thread(thread)) == ""
    assert program.child.wait() == 0
    assert "raydap cannot debug the children of this process: " in program.child.output
    assert "ran" in program.child.output


OWN_HOOK = """\
import builtins, os, sys
before = builtins.breakpoint
def own(*arguments, **named):
    print("own hook", flush=True)
wait = os.open(os.path.join(os.path.dirname(__file__), "go"), os.O_RDWR)
print("begun", flush=True)
os.read(wait, 1)
sys.breakpointhook = own
os.read(wait, 1)
breakpoint()
print("builtin as before:", builtins.breakpoint is before)
"""


@pytest.mark.usefixtures("debuggable")
def test_a_hook_that_the_program_sets_while_it_is_debugged_stays(
    start: Start, children: ExitStack, tmp_path: Path
) -> None:
    program = start(OWN_HOOK)
    worker = attach(program, program.dial(), children)
    with (tmp_path / "go").open("w") as go:
        print("1", end="", file=go, flush=True)
        while worker.call("__import__('sys').breakpointhook.__name__") != "own":
            pass
        worker.client.request("disconnect")
        worker.client.close()
        connection = program.dial()
        assert read_line(connection)["holder"] == ""
        print("2", end="", file=go, flush=True)
        assert program.child.wait() == 0, program.child.output
    assert "own hook" in program.child.output
    assert "builtin as before: True" in program.child.output
