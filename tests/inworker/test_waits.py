"""A process reports what its threads wait for, by its debugger and by its agent."""

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from raydap.inworker import calls
from support.agents import PreparedProgram, read_line
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

# One thread keeps the lock, the main thread waits for the lock, and a third one for the end of the first.
PROGRAM = """\
import threading

lock, done, begun = threading.Lock(), threading.Event(), threading.Event()

def keep():
    with lock:
        begun.set()
        done.wait()

def join():
    keeper.join()

def wait():
    lock.acquire()
    print("over", flush=True)

keeper = threading.Thread(target=keep, name="keeper", daemon=True)
keeper.start()
begun.wait()
threading.Thread(target=join, name="joiner", daemon=True).start()
{first}
print("waits", flush=True)
wait()
"""


def checked(told: dict[str, Any]) -> bool:
    """Return whether all threads are blocked. If so, check what they report to wait for."""
    threads = {each["name"]: each for each in told["threads"]}
    main, keeper, joiner = (threads[name] for name in ("MainThread", "keeper", "joiner"))
    if any(each["activity"] != "blocked" for each in (main, keeper, joiner)):
        return False
    assert main["wait"] == {"kind": "lock", "holder": keeper["ident"], "sure": True, "ends": False}
    assert joiner["wait"] == {"kind": "thread", "holder": keeper["ident"], "ends": False}
    assert "wait" not in keeper
    return True


def test_an_attached_worker_reports_what_its_threads_wait_for(start: Start) -> None:
    worker, debuggee = start(PROGRAM.format(first="breakpoint()"))
    _, _, thread = worker.stop()
    assert worker.call(calls.resume_thread(thread)) == ""
    debuggee.child.wait_for("waits")
    while not checked(json.loads(worker.query(calls.all_waits()))):
        pass
    assert all("wait" not in each for each in json.loads(worker.query(calls.all_stacks()))["threads"])
    assert "lock_wait" not in worker.query(calls.running_value("str(list(globals()))", 5.0)), "it leaves no trace"
    worker.call(calls.pause_thread(thread))
    worker.query(calls.running_value("done.set()", 5.0))
    worker.leave()
    assert debuggee.child.wait() == 0


def ask(program: PreparedProgram, **question: Any) -> socket.socket:
    connection = program.dial()
    read_line(connection)
    connection.sendall(json.dumps(question).encode() + b"\n")
    return connection


def by_agent(program: PreparedProgram, **question: Any) -> dict[str, Any]:
    with ask(program, **question).makefile("rb") as file:
        told: dict[str, Any] = json.loads(file.read())
    return told


def test_an_agent_reports_what_the_threads_wait_for(tmp_path: Path, packages: Path | None, children: ExitStack) -> None:
    program = PreparedProgram.start(PROGRAM.format(first=""), tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("waits")
    while not checked(by_agent(program, stack=True, waits=True)):
        pass
    assert all("wait" not in each for each in by_agent(program, stack=True)["threads"])
    # The program ends while its agent is answering.
    ask(program, evaluate="done.set()", seconds=5.0)
    assert program.child.wait() == 0
