"""The functions of Python that an agent replaces are to a program what they are without it."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from support.agents import PreparedProgram, hanging_up, run_plain

pytestmark = pytest.mark.core

# It prints what a program can see of these functions, and what the Pythons that it starts with them see.
PROGRAM = """\
import _posixsubprocess, inspect, os, pickle, subprocess, sys

def seen(function):
    try:
        signature = str(inspect.signature(function))
    except ValueError:
        signature = "none"
    kind = inspect.isbuiltin(function), inspect.isroutine(function)
    is_pickled = pickle.loads(pickle.dumps(function)) is function
    return function.__name__, function.__qualname__, function.__module__, function.__doc__, signature, is_pickled, kind

class Holder:
    spawn, execute = os.posix_spawn, os.execve

print(os.execve in os.supports_fd, os.execve == Holder().execute, repr(os.execve))
functions = [os.fork, os.forkpty, os.execv, os.execve, os.posix_spawn, os.posix_spawnp, _posixsubprocess.fork_exec]
for function in functions:
    print(seen(function))

def error(function, *args, **named):
    try:
        function(*args, **named)
    except Exception as error:
        return type(error).__name__

python, empty = sys.executable, {}
for arguments in [(), (python,), (python, []), (1.5, ["x"], empty), ("/missing", ["x"], empty)]:
    print([error(function, *arguments) for function in (os.execve, os.posix_spawn)])
print(error(os.execve, python, ["x"], None))
print(error(os.execve, path=python, args=["x"], env={}), error(os.execv, path=python, argv=["x"]))
print(error(os.posix_spawn, path=python, argv=["x"], env={}), error(os.execv, "/missing", ["x"]))

def wait(pid):
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)

sys.stdout.flush()
if os.fork() == 0:
    os.execve(path="/bin/echo", argv=["echo", "with names"], env={})
wait(-1)
wait(Holder().spawn("/bin/echo", ["echo", "as an attribute"], {}))

CHILD = "import json, os, sys; print(json.dumps([dict(sorted(os.environ.items())), sys.path, sys.argv]), flush=True)"
command = [sys.executable, "-c", CHILD, "argument"]
folder = os.path.dirname(os.path.abspath(__file__))
os.chdir(folder)
for path in (None, "", ":/x", "/x:", "/x::/y", "/x"):
    env = {"NAME": "value", **({} if path is None else {"PYTHONPATH": path})}
    print(subprocess.run(command, env=env, capture_output=True, text=True).stdout, flush=True)
    wait(os.posix_spawn(sys.executable, command, env))
    if os.fork() == 0:
        os.execve(sys.executable, argv=command, env=env)
    wait(-1)
os.environ.clear()
os.environ["OF_PYTHON"] = "1"
os.putenv("OF_C", "2")
print(subprocess.run(command, capture_output=True, text=True).stdout, flush=True)
wait(os.spawnv(os.P_NOWAIT, sys.executable, command))
if os.fork() == 0:
    os.execv(sys.executable, command)
wait(-1)
"""


def test_a_program_sees_no_difference(tmp_path: Path, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, None, children)
    with hanging_up(program.listener):
        assert program.child.wait() == 0, program.child.output
    plain = run_plain(PROGRAM, tmp_path, children)
    assert program.child.output.splitlines() == plain.splitlines()
    assert '"OF_C": "2"' in plain
    assert "with names" in plain
