"""The agent in a real process with real debugpy: it debugs code that does not call breakpoint()."""

import os
import stat
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, ask, attach, read_line

Start = Callable[[str], PreparedProgram]

pytestmark = pytest.mark.core

# Line 2 is in a function that runs repeatedly, line 8 in another thread.
LOOP = """\
def work(number):
    return number * 2

import threading

def other():
    while True:
        event.wait(0.01)

event = threading.Event()
threading.Thread(target=other, daemon=True).start()
print("begun", flush=True)
while True:
    work(2)
    event.wait(0.01)
"""

ONCE = """\
first = 1
second = first + 1
print("second is", second, flush=True)
"""


@pytest.fixture
def start(tmp_path: Path, packages: Path | None, children: ExitStack) -> Start:
    return lambda source: PreparedProgram.start(source, tmp_path, packages, children)


@pytest.mark.usefixtures("debuggable")
def test_the_first_line_of_a_program_is_not_missed(start: Start, children: ExitStack) -> None:
    program = start(ONCE)
    worker = attach(program, program.called(), children, 1)
    reason, line, thread = worker.stop()
    assert (reason, line) == ("breakpoint", "first = 1")
    assert worker.call(calls.resume_thread(thread)) == ""
    assert program.child.wait() == 0
    assert "second is 2" in program.child.output


def test_a_program_continues_when_raydap_refuses_it(start: Start) -> None:
    program = start(ONCE)
    connection = program.called()
    said = read_line(connection)
    assert (said["worker_id"], said["holder"], said["port"]) == ("w1", "", 0)
    connection.sendall(b'{"debug": false}\n')
    assert program.child.wait() == 0
    assert "cannot" not in program.child.output


def test_a_program_goes_on_when_raydap_dies_before_its_answer(start: Start) -> None:
    program = start(ONCE)
    program.called().close()
    assert program.child.wait() == 0


def test_a_program_continues_when_raydap_dies_before_the_breakpoints(start: Start, children: ExitStack) -> None:
    program = start(ONCE)
    connection = program.called()
    read_line(connection)
    connection.sendall(b'{"debug": true}\n')
    connection.close()
    assert program.child.wait() == 0


@pytest.mark.usefixtures("debuggable")
def test_a_running_process_is_attached_again_and_again(start: Start, children: ExitStack) -> None:
    program = start(LOOP)
    program.called().close()
    program.child.wait_for("begun")
    threads = program.threads()
    for _ in range(3):
        worker = attach(program, program.dial(), children, 2)
        assert worker.stop()[:2] == ("breakpoint", "return number * 2")
        worker.leave()
    for _ in range(3):
        worker = attach(program, program.dial(), children, 8)
        assert worker.stop()[:2] == ("breakpoint", "event.wait(0.01)")
        # This is the effect of kill -9.
        worker.client.close()
    # The agent names no holder once the last session has ended completely.
    connection = program.dial()
    assert read_line(connection)["holder"] == ""
    connection.close()
    deadline = time.monotonic() + 30
    while program.threads() > threads:
        assert time.monotonic() < deadline, "a thread of a session is left"
        time.sleep(0.01)


@pytest.mark.usefixtures("debuggable")
def test_a_breakpoint_stops_one_thread(start: Start, children: ExitStack) -> None:
    """The breakpoint() of debugpy before 1.8.6 stops all threads."""
    program = start(LOOP.replace("    while True:\n", "    while True:\n        print('other', flush=True)\n", 1))
    worker = attach(program, program.called(), children, 2)
    assert worker.stop()[:2] == ("breakpoint", "return number * 2")
    seen = program.child.output.count("other")
    program.child.wait_for(rf"(other\s+){{{seen + 3}}}")


# Between two sessions, the thread's state is set to what it is shortly before a stop.
ABOUT_TO_STOP = """\
import sys, threading, time

def work(number):
    return number * 2

agent = sys.modules["_raydap_agent.agent"].AGENT
def info():
    return getattr(threading.main_thread(), "additional_info", None)

while agent.session is None:
    time.sleep(0.01)
while agent.session is not None or info() is None:
    work(1)
    time.sleep(0.01)
info().pydev_state = 2
print("left", flush=True)
while agent.session is None or agent.session.debugger is None:
    time.sleep(0.01)
work(2)
"""


@pytest.mark.usefixtures("debuggable")
def test_a_thread_that_was_about_to_stop_does_not_stop_in_the_next_session(start: Start, children: ExitStack) -> None:
    program = start(ABOUT_TO_STOP)
    program.called().close()
    worker = attach(program, program.dial(), children, 4)
    worker.stop()
    worker.leave()
    program.child.wait_for("left")
    worker = attach(program, program.dial(), children, 4)
    assert worker.stop()[:2] == ("breakpoint", "return number * 2")


# The main thread waits in Python's library until there is a file beside the program.
WAITS = """\
import os, queue, threading, time
from pathlib import Path

words = queue.Queue()

def read():
    while not Path(__file__).with_name("word").exists():
        time.sleep(0.01)
    words.put("word")

def take():
    word = words.get()
    print("taken", word, flush=True)

threading.Thread(target=read).start()
print("begun", flush=True)
take()
"""


@pytest.mark.usefixtures("debuggable")
def test_a_thread_that_waits_between_sessions_is_debugged_by_the_next_session(
    start: Start, children: ExitStack, tmp_path: Path
) -> None:
    """Before Python 3.12, the thread executes no line that could end the tracing of the first session."""
    program = start(WAITS)
    program.called().close()
    program.child.wait_for("begun")
    while next(each for each in stacks(program) if each["main"])["frames"][0]["name"] != "wait":
        pass
    attach(program, program.dial(), children, 13).leave()
    worker = attach(program, program.dial(), children, 13)
    (tmp_path / "word").touch()
    assert worker.stop()[:2] == ("breakpoint", 'print("taken", word, flush=True)')


# The loop calls no function, and its callers execute no line. The other thread prints when they are traced.
COMPUTES = """\
import sys, threading, time

def loop():
    count = 0
    while True:
        count += 1

def caller():
    loop()

def traced():
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None:
        if frame.f_trace is not None:
            return True
        frame = frame.f_back
    return False

def watch():
    last = False
    while True:
        if traced() != last:
            last = not last
            print("traced" if last else "free", flush=True)
        time.sleep(0.01)

threading.Thread(target=watch, daemon=True).start()
print("begun", flush=True)
caller()
"""


@pytest.mark.usefixtures("debuggable")
def test_no_function_is_traced_when_a_session_has_ended(start: Start, children: ExitStack) -> None:
    """Before Python 3.12, tracing makes each line slower."""
    program = start(COMPUTES)
    program.called().close()
    program.child.wait_for("begun")
    for _ in range(3):
        worker = attach(program, program.dial(), children, 6)
        assert worker.stop()[:2] == ("breakpoint", "count += 1")
        worker.leave()
        # The agent names no holder once the last session has ended completely.
        assert read_line(program.dial())["holder"] == ""
        program.child.wait_for("(begun|free)\n$", 20)


@pytest.mark.usefixtures("debuggable")
def test_what_is_replaced_while_pydevd_begins_is_put_back(start: Start, children: ExitStack) -> None:
    program = start(LOOP)
    program.called().close()
    worker = attach(program, program.dial(), children, 2)
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]  # Without a frame, debugpy 1.8.0 does not answer an evaluation.

    def seen(expression: str) -> str:
        result: str = worker.client.request("evaluate", expression=expression, frameId=frame, context="repl")["result"]
        return result

    assert seen("type(__import__('pydevd').time).__name__") == "'module'"
    assert seen("__import__('pydevd').start_client.__module__") == "'_pydevd_bundle.pydevd_comm'"


@pytest.mark.usefixtures("debuggable")
def test_a_connection_that_sends_nothing_has_no_effect(start: Start, children: ExitStack) -> None:
    program = start(LOOP)
    program.called().close()
    for garbage in (b"", b"nonsense\n", b"[]\n", b"\xff\n", b"x" * 10_000):
        connection = program.dial()
        read_line(connection)
        connection.sendall(garbage)
        connection.close()
    worker = attach(program, program.dial(), children, 2)
    worker.stop()


@pytest.mark.usefixtures("debuggable")
def test_a_second_debugger_gets_the_name_of_the_first(start: Start, children: ExitStack) -> None:
    program = start(LOOP)
    worker = attach(program, program.called(), children, 2)
    _, _, thread = worker.stop()
    connection = program.dial()
    assert read_line(connection)["holder"] == "the test"
    connection.sendall(b'{"debug": true, "client": "the second"}\n')
    assert connection.recv(1) == b""
    assert worker.frames(thread)[0]["line"] == 2


def test_the_socket_is_the_users_alone(start: Start, tmp_path: Path) -> None:
    program = start(LOOP)
    program.called().close()
    program.child.wait_for("begun")
    mode = os.stat(tmp_path / f"raydap-{program.child.process.pid}").st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_debugpy_that_cannot_debug_it_is_reported(start: Start, debugpy_is_too_old: bool) -> None:
    if not debugpy_is_too_old:
        pytest.skip("this debugpy can")
    program = start(ONCE)
    connection = program.called()
    read_line(connection)
    connection.sendall(b'{"debug": true}\n')
    assert "cannot debug a running Python" in read_line(connection)["error"]
    assert program.child.wait() == 0
    assert "second is 2" in program.child.output


def test_a_program_without_debugpy_is_reported(tmp_path: Path, children: ExitStack) -> None:
    (tmp_path / "debugpy").mkdir()
    (tmp_path / "debugpy" / "__init__.py").write_text("")
    program = PreparedProgram.start(ONCE, tmp_path, tmp_path, children)
    connection = program.called()
    read_line(connection)
    connection.sendall(b'{"debug": true}\n')
    assert "debugpy.server" in read_line(connection)["error"]
    assert program.child.wait() == 0


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("code", [0, 3])
def test_a_program_that_ends_itself_is_not_stopped(start: Start, children: ExitStack, code: int) -> None:
    program = start(f"import sys\nsys.exit({code})\n")
    attach(program, program.called(), children)
    assert program.child.wait() == code


SWALLOWED = """\
import sys
def main():
    return 1 / 0  # here
try:
    main()
except ZeroDivisionError as error:
    sys.exit(CODE)  # the end
"""


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("code", ["1", "'failed'"])
def test_a_program_that_ends_itself_for_an_error_is_stopped(start: Start, children: ExitStack, code: str) -> None:
    program = start(SWALLOWED.replace("CODE", code))
    worker = attach(program, program.called(), children)
    reason, line, _ = worker.stop()
    assert (reason, line) == ("exception", "    sys.exit(CODE)  # the end".replace("CODE", code).strip())


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("ending", ["sys.exit(0)", "raise SystemExit(2) from None"])
def test_a_program_that_ends_itself_after_an_error_was_dealt_with_is_not_stopped(
    start: Start, children: ExitStack, ending: str
) -> None:
    program = start(SWALLOWED.replace("sys.exit(CODE)", ending))
    attach(program, program.called(), children)
    assert program.child.wait() == (0 if "0" in ending else 2)


@pytest.mark.usefixtures("debuggable")
def test_a_program_that_fails_is_stopped_where_it_failed(start: Start, children: ExitStack) -> None:
    program = start("missing = {}\nmissing['x']\n")
    worker = attach(program, program.called(), children)
    reason, line, _ = worker.stop()
    assert (reason, line) == ("exception", "missing['x']")


ASKED_AT_ITS_END = """\
import atexit, os, socket

def ask():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(os.path.join(os.path.dirname(__file__), f"raydap-{os.getpid()}"))
        connection.recv(1)

atexit.register(ask)
"""


def test_a_program_that_gets_a_question_while_it_ends_prints_nothing(start: Start) -> None:
    program = start(ASKED_AT_ITS_END)
    program.called().close()
    assert program.child.wait() == 0
    assert program.child.output == ""


def test_a_process_reports_its_stacks_without_a_debugger(start: Start) -> None:
    program = start(LOOP.replace("    work(2)\n    event.wait(0.01)", "    event.wait(work(1000))"))
    program.called().close()
    program.child.wait_for("begun")
    while "blocked" not in (found := {each["name"]: each for each in stacks(program)})["MainThread"]["activity"]:
        pass
    main = found["MainThread"]
    assert (main["is_users"], main["frames"][main["user"]]["path"]) == (True, str(program.path))
    assert set(found) == {"MainThread", "Thread-1 (other)"}
    with open(f"/proc/{program.child.process.pid}/maps", encoding="utf-8") as maps:
        assert "pydevd" not in maps.read()


def stacks(program: PreparedProgram) -> list[dict[str, Any]]:
    threads: list[dict[str, Any]] = ask(program, {"stack": True})["threads"]
    return threads
