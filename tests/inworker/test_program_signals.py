"""Signals, faulthandler and tools of sys.monitoring work in a program as they do without raydap."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.agents import PreparedProgram, attach, hanging_up, read_line, run_plain

pytestmark = pytest.mark.core

AT = """\
import os, time
from pathlib import Path

def at(when):
    while not Path(__file__).with_name(when).exists():
        time.sleep(0.01)
"""

SIGNALS = """
import faulthandler, signal, tempfile, threading

seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append((number, threading.current_thread().name)))
signal.signal(signal.SIGALRM, lambda number, frame: seen.append((number, frame.f_code.co_name)))
faulthandler.enable()
faulthandler.register(signal.SIGUSR2, file=open(os.devnull, "w"))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGPROF])

def waiting():
    ends.wait()

def interrupted():
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()

def report(when):
    seen.clear()
    os.kill(os.getpid(), signal.SIGUSR1)
    interrupted()
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGPROF)
    print(when, seen, signal.sigpending(), signal.sigwait([signal.SIGTERM]), signal.sigwait([signal.SIGPROF]))
    print([signal.getsignal(number) for number in sorted(signal.valid_signals()) if number not in (10, 14)])
    print([signal.getsignal(number).__name__ for number in (10, 14)])
    print(faulthandler.is_enabled(), signal.getitimer(signal.ITIMER_REAL), sorted(signal.pthread_sigmask(0, [])))
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=False)
        file.seek(0)
        stack = file.read().decode().replace(os.path.dirname(__file__), "")
        print([line for line in stack.splitlines() if "program.py" in line], flush=True)

for when in ("before", "during", "after"):
    at(when)
    report(when)
"""

MONITORING = """
import sys, threading
monitoring, tool = sys.monitoring, 5
events, counts = monitoring.events, {}

def work():
    total = 0
    for number in range(5):
        total += number
    return total

def count(name, result=None):
    def callback(code, *rest):
        if code is work.__code__:
            counts[name] = counts.get(name, 0) + 1
        return result
    return callback

monitoring.use_tool_id(tool, "the program's")
for name in ("PY_START", "PY_RETURN"):
    monitoring.register_callback(tool, getattr(events, name), count(name))
monitoring.register_callback(tool, events.LINE, count("LINE"))
monitoring.set_events(tool, events.PY_START | events.PY_RETURN)
monitoring.set_local_events(tool, work.__code__, events.LINE)

def report(when):
    counts.clear()
    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(when, sorted(counts.items()), monitoring.get_events(tool), monitoring.get_tool(tool))
    print([monitoring.get_tool(each) for each in range(6)] if when != "during" else "", flush=True)

for when in ("before", "during", "after"):
    at(when)
    report(when)
"""

PROGRAMS = [
    pytest.param(AT + SIGNALS, id="signals"),
    pytest.param(
        AT + MONITORING,
        id="monitoring",
        marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring before Python 3.12"),
    ),
]


@pytest.mark.parametrize("source", PROGRAMS)
def test_with_an_idle_agent(source: str, tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(source, tmp_path, packages, children)
    with hanging_up(program.listener):
        for name in ("before", "during", "after"):
            (tmp_path / name).touch()
        assert program.child.wait() == 0, program.child.output
    assert program.child.output == plain(source, tmp_path, children)


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("source", PROGRAMS)
def test_during_and_after_a_session(source: str, tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(source, tmp_path, packages, children)
    program.called().close()
    (tmp_path / "before").touch()
    program.child.wait_for(r"before .*\n(.*\n)*\n?")
    worker = attach(program, program.dial(), children)
    (tmp_path / "during").touch()
    program.child.wait_for("during")
    worker.leave()
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    connection.close()
    (tmp_path / "after").touch()
    assert program.child.wait() == 0, program.child.output
    assert program.child.output == plain(source, tmp_path, children)


OTHER_DEBUGGER = """
import sys
monitoring = sys.monitoring
monitoring.use_tool_id(monitoring.DEBUGGER_ID, "another")
monitoring.set_events(monitoring.DEBUGGER_ID, monitoring.events.PY_START)
print("begun", flush=True)
at("after")
print(monitoring.get_tool(monitoring.DEBUGGER_ID), monitoring.get_events(monitoring.DEBUGGER_ID))
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring before Python 3.12")
def test_another_debugger_keeps_working(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(AT + OTHER_DEBUGGER, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    connection.sendall(b'{"debug": true, "client": "the test"}\n')
    assert "another debugger, another, uses sys.monitoring" in read_line(connection)["error"]
    (tmp_path / "after").touch()
    assert program.child.wait() == 0, program.child.output
    assert program.child.output == plain(AT + OTHER_DEBUGGER, tmp_path, children)


def plain(source: str, tmp_path: Path, children: ExitStack) -> str:
    """Return the output of a program without raydap."""
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in ("before", "during", "after"):
        (folder / name).touch()
    return run_plain(source, folder, children)
