"""Faults of an agent and its children: the program keeps running, and its own files and sockets are not affected."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import resources
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
    print("the child continues", flush=True)
    os._exit(7)
_, status = os.waitpid(pid, 0)
print("the child has ended with", os.waitstatus_to_exitcode(status), flush=True)
"""

# The program closes the agent's descriptors, and opens sockets with the same numbers.
CLOSES = """\
import fcntl, os, socket
open(os.path.join(os.path.dirname(__file__), "go")).close()
own = [int(number) for number in os.listdir("/proc/self/fd") if int(number) > 100]
os.closerange(3, 65536)
pairs = [socket.socketpair() for _ in range(20)]
for number, (first, _) in zip(own, pairs):
    os.dup2(first.fileno(), number)
    first.close()
    first.__init__(fileno=number)
number = 1  # here
for first, second in pairs:
    second.sendall(b"theirs")
    assert first.recv(100) == b"theirs"
    first.setblocking(False)
    try:
        raise SystemExit(f"another program wrote {first.recv(100)}")
    except BlockingIOError:
        pass
print("all is well", flush=True)
"""

OUTLIVED = """\
import os, time
if os.fork() == 0:
    time.sleep(1000)
first = 1
print("begun", flush=True)
time.sleep(1000)
"""

# pydevd's last threads start late, as they can on a busy machine, when its writer has noticed that raydap is gone.
LATE = """\
import os
def wait():
    with open(os.path.join(os.path.dirname(__file__), "go")) as go:
        go.read()
print("begun", flush=True)
wait()
import pydevd
original = pydevd.PyDB.start_auxiliary_daemon_threads
def start_auxiliary_daemon_threads(debugger):
    while debugger.writer.is_alive():
        debugger.writer.add_command(debugger.cmd_factory.make_thread_created_message(debugger.writer))
        debugger.writer.join(0.01)
    original(debugger)
    print("started", flush=True)
pydevd.PyDB.start_auxiliary_daemon_threads = start_auxiliary_daemon_threads
print("late", flush=True)
wait()
"""

DAEMON = """\
import os, sys
def work(number):
    return number * 2  # here
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
work(21)
with open(os.path.join(os.path.dirname(__file__), "done"), "w") as done:
    done.write("done")
"""


@pytest.fixture
def start(tmp_path: Path, packages: Path | None, children: ExitStack) -> Start:
    return lambda source: PreparedProgram.start(source, tmp_path, packages, children)


def ends_well(program: PreparedProgram) -> bool:
    assert program.child.wait() == 0, program.child.output
    assert "Traceback" not in program.child.output, program.child.output
    assert "raydap" not in program.child.output, program.child.output
    return True


def has_hung_up(worker: EnteredWorker) -> None:
    with pytest.raises(ConnectionError):
        worker.client.wait_event("of no kind")


def test_a_program_that_closes_all_descriptors_continues(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    program = start(CLOSES)
    program.called().close()
    (tmp_path / "go").write_text("")
    assert ends_well(program)
    assert "all is well" in program.child.output


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("lines", [[], [5]])
def test_it_continues_if_it_is_being_debugged(
    start: Start, children: ExitStack, tmp_path: Path, lines: list[int]
) -> None:
    """The program must not stop any more: the agent has no connection on which it could report a stop."""
    os.mkfifo(tmp_path / "go")
    program = start(CLOSES)
    worker = attach(program, program.called(), children, *lines)
    (tmp_path / "go").write_text("")
    assert ends_well(program)
    assert "all is well" in program.child.output
    has_hung_up(worker)


@pytest.mark.parametrize("answer", [b"", b"nonsense\n", b'{"debug": true}\n'])
def test_a_child_continues_when_raydap_dies_before_the_breakpoints(start: Start, answer: bytes) -> None:
    """This includes a debugpy that cannot debug the child."""
    program = start(FORK)
    program.called().close()
    connection = program.called()
    read_line(connection)
    connection.sendall(answer)
    connection.close()
    assert program.child.wait() == 0
    assert "ended with 7" in program.child.output


@pytest.mark.usefixtures("debuggable")
def test_a_program_ends_although_raydap_has_gone_while_the_debugger_began(
    start: Start, children: ExitStack, tmp_path: Path
) -> None:
    """A thread of pydevd that is not a daemon could prevent the end of the process."""
    os.mkfifo(tmp_path / "go")
    program = start(LATE)
    program.called().close()
    program.child.wait_for("begun")
    attach(program, program.dial(), children).leave()
    (tmp_path / "go").write_text("")
    program.child.wait_for("late")
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    connection.sendall(b'{"debug": true}\n')
    assert read_line(connection) == {"error": ""}
    connection.close()
    program.child.wait_for("started")
    (tmp_path / "go").write_text("")
    assert ends_well(program)


@pytest.mark.usefixtures("debuggable")
def test_parent_and_child_continue_when_raydap_dies_while_the_child_is_stopped(
    start: Start, children: ExitStack
) -> None:
    program = start(FORK)
    parent = attach(program, program.called(), children, 2)
    child = attach(program, program.called(), children, 2)
    child.stop()
    # This is the effect of kill -9.
    child.client.close()
    parent.client.close()
    assert ends_well(program)
    assert "ended with 7" in program.child.output


@pytest.mark.usefixtures("debuggable")
def test_a_child_runs_on_when_raydap_cannot_be_called(start: Start, children: ExitStack, tmp_path: Path) -> None:
    program = start(FORK)
    parent = attach(program, program.called(), children, 5)
    _, _, thread = parent.stop()
    (tmp_path / "raydap").unlink()
    assert parent.call(calls.resume_thread(thread)) == ""
    assert ends_well(program)
    assert "ended with 7" in program.child.output


def test_a_child_continues_when_its_folder_is_gone(start: Start, tmp_path: Path) -> None:
    program = start("import os, shutil\nshutil.rmtree(os.path.dirname(__file__))\n" + FORK)
    program.called().close()
    assert program.child.wait() == 0


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("stopped", [False, True])
def test_the_end_of_a_process_is_seen_though_its_child_lives(start: Start, children: ExitStack, stopped: bool) -> None:
    """The child must not keep its parent's connection open."""
    program = start(OUTLIVED)
    worker = attach(program, program.called(), children, *([4] if stopped else []))
    connection = program.called()
    child = read_line(connection)["pid"]
    children.callback(os.kill, child, signal.SIGKILL)
    connection.close()
    if stopped:
        worker.stop()
    else:
        program.child.wait_for("begun")
    program.child.process.kill()
    has_hung_up(worker)


@pytest.mark.usefixtures("debuggable")
def test_a_daemon_stops(start: Start, children: ExitStack, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "done")
    program = start(DAEMON)
    program.called().close()
    first = program.called()
    hello = read_line(first)
    first.close()
    second = program.called()
    said = read_line(second)
    assert said["parent"] == f"pid-{hello['pid']}"
    daemon = attach_greeted(program, second, children, 3)
    _, line, thread = daemon.stop()
    assert line == "return number * 2  # here"
    assert program.child.wait() == 0
    assert daemon.call(calls.resume_thread(thread)) == ""
    assert (tmp_path / "done").read_text() == "done"


def test_a_program_runs_when_its_folder_cannot_be_written_to(tmp_path: Path) -> None:
    """Root may write everywhere, so the path of the folder is that of a file."""
    program = tmp_path / "program.py"
    program.write_text("print('runs', flush=True)\n")
    (tmp_path / "none").write_text("a file")
    settings = {"raydap": str(tmp_path / "gone"), "folder": str(tmp_path / "none"), "children": True}
    at_start = str(resources.files("raydap.inworker").joinpath("at_start"))
    environment = {**os.environ, "PYTHONPATH": at_start, "RAYDAP_AGENT": json.dumps(settings)}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout) == (0, "runs\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("raydap cannot debug this program: NotADirectoryError(")


FULL = """\
import os, resource, sys, threading, time
agent = sys.modules["_raydap_agent.agent"]
tried = threading.Event()
class Time:
    monotonic = time.monotonic
    def sleep(seconds):
        tried.set()
        time.sleep(0.01)
agent.time = Time
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
go = os.open(os.path.join(os.path.dirname(__file__), "go"), os.O_RDWR)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
print("full", flush=True)
tried.wait()
print("tried", flush=True)
os.read(go, 1)
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
os.read(go, 1)
"""


def test_a_process_without_a_free_descriptor_is_reached_later(start: Start, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    program = start(FULL)
    program.called().close()
    program.child.wait_for("full")
    connection = program.dial()
    program.child.wait_for("tried")
    with (tmp_path / "go").open("w") as go:
        print("1", end="", file=go, flush=True)
        assert read_line(connection)["holder"] == ""
        print("2", end="", file=go, flush=True)
        assert program.child.wait() == 0


UMASK = """\
import os, sys
agent = sys.modules["_raydap_agent.agent"]
def fail(mask):
    raise AssertionError("the umask is the whole process's")
umask, os.umask = os.umask, fail
for mask in (0, 0o22, 0o777):
    umask(mask)
    path = os.path.join(agent.AGENT.folder, f"raydap-{mask}")
    agent.AGENT._serve(path)
    print("mode", oct(os.stat(path).st_mode & 0o777), flush=True)
"""


def test_its_socket_is_this_users_alone_whatever_the_umask(start: Start) -> None:
    program = start(UMASK)
    program.called().close()
    assert program.child.wait() == 0, program.child.output
    assert program.child.output.split() == ["mode", "0o600", "mode", "0o600", "mode", "0o0"]


GREENLETS = """\
import os, sys, types
patched = types.ModuleType("{name}")
patched.{function} = lambda module: module == "{module}"
for number in range(2):
    if os.fork() == 0:
        print("has an agent:", sys.modules["_raydap_agent.agent"].AGENT.is_served, flush=True)
        os._exit(0)
    os.wait()
    sys.modules["{name}"] = patched
"""


@pytest.mark.parametrize(
    ("name", "function", "module"),
    [("gevent.monkey", "is_module_patched", "threading"), ("eventlet.patcher", "is_monkey_patched", "thread")],
)
def test_a_forked_child_without_threads_has_no_agent(
    start: Start, children: ExitStack, name: str, function: str, module: str
) -> None:
    """The program looks patched by gevent or eventlet, where an agent would wait for a greenlet that never runs."""
    program = start(GREENLETS.format(name=name, function=function, module=module))
    program.called().close()
    program.called().close()  # The first child.
    assert program.child.wait() == 0, program.child.output
    assert program.child.output.split("\n")[:2] == ["has an agent: True", "has an agent: False"]


RAYS_BREAKPOINT = """\
import os, sys, types
debugpy = sys.modules["ray.util.debugpy"] = types.ModuleType("ray.util.debugpy")
exec('''
def _try_import_debugpy():
    raise AssertionError("the child asks the cluster")
def set_trace(breakpoint_uuid=None):
    _try_import_debugpy()
''', vars(debugpy))
if os.fork() == 0:
    for _ in range(2):
        debugpy.set_trace()
    print("past both", flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("ends", ["hangs up", "has gone", "sends nonsense"])
def test_a_child_at_a_breakpoint_continues_without_raydap(start: Start, tmp_path: Path, ends: str) -> None:
    program = start(RAYS_BREAKPOINT)
    program.called().close()
    begun = program.called()
    if ends == "has gone":
        (tmp_path / "raydap").unlink()
    begun.close()
    for _ in range(0 if ends == "has gone" else 2):
        with program.called() as connection:
            assert read_line(connection)["stops"] is True
            if ends == "sends nonsense":
                connection.sendall(b"nonsense\n")
    assert program.child.wait() == 0, program.child.output
    assert program.child.output.count("no raydap is attached to this forked child") == 1
    assert "past both" in program.child.output
