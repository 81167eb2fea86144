"""Blocked threads of forked children and of Pythons that a program starts, reported like those of the program itself.

Without a debugger, the agent reports them; with one, a pause.
"""

import json
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach_greeted, read_line
from support.entered import EnteredWorker

Hanging = Callable[[bool], tuple[PreparedProgram, int, socket.socket]]

pytestmark = pytest.mark.core

PROGRAM = """\
import os, subprocess, sys, threading

def hang():
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lock.acquire, name="beside", daemon=True).start()
    lock.acquire()

if "started" in sys.argv:
    hang()
{begin}
"""

BEGIN = {
    "forked": "pid = os.fork()\nif pid == 0:\n    hang()\nos.waitpid(pid, 0)",
    "started": "subprocess.run([sys.executable, __file__, 'started'])",
}


@pytest.fixture(params=BEGIN)
def hanging(request: pytest.FixtureRequest, tmp_path: Path, children: ExitStack) -> Hanging:
    """Return `hanging(wanted)`, which starts a program and returns it, its child, and the child's call to raydap.

    The call is closed if it is not wanted.
    """

    def start(wanted: bool) -> tuple[PreparedProgram, int, socket.socket]:
        program = PreparedProgram.start(PROGRAM.format(begin=BEGIN[request.param]), tmp_path, None, children)
        program.called().close()
        connection = program.called()
        pid = read_line(connection)["pid"]
        children.callback(os.kill, pid, signal.SIGKILL)
        if not wanted:
            connection.close()
        return program, pid, connection

    return start


def is_blocked(stack: dict[str, Any]) -> bool:
    return bool(stack["activity"] == "blocked")


def test_the_agent_of_a_child_reports_its_stacks(
    hanging: Hanging,
) -> None:
    program, pid, _ = hanging(False)
    found: dict[str, dict[str, Any]] = {}
    while len([stack for stack in found.values() if is_blocked(stack)]) < 2:
        found = stacks(program, pid)
    assert set(found) == {"MainThread", "beside"}
    frame = found["MainThread"]["frames"][found["MainThread"]["user"]]
    assert (frame["name"], frame["path"]) == ("hang", str(program.path))


def test_a_pause_in_a_child_reports_its_blocked_threads(hanging: Hanging, children: ExitStack) -> None:
    program, _, connection = hanging(True)
    worker = attach_greeted(program, connection, children)
    while "MainThread" not in (found := paused(worker)):
        # The thread has not reached its lock yet.
        worker.call(calls.resume_thread(worker.client.wait_event("stopped")["threadId"]))
    assert found["MainThread"]["main"]
    assert is_blocked(found["MainThread"])
    worker.leave()


def paused(worker: EnteredWorker) -> dict[str, dict[str, Any]]:
    worker.client.request("pause", threadId="*")
    return {each["name"]: each for each in json.loads(worker.query(calls.blocked_threads(())))["threads"]}


def stacks(program: PreparedProgram, pid: int) -> dict[str, dict[str, Any]]:
    with program.dial(pid) as connection:
        read_line(connection)
        connection.sendall(b'{"stack": true}\n')
        with connection.makefile("rb") as file:
            return {each["name"]: each for each in json.loads(file.read())["threads"]}
