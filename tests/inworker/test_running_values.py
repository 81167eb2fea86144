"""An expression is evaluated in a running process, beside its code, by its debugger and by its agent."""

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, read_line
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

# The main thread waits in a function of the program, and another thread computes in one.
PROGRAM = """\
import threading

lock, done, begun = threading.Lock(), threading.Event(), threading.Event()

def spin():
    other = "thread"
    begun.set()
    while not done.is_set():
        pass

def wait(step):
    loss, text, many = 0.5, "\\xe9\\udc80" * 20_000, list(range(1_000_000))
    lock.acquire()
    {first}
    print("waits", flush=True)
    done.wait()
    print("step", step, flush=True)

threading.Thread(target=spin, daemon=True).start()
begun.wait()
wait(7)
"""


def ask(program: PreparedProgram, expression: str, seconds: float) -> socket.socket:
    connection = program.dial()
    read_line(connection)
    connection.sendall(json.dumps({"evaluate": expression, "seconds": seconds}).encode() + b"\n")
    return connection


def by_agent(program: PreparedProgram, expression: str, seconds: float = 5.0) -> dict[str, Any]:
    with ask(program, expression, seconds).makefile("rb") as file:
        said: dict[str, Any] = json.loads(file.read())
    return said


@pytest.fixture
def prepared(tmp_path: Path, packages: Path | None, children: ExitStack) -> Callable[[str], PreparedProgram]:
    """Return a function that starts a program without a debugger."""

    def start(source: str) -> PreparedProgram:
        program = PreparedProgram.start(source, tmp_path, packages, children)
        program.called().close()
        program.child.wait_for("waits")
        return program

    return start


def test_an_attached_worker_evaluates_while_it_runs(start: Start) -> None:
    worker, debuggee = start(PROGRAM.format(first="breakpoint()"))
    _, _, thread = worker.stop()
    assert worker.call(calls.resume_thread(thread)) == ""
    debuggee.child.wait_for("waits")

    def value(expression: str, seconds: float = 5.0) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(worker.query(calls.running_value(expression, seconds)))
        return said

    assert value("(step, loss)") == {"result": "(7, 0.5)", "type": "tuple"}
    assert value("lost") == {"error": "NameError: name 'lost' is not defined"}
    # An expression that never returns does not block other evaluations or the debugger.
    assert value("lock.acquire()", 0.1) == {"silent": True}
    assert value("lock.release()") == {"result": "None", "type": "NoneType"}
    worker.call(calls.pause_thread(thread))
    assert value("done.set()")["result"] == "None"
    worker.leave()
    assert debuggee.child.wait() == 0


def test_an_agent_evaluates_without_a_debugger(prepared: Callable[[str], PreparedProgram]) -> None:
    program = prepared(PROGRAM.format(first=""))
    assert by_agent(program, "step + 1") == {"result": "8", "type": "int"}
    assert by_agent(program, "__import__('sys').modules.keys() & {'pydevd', 'debugpy'}")["result"] == "set()"
    assert by_agent(program, "exit()") == {"error": "SystemExit: None"}
    assert by_agent(program, "step +")["error"].startswith("SyntaxError: ")
    # Long values are cut, and values that JSON cannot represent are written as text.
    assert by_agent(program, "many")["result"].startswith("[0, 1, 2, 3, ")
    assert len(by_agent(program, "many")["result"]) < 1000
    assert len(by_agent(program, "text")["result"]) <= 16_000
    summary = by_agent(program, calls.summary("many", 1.0))
    assert json.loads(calls.read_summary(summary["result"]))["type"] == "list"
    assert by_agent(program, "lock.acquire()", 0.1) == {"silent": True}
    assert by_agent(program, "lock.release()")["type"] == "NoneType"
    # The program ends while its agent is answering.
    ask(program, "done.set()", 5.0)
    assert program.child.wait() == 0
    assert "step 7" in program.child.output
