"""A worker survives the loss of an editor, however the editor ends."""

import json
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed

from support.bridge import Bridge
from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on

PROGRAM = """\
for turn in range(2):
    breakpoint()
    print("turn", turn, flush=True)
print("DONE")
"""


@pytest.fixture
def stopped(plain_debugpy: Callable[[str], Debuggee]) -> Debuggee:
    """Return a program that stops twice, and finishes when it is resumed or detached."""
    return plain_debugpy(PROGRAM)


def attach(client: Client, debuggee: Debuggee) -> dict[str, object]:
    """Attach, and return the first stop."""
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    return client.wait_event("stopped")


def ran_on(debuggee: Debuggee) -> bool:
    return debuggee.child.wait() == 0 and "DONE" in debuggee.child.output


def test_disconnect_lets_the_worker_run_and_the_bridge_serves_the_next_session(
    client: Client,
    bridge: Bridge,
    stopped: Debuggee,
    connect_to: Callable[[str, int], Client],
    plain_debugpy: Callable[[str], Debuggee],
) -> None:
    attach(client, stopped)
    client.request("disconnect")
    assert ran_on(stopped)
    another = plain_debugpy(PROGRAM)
    next_client = connect_to(bridge.host, bridge.port)
    stop = attach(next_client, another)
    assert [thread["id"] for thread in next_client.request("threads")["threads"]] == [stop["threadId"]]
    next_client.request("disconnect", terminateDebuggee=True)  # The argument concerns launched programs only.
    assert ran_on(another)


def test_a_closed_connection_lets_the_worker_run(client: Client, stopped: Debuggee) -> None:
    attach(client, stopped)
    client.close()
    assert ran_on(stopped)


def test_a_reset_connection_lets_the_worker_run(bridge: Bridge, stopped: Debuggee, children: ExitStack) -> None:
    connection = children.enter_context(socket.create_connection((bridge.host, bridge.port)))

    def reset() -> None:
        # A killed editor closes its connection with unread data or with this option.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)

    client = Client(connection.makefile("rb"), connection.makefile("wb"), reset)
    attach(client, stopped)
    client.close()
    connection.close()
    assert ran_on(stopped)


def test_an_editor_on_stdio(stopped: Debuggee, children: ExitStack) -> None:
    command = [sys.executable, "-m", "raydap", "adapter"]
    adapter = children.enter_context(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    )
    children.callback(adapter.kill)
    assert adapter.stdin is not None
    assert adapter.stdout is not None
    assert adapter.stderr is not None
    client = Client(adapter.stdout, adapter.stdin, adapter.stdin.close)
    stop = attach(client, stopped)
    assert frames(client, stop)[0]["source"]["path"] == str(stopped.path)
    client.close()
    assert adapter.wait(20) == 0
    assert adapter.stderr.read() == b""
    assert ran_on(stopped)


def test_sigterm_detaches_the_workers(
    stopped: Debuggee, tmp_path: Path, connect_to: Callable[[str, int], Client], children: ExitStack
) -> None:
    bridge = Bridge.start(tmp_path / "ended.log")
    children.push(bridge.child)
    attach(connect_to(bridge.host, bridge.port), stopped)
    bridge.child.process.terminate()
    assert bridge.child.wait() == 0
    assert ran_on(stopped)
    assert "Traceback" not in bridge.child.output


def test_a_second_client_joins_sees_the_stops_and_may_stay_alone(
    client: Client, bridge: Bridge, stopped: Debuggee, connect_to: Callable[[str, int], Client]
) -> None:
    stop = attach(client, stopped)
    second = connect_to(bridge.host, bridge.port)
    second.start_session("attach", {})
    assert second.wait_event("stopped")["threadId"] == stop["threadId"]
    frame = frames(client, stop)[0]
    assert frames(second, stop)[0]["id"] == frame["id"]
    third = connect_to(bridge.host, bridge.port)
    third.request("initialize", adapterID="raydap")
    with pytest.raises(RequestFailed, match="1007"):
        third.request("attach", workers=["127.0.0.1:1"])

    go_on(second, stop)
    for each in (client, second):
        assert each.wait_event("continued")["threadId"] == stop["threadId"]
        assert each.wait_event("stopped")["threadId"] == stop["threadId"]
    client.request("disconnect")
    assert json.loads(evaluate(second, stop, "turn")) == 1
    go_on(second, stop)
    assert ran_on(stopped)
    second.wait_event("thread", lambda body: body["reason"] == "exited")
    assert len(bodies(second, "stopped")) == 2
