"""A process with an idle agent has almost no cost, and loads the rest of the agent when a raydap connects."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child, clean_environment

from raydap.inworker import calls
from raydap.inworker.bundle import find_modules
from raydap.runtime import prepared_environment
from support.agents import PreparedProgram, attach, raydap_that_debugs_nothing, read_line

pytestmark = pytest.mark.core

SOURCES = str(resources.files("raydap.inworker"))

START_MODULES = {"sitecustomize", "_raydap_agent", "_socket", "_json", "_posixsubprocess", "atexit", "errno", "fcntl"}
START_MODULES |= {"select", *(f"_raydap_agent.{name}" for name in find_modules(SOURCES).idle)}
"""The modules that an agent imports at its start: modules in C, sitecustomize, and the agent's own."""

# Python starts without `site`, so that the counts include everything in sitecustomize.py.
COUNTED = """\
import json, os, sys
before = set(sys.modules)
counts = dict.fromkeys(("open", "compile", "import", "exec", "call"), 0)
opened = []
sys.modules["site"] = type(sys)("site")
sys.modules["site"].__spec__ = type(sys)("spec")
def audit(event, arguments):
    if event in counts:
        counts[event] += 1
    if event == "open" and not os.path.isdir(arguments[0]):
        opened.append(os.path.basename(arguments[0]))
def profile(frame, event, argument):
    counts["call"] += event == "call" and "importlib" not in frame.f_code.co_filename
sys.path.insert(0, os.environ["PYTHONPATH"])
sys.addaudithook(audit)
sys.setprofile(profile)
import sitecustomize
sys.setprofile(None)
print(json.dumps({**counts, "opened": opened, "serves": sys.modules["_raydap_agent.agent"].AGENT.is_served}))
"""


def environment(folder: Path, raydap: str = "") -> dict[str, str]:
    return clean_environment(prepared_environment.driver({}, raydap, str(folder)))


def output(code: str, environ: dict[str, str], *options: str) -> Any:
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, env=environ, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout + done.stderr)
    return json.loads(done.stdout)


def test_its_start_imports_nothing_of_python(tmp_path: Path) -> None:
    code = "import sys; names = list(sys.modules); import json; print(json.dumps(names))"
    plain = set(output(code, clean_environment({})))
    output(code, environment(tmp_path))  # The first run may compile.
    assert set(output(code, environment(tmp_path))) - plain <= START_MODULES


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with the sources of an agent, without compiled files."""
    return Path(shutil.copytree(SOURCES, tmp_path / "sources", ignore=shutil.ignore_patterns("__pycache__")))


def environment_of(sources: Path, folder: Path, raydap: str = "") -> dict[str, str]:
    """Return an environment with an agent from these sources, where Python does not write compiled files."""
    at_start = str(sources / "at_start")
    return {**environment(folder, raydap), "PYTHONPATH": at_start, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("raydap", ["none", "one that debugs nothing"])
def test_its_start_reads_two_files_and_compiles_nothing(sources: Path, tmp_path: Path, raydap: str) -> None:
    with ExitStack() as stack:
        path = str(tmp_path / "raydap") if raydap != "none" else ""
        if path:
            stack.enter_context(raydap_that_debugs_nothing(path))
        environ = environment_of(sources, tmp_path, path)
        output("print(1)", environ)
        counts = output(COUNTED, environ, "-S")
    assert counts["serves"]
    # The agent reads /proc/PID/stat to see whether raydap is stopped. Only the first sitecustomize counts: Debian's
    # Python has its own.
    opened = list(dict.fromkeys(name for name in counts["opened"] if name != "stat"))
    tag = sys.implementation.cache_tag
    assert opened == [f"sitecustomize.{tag}.pyc", f"start_code.{tag}.marshal"]
    assert counts["compile"] == 0
    assert counts["call"] < 330  # Measured: 254.


@pytest.mark.parametrize("how", ["damaged", "changed", "cannot be written"])
def test_code_that_is_not_cached_is_compiled(sources: Path, tmp_path: Path, how: str) -> None:
    environ = environment_of(sources, tmp_path)
    code = "import json, sys; print(json.dumps(sys.modules['_raydap_agent.agent'].VERSION))"
    assert output(code, environ) == 1
    (cached,) = sources.joinpath("__pycache__").glob("start_code*")
    assert cached.stat().st_mode & 0o022 == 0
    whole = cached.read_bytes()
    if how == "damaged":
        cached.write_bytes(whole[:1000])
    elif how == "changed":
        with (sources / "agent.py").open("a") as file:
            file.write("\nVERSION = 2\n")
    else:
        cached.unlink()
        cached.mkdir()
    assert output(code, environ) == (2 if how == "changed" else 1)
    if how == "damaged":
        assert cached.read_bytes() == whole


PROGRAM = """\
import os, sys
def work(number):
    return number * 2  # here

print("begun", "threading" in sys.modules, flush=True)
open(sys.argv[1]).close()
import threading
print("the main thread:", threading.main_thread() is threading.current_thread(), threading.main_thread().is_alive())
print("native:", threading.main_thread().native_id == threading.get_native_id())
print("threads:", [each.name for each in threading.enumerate() if each.name != "raydap"])
threading.Thread(target=lambda: print("the other:", work(21), flush=True)).start()
"""

Start = Callable[[str], PreparedProgram]


@pytest.fixture
def start(tmp_path: Path, children: ExitStack) -> Start:
    """Return a function that starts a program, which calls a raydap and then waits until the FIFO `go` is opened."""

    def start(source: str) -> PreparedProgram:
        path = tmp_path / "program.py"
        path.write_text(source)
        os.mkfifo(tmp_path / "go")
        listener = children.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.settimeout(30)
        listener.bind(str(tmp_path / "raydap"))
        listener.listen()
        command = [sys.executable, str(path), str(tmp_path / "go")]
        environ = prepared_environment.driver({}, str(tmp_path / "raydap"), str(tmp_path))
        child = children.enter_context(Child(command, tmp_path / "log", environ))
        return PreparedProgram(child, path, tmp_path, listener, children)

    return start


@pytest.mark.parametrize("wanted", ["nothing", "identity", "stack", "debugger"])
def test_threading_is_to_a_program_as_if_it_had_imported_it(
    start: Start, children: ExitStack, tmp_path: Path, wanted: str
) -> None:
    """Before Python 3.13, a module `threading` that another thread imports has a wrong main thread."""
    program = start(PROGRAM)
    program.called().close()
    program.child.wait_for("begun False")
    assert program.threads() == 2
    if wanted != "nothing":
        connection = program.dial()
    if wanted == "identity":
        read_line(connection)
        connection.close()
    elif wanted == "stack":
        assert read_line(connection)["pid"] == program.child.pid
        connection.sendall(b'{"stack": true}\n')
        with connection.makefile("rb") as file:
            names = [each["name"] for each in json.loads(file.read())["threads"]]
        assert names == ["MainThread"]
    elif wanted == "debugger":
        attached = attach(program, connection, children, 3)
        threads = attached.client.request("threads")["threads"]
        assert [each["name"] for each in threads] == ["MainThread"]
    (tmp_path / "go").write_text("")
    if wanted == "debugger":
        _, line, thread = attached.stop()
        assert line == "return number * 2  # here"
        attached.client.send("evaluate", expression=calls.resume_thread(thread), context="repl")
    assert program.child.wait() == 0, program.child.output
    lines = ["begun False", "the main thread: True True", "native: True", "threads: ['MainThread']", "the other: 42"]
    assert program.child.output.splitlines() == lines


FORKED = """\
import os, sys
if os.fork() == 0:
    breakpoint()
    print("after it", flush=True)
    os._exit(0)
os.wait()
"""


def test_a_forked_child_calls_from_its_breakpoint_and_shows_its_own_threads(start: Start, children: ExitStack) -> None:
    program = start(FORKED)
    program.called().close()
    program.called().close()
    connection = program.called()
    attached = attach(program, connection, children)
    thread = attached.stop()[2]
    threads = attached.client.request("threads")["threads"]
    assert [each["name"] for each in threads] == ["MainThread"]
    attached.client.send("evaluate", expression=calls.resume_thread(thread), context="repl")
    assert program.child.wait() == 0
    assert program.child.output == "after it\n"


def test_an_idle_agent_never_wakes_up(tmp_path: Path) -> None:
    code = (
        "import json, os, sys; agent = sys.modules['_raydap_agent.agent'].AGENT; "
        "print(json.dumps([[each.gettimeout() for each in agent._sockets], len(os.listdir('/proc/self/task'))]))"
    )
    # The agent does not block in accept(2), but in poll(2) without a timeout.
    assert output(code, environment(tmp_path)) == [[0.0], 2]


def test_the_listener_receives_no_signal(tmp_path: Path) -> None:
    """A program may wait for a signal that it blocks in its own threads."""
    code = (
        "import json, os; print(json.dumps([int(line.split()[1], 16) & 1 << 14 > 0 for task in sorted(map(int, "
        "os.listdir('/proc/self/task'))) for line in open(f'/proc/self/task/{task}/status') if 'SigBlk' in line]))"
    )
    assert output(code, environment(tmp_path)) == [False, True]
