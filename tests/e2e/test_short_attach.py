"""A short attach to the real debugpy: the program answers, keeps waiting, and stops at its breakpoint() later."""

import asyncio
import json
import re
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import debugpy
import pytest
from local_cluster import Child

from raydap.inworker import calls
from raydap.runtime import short_attach
from raydap.transport import tcp
from support.entered import EnteredWorker

# The program waits like Ray's breakpoint(). Two threads wait, and the main thread does something else. Two modules of
# Ray, which relisten.py uses, are replaced.
PROGRAM = """\
import sys, threading, types

class Worker:
    node_ip_address = "127.0.0.1"

    def set_debugger_port(self, port):
        print("listening on port %d." % port, flush=True)

ray = types.ModuleType("ray")
ray._private = types.SimpleNamespace(worker=types.SimpleNamespace(global_worker=Worker()))
ray.util = types.SimpleNamespace(debugpy=types.SimpleNamespace(debugger_port_lock=threading.Lock()))
sys.modules["ray"] = ray
sys.modules["ray.util.debugpy"] = ray.util.debugpy

import debugpy
Worker().set_debugger_port(debugpy.listen(("127.0.0.1", 0))[1])

def work(loss):
    debugpy.wait_for_client()
    breakpoint()
    print("loss", loss, flush=True)

threads = [threading.Thread(target=work, args=(0.5,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class Waiting:
    """The program, which waits for a client at a new port after each question."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.port = 0
        self.listened = 0
        """How often it has begun to listen."""

    def wait(self) -> int:
        """Return the port at which the program listens, when it has listened once more."""
        self.listened += 1
        self.child.wait_for(rf"(?s)(listening on port \d+\..*){{{self.listened}}}")
        self.port = int(re.findall(r"listening on port (\d+)\.", self.child.output)[-1])
        return self.port

    def answer(self, expression: str, seconds: float = 5.0) -> str:
        """Return the result of an expression of calls.py, by a short attach."""

        def dial(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Any:
            return tcp.dial("127.0.0.1", self.port, on_message, on_gone, 10)

        return asyncio.run(short_attach.ask(dial, expression, seconds))

    def value(self, expression: str, seconds: float = 5.0) -> dict[str, Any]:
        """Return the value of the user's expression, and wait until the program listens again."""
        text = self.answer(calls.running_value(expression, seconds), seconds)
        self.wait()
        found: dict[str, Any] = json.loads(calls.read_result(text))
        return found


@pytest.fixture
def waiting(run_program: Callable[..., Child], packages: Path | None) -> Waiting:
    found = Waiting(run_program(PROGRAM, env={} if packages is None else {"PYTHONPATH": str(packages)}))
    found.wait()
    return found


def check_the_end(waiting: Waiting, children: ExitStack, tmp_path: Path) -> None:
    """Check that a debugger finds both threads at their breakpoint()."""
    assert "loss" not in waiting.child.output
    worker = EnteredWorker.attach("127.0.0.1", waiting.port, tmp_path, children)
    for _ in range(2):
        _, _, thread = worker.stop()
        worker.call(calls.resume_thread(thread))
    assert waiting.child.wait() == 0
    assert waiting.child.output.count("loss 0.5") == 2


@pytest.mark.core
def test_a_program_that_waits_answers_and_keeps_waiting(waiting: Waiting, children: ExitStack, tmp_path: Path) -> None:
    for _ in range(2):
        assert waiting.value("loss + 1") == {"result": "1.5", "type": "float"}
    assert waiting.value("lost") == {"error": "NameError: name 'lost' is not defined"}
    assert waiting.value("threading.Event().wait()", 0.1) == {"silent": True}
    assert waiting.value("debugpy.is_client_connected()")["result"] == "False"
    check_the_end(waiting, children, tmp_path)


@pytest.mark.core
def test_a_program_whose_adapter_dies_during_the_answer_keeps_waiting(
    waiting: Waiting, children: ExitStack, tmp_path: Path
) -> None:
    """The adapter also dies if raydap is killed at this moment, because it cannot forward the answer."""
    kill = "__import__('raydap.inworker.stuck_adapter').inworker.stuck_adapter._kill"
    with pytest.raises(OSError, match="its process has ended"):
        waiting.answer(f"{kill}(__import__('pydevd').get_global_debugger())")
    waiting.wait()
    check_the_end(waiting, children, tmp_path)


def test_an_adapter_that_is_slow_to_end_a_session_loses_no_worker(
    run_program: Callable[..., Child], children: ExitStack, tmp_path: Path
) -> None:
    """A client that connects while debugpy's adapter ends another session makes the adapter useless.

    A delay in the adapter makes this moment long.
    """
    packages = tmp_path / "packages"
    shutil.copytree(Path(debugpy.__file__).parent, packages / "debugpy")
    messaging = packages / "debugpy" / "common" / "messaging.py"
    source = messaging.read_text()
    line = "    def _handle_disconnect(self):\n"
    assert source.count(line) == 1
    messaging.write_text(source.replace(line, f"{line}        __import__('time').sleep(2)\n"))
    waiting = Waiting(run_program(PROGRAM, env={"PYTHONPATH": str(packages)}))
    waiting.wait()
    for _ in range(2):
        assert waiting.value("loss")["result"] == "0.5"
    check_the_end(waiting, children, tmp_path)


def test_a_process_that_cannot_listen_again_is_left_as_it_is(
    run_program: Callable[..., Child], children: ExitStack, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    program = PROGRAM.replace('sys.modules["ray.util.debugpy"] =', "unused =")
    waiting = Waiting(run_program(program, env={"DEBUGPY_LOG_DIR": str(logs)}))
    waiting.wait()
    with pytest.raises(OSError, match=r"^it has no debug port of its own that Ray knows$"):
        waiting.answer(calls.running_value("loss", 5.0))
    # raydap's core does not attach for some seconds now (`cooling_down`). This test attaches without the core.
    (log,) = logs.glob("debugpy.adapter-*.log")
    deadline = time.monotonic() + 60
    while "Session[1] has ended." not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()[-2000:]
    check_the_end(waiting, children, tmp_path)
