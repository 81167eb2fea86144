"""Workers that refuse, do not answer, have another debugger, or die: one clear message, and the others keep working."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed

from support.bridge import Bridge
from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, local_variables, problems

PROGRAM = """\
import time

def work():
    breakpoint()
    print("DONE")

work()
"""


@pytest.fixture
def closed_port(children: ExitStack) -> str:
    """Return an address where nothing listens. The port stays bound, so no other process can use it."""
    holder = children.enter_context(socket.socket())
    holder.bind(("127.0.0.1", 0))
    return f"127.0.0.1:{holder.getsockname()[1]}"


def problem(client: Client) -> str:
    """Wait for the next message about a problem."""
    text: str = client.wait_event("output", lambda body: body["category"] == "important")["output"]
    return text


def test_a_port_where_nothing_listens(
    client: Client, plain_debugpy: Callable[[str], Debuggee], closed_port: str
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    client.start_session("attach", {"workers": [closed_port, f"{debuggee.host}:{debuggee.port}"]})
    go_on(client, client.wait_event("stopped"))
    assert debuggee.child.wait() == 0
    client.wait_event("thread", lambda body: body["reason"] == "exited")
    (told,) = problems(client)
    assert closed_port in told
    assert told.endswith("[raydap 3001]")


def test_a_worker_that_sends_nothing_delays_no_other(
    client: Client, plain_debugpy: Callable[[str], Debuggee], children: ExitStack
) -> None:
    """tests/playbook tests the time limit, which needs the core's clock."""
    listener = children.enter_context(socket.create_server(("127.0.0.1", 0)))
    silent = f"127.0.0.1:{listener.getsockname()[1]}"
    debuggee = plain_debugpy(PROGRAM)
    client.start_session("attach", {"workers": [silent, f"{debuggee.host}:{debuggee.port}"]})
    go_on(client, client.wait_event("stopped"))
    assert debuggee.child.wait() == 0
    assert problems(client) == []
    connection, _ = listener.accept()
    connection.close()
    told = problem(client)
    assert silent in told
    assert "[raydap 3004]" in told


def test_something_that_is_no_debugger(client: Client, children: ExitStack) -> None:
    listener = children.enter_context(socket.create_server(("127.0.0.1", 0)))
    client.start_session("attach", {"workers": [f"127.0.0.1:{listener.getsockname()[1]}"]})
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        assert "[raydap 3004]" in problem(client)
    assert client.request("threads")["threads"] == []


def test_two_bridges_for_one_worker(
    client: Client,
    plain_debugpy: Callable[[str], Debuggee],
    tmp_path: Path,
    connect_to: Callable[[str, int], Client],
    children: ExitStack,
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    where = {"workers": [f"{debuggee.host}:{debuggee.port}"]}
    client.start_session("attach", where)
    stop = client.wait_event("stopped")
    other_bridge = Bridge.start(tmp_path / "other.log")
    children.callback(other_bridge.end)
    other = connect_to(other_bridge.host, other_bridge.port)
    other.start_session("attach", where)
    told = problem(other)
    assert told.endswith("is already being debugged. [raydap 3004]\n")
    # The first bridge is not affected.
    assert evaluate(client, stop, "6 * 7") == "42"
    go_on(client, stop)
    assert debuggee.child.wait() == 0
    assert problems(client) == []


def test_a_worker_killed_while_stopped(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggees = [plain_debugpy(PROGRAM), plain_debugpy(PROGRAM)]
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}" for debuggee in debuggees]})
    stops = {}
    for stop in (client.wait_event("stopped"), client.wait_event("stopped")):
        stops[evaluate(client, stop, "__import__('os').getpid()")] = stop
    doomed, other = (stops[str(debuggee.child.pid)] for debuggee in debuggees)
    frame = frames(client, doomed)[0]["id"]
    pending = client.send("evaluate", expression="time.sleep(3600)", frameId=frame, context="repl")
    debuggees[0].child.process.kill()
    # Its debugpy adapter ends a little later, and may fail the request itself with another message.
    with pytest.raises(RequestFailed, match=r"^evaluate: "):
        client.result(pending)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": doomed["threadId"]})
    assert f"The stopped worker {debuggees[0].child.pid} on 127.0.0.1 is gone" in problem(client)
    with pytest.raises(RequestFailed, match="1006"):
        client.request("continue", threadId=doomed["threadId"])
    assert [thread["id"] for thread in client.request("threads")["threads"]] == [other["threadId"]]
    local_variables(client, other)
    go_on(client, other)
    assert debuggees[1].child.wait() == 0
    (told,) = problems(client)
    assert told.endswith("[raydap 3003]")
