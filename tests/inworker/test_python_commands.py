"""The Pythons that a process with an agent starts have agents, too: real processes and real debugpy."""

import importlib.util
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from raydap.inworker.python_commands import OWN_MODULES
from support.agents import PreparedProgram, attach_greeted, read_line

Start = Callable[[str], PreparedProgram]

pytestmark = pytest.mark.core

COMMAND = """\
import os, subprocess, sys
def work(number):
    return number * 2  # here

if "child" in sys.argv:
    added = [name for name in os.environ if name in ("RAYDAP_AGENT", "PYTHONPATH")]
    assert not [each for each in sys.path if "at_start" in each]
    with open(os.path.join(os.path.dirname(__file__), "result"), "w") as file:
        file.write(f"{{work(21)}} {{added}}")
else:
    os.environ.pop("PYTHONPATH", None)
    command = [sys.executable, __file__, "child"]
    {start}
"""

START = {
    "run": "subprocess.run(command, check=True)",
    "its own environment": "subprocess.run(command, check=True, env={'NAME': 'value'})",
    "a hook before it": "subprocess.run(command, check=True, preexec_fn=os.getpid)",
    "posix_spawn": "os.waitpid(os.posix_spawn(sys.executable, command, os.environ), 0)",
    "spawnv": "os.spawnv(os.P_WAIT, sys.executable, command)",
    "execv": "os.execv(sys.executable, command)",
    "execlp": "os.execlp(sys.executable, *command)",
    "script": "subprocess.run([os.path.join(os.path.dirname(__file__), 'script'), 'child'], check=True)",
}

PROCESS = """\
import os, sys
def work(number):
    return number * 2  # here

def write():
    with open(os.path.join(os.path.dirname(__file__), "result"), "w") as file:
        file.write(f"{{work(21)}} []")

if __name__ == "__main__":
    import multiprocessing
    os.environ.pop("PYTHONPATH", None)
    sys.modules["__main__"].__file__ = __file__
    process = multiprocessing.get_context("{how}").Process(target=write)
    process.start()
    process.join()
"""

PROGRAMS = {name: COMMAND.format(start=start) for name, start in START.items()}
PROGRAMS |= {how: PROCESS.format(how=how) for how in ("spawn", "forkserver")}


@pytest.fixture
def start(tmp_path: Path, children: ExitStack) -> Start:
    return lambda source: PreparedProgram.start(source, tmp_path, None, children)


def started(start: Start, name: str, tmp_path: Path) -> tuple[PreparedProgram, socket.socket]:
    """Start a program of PROGRAMS. Return it and the connection of the Python that calls `work`.

    The first line of the connection has been read and checked.
    """
    if name == "script":
        script = tmp_path / "script"
        script.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_path(__file__[:-6] + 'program.py')\n")
        script.chmod(stat.S_IRWXU)
    program = start(PROGRAMS[name])
    program.called().close()
    connection = program.called()
    said = read_line(connection)
    if name == "forkserver":
        connection.close()
        connection = program.called()
        parent, said = said, read_line(connection)
        assert said["parent"] == f"pid-{parent['pid']}"
    elif name in ("execv", "execlp"):
        assert (said["pid"], said["worker_id"]) == (program.child.process.pid, "w1")
    else:
        assert (said["worker_type"], said["parent"]) == ("CHILD", "w1")
    return program, connection


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_python_that_a_program_starts_has_an_agent(start: Start, tmp_path: Path, name: str) -> None:
    program, connection = started(start, name, tmp_path)
    connection.close()
    assert program.child.wait() == 0, program.child.output
    assert (tmp_path / "result").read_text() == "42 []"


@pytest.mark.parametrize("name", ["run", "execv", "spawn", "forkserver"])
def test_a_python_that_a_program_starts_stops(start: Start, children: ExitStack, tmp_path: Path, name: str) -> None:
    program, connection = started(start, name, tmp_path)
    child = attach_greeted(program, connection, children, 3)
    _, line, thread = child.stop()
    assert line == "return number * 2  # here"
    child.client.send("evaluate", expression=calls.resume_thread(thread), context="repl")
    assert program.child.wait() == 0, program.child.output
    assert (tmp_path / "result").read_text() == "42 []"


ALONE = """\
import os, subprocess, sys
code = "import os; print('found', [name for name in os.environ if 'RAYDAP_AGENT' in name])"
for option in "SIE":
    subprocess.run([sys.executable, "-" + option, "-c", "print('alone')"], check=True)
environment = subprocess.run(["env"], check=True, capture_output=True, text=True).stdout
print(environment.count("RAYDAP_AGENT"), "variables", flush=True)
sys.modules["ray._private.services"] = services = type(sys)("ray._private.services")
exec("def start(command):\\n    import subprocess\\n    subprocess.run(command, check=True)", vars(services))
services.start([sys.executable, "-c", code])
try:
    os.execv("/no/such/python", ["python"])
except FileNotFoundError as error:
    print(error, flush=True)
try:
    subprocess.run([sys.executable, 1])
except TypeError as error:
    print(error, flush=True)
"""


def test_a_process_that_cannot_have_an_agent_runs_normally(start: Start) -> None:
    """The test answers no further calls, so a process that calls would wait until the test fails."""
    program = start(ALONE)
    program.called().close()
    assert program.child.wait() == 0
    output = program.child.output
    assert output.count("alone") == 3
    assert "0 variables" in output
    assert "found []" in output
    assert "No such file or directory" in output
    assert "expected str, bytes or os.PathLike object, not int" in output


def test_a_python_that_is_too_old_or_new_for_debugpy_runs(start: Start) -> None:
    program = start("import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"print('runs')\"], check=True)\n")
    program.called().close()
    connection = program.called()
    read_line(connection)
    connection.close()
    assert program.child.wait() == 0
    assert "runs" in program.child.output


def test_ray_starts_its_own_processes_from_where_they_are_left_alone() -> None:
    """If this fails, find where Ray's `start_ray_process` is now, and add that module to OWN_MODULES."""
    services = importlib.util.find_spec("ray._private.services")
    assert services is not None
    assert services.origin is not None
    assert "def start_ray_process(" in Path(services.origin).read_text()
    assert "ray._private.services" in OWN_MODULES
