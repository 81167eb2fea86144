"""A short attach to the real debugpy: the program answers, keeps waiting, and stops at its breakpoint() later."""

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from raydap.inworker import calls
from raydap.runtime import short_attach
from raydap.transport import tcp
from support.debuggee import Debuggee
from support.entered import EnteredWorker

# The program waits like Ray's breakpoint(). Two threads wait, and the main thread does something else.
PROGRAM = """\
import threading
import debugpy

def work(loss):
    while debugpy.is_client_connected():
        threading.Event().wait(0.01)
    print("waits", flush=True)
    debugpy.wait_for_client()
    breakpoint()
    print("loss", loss, flush=True)

threads = [threading.Thread(target=work, args=(0.5,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def value(debuggee: Debuggee, expression: str, seconds: float = 5.0) -> dict[str, Any]:
    """Return the value of an expression, by a short attach."""

    def dial(on_message: Callable[[bytes], None], on_gone: Callable[[str], None]) -> Any:
        return tcp.dial(debuggee.host, debuggee.port, on_message, on_gone, 10)

    text = asyncio.run(short_attach.ask(dial, calls.running_value(expression, seconds), seconds))
    found: dict[str, Any] = json.loads(calls.read_result(text))
    return found


def test_a_program_that_waits_answers_and_keeps_waiting(
    plain_debugpy: Callable[[str], Debuggee], children: ExitStack
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    EnteredWorker.attach(debuggee.host, debuggee.port, debuggee.path, children).leave()
    debuggee.child.wait_for("waits\nwaits")
    # Each attach begins at once after the one before: the adapter is ready when the connection has ended.
    for _ in range(5):
        assert value(debuggee, "loss + 1") == {"result": "1.5", "type": "float"}
    assert value(debuggee, "lost") == {"error": "NameError: name 'lost' is not defined"}
    assert value(debuggee, "threading.Event().wait()", 0.1) == {"silent": True}
    assert value(debuggee, "debugpy.is_client_connected()")["result"] == "False"
    assert "loss" not in debuggee.child.output
    worker = EnteredWorker.attach(debuggee.host, debuggee.port, debuggee.path, children)
    for _ in range(2):
        _, line, thread = worker.stop()
        assert line == 'print("loss", loss, flush=True)'  # debugpy stops after the breakpoint().
        worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
    assert debuggee.child.output.count("loss 0.5") == 2
