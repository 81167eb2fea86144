"""A worker whose adapter no longer reads: the adapter ends, and the worker continues."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

UNLIMITED = """\
import pydevd, socket, struct

def unlimited():
    writer = pydevd.get_global_debugger().writer
    del writer.add_command
    assert struct.unpack("ll", writer.sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, 16)) == (30, 0)
    writer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))

breakpoint()
unlimited()
breakpoint()
print("DONE")
"""

PRINTS = """\
import sys, time
import pydevd

print("x" * 20_000_000, end="")
while not pydevd.get_global_debugger().writer.empty():
    time.sleep(0.01)
print("PRINTED", file=sys.__stdout__, flush=True)
breakpoint()
print("DONE")
"""


@pytest.mark.core
def test_an_adapter_that_does_not_read_is_ended(start: Start) -> None:
    worker, debuggee = start(UNLIMITED)
    worker.call(calls.resume_thread(worker.stop()[2]))
    _, _, thread = worker.stop()
    frame = worker.frames(thread)[0]["id"]
    copied = worker.client.send("evaluate", expression="'x' * 20_000_000", frameId=frame, context="clipboard")
    with pytest.raises(ConnectionError):
        worker.client.result(copied)
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


@pytest.mark.core
def test_a_message_that_was_on_its_way_before_ends_the_adapter_at_once(
    plain_debugpy: Callable[..., Debuggee], packages: Path | None, children: ExitStack
) -> None:
    debuggee = plain_debugpy(PRINTS, packages)
    client = children.enter_context(Client.connect(debuggee.host, debuggee.port))
    client.request("initialize", adapterID="raydap", clientID="raydap", pathFormat="path")
    client.send("attach", justMyCode=False, redirectOutput=True)
    client.wait_event("initialized")
    client.send("configurationDone")
    debuggee.child.wait_for("PRINTED")
    with pytest.raises(ConnectionError):
        client.request("evaluate", expression=calls.enter(True), context="clipboard")
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
