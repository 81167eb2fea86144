"""Faults around a hub: stopped workers survive the loss of clients, and clients see no workers that have ended."""

import signal
import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from websockets.frames import Frame, Opcode

from support import processes
from support.bridge import Hub
from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, problems
from support.remote_worker import RemoteWorker

PROGRAM = """\
import time

for turn in range(2):
    breakpoint()
    print("turn", turn, flush=True)
print("DONE")
"""


@pytest.fixture
def enter(hub: Hub, connect_to: Callable[[str, int], Client]) -> Callable[..., Client]:
    """Return `enter(*workers)`, with which a new client starts a session. Without workers, it joins the session."""

    def start(*workers: Debuggee | RemoteWorker) -> Client:
        client = connect_to(hub.host, hub.port)
        where = {"workers": [address(worker) for worker in workers]} if workers else {}
        client.start_session("attach", {"token": hub.token, **where})
        return client

    return start


def address(worker: Debuggee | RemoteWorker) -> str:
    return worker.address if isinstance(worker, RemoteWorker) else f"{worker.host}:{worker.port}"


def by_pid(client: Client, count: int) -> dict[int, dict[str, Any]]:
    stops = [client.wait_event("stopped") for _ in range(count)]
    return {int(evaluate(client, stop, "__import__('os').getpid()")): stop for stop in stops}


def finish(client: Client, stop: dict[str, Any], debuggee: Debuggee) -> None:
    """Continue through both stops to the end of the program."""
    assert evaluate(client, stop, "turn") == "0"
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "turn") == "1"
    go_on(client, stop)
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


def test_a_worker_that_dies_while_no_client_is_connected(
    enter: Callable[..., Client], plain_debugpy: Callable[[str], Debuggee], hub: Hub
) -> None:
    doomed, other = plain_debugpy(PROGRAM), plain_debugpy(PROGRAM)
    first = enter(doomed, other)
    stops = by_pid(first, 2)
    first.request("disconnect")
    doomed.child.process.kill()
    hub.child.wait_for(f"The stopped worker {doomed.child.pid} on .* is gone")
    second = enter()
    stop = second.wait_event("stopped")
    assert stop["threadId"] == stops[other.child.pid]["threadId"]
    assert [thread["id"] for thread in second.request("threads")["threads"]] == [stop["threadId"]]
    with pytest.raises(RequestFailed, match="1006"):
        second.request("stackTrace", threadId=stops[doomed.child.pid]["threadId"])
    finish(second, stop, other)
    (told,) = problems(second)
    assert told.endswith("The other workers are not affected. [raydap 3003]")


def test_a_worker_that_hangs_while_no_client_is_connected_delays_no_other(
    enter: Callable[..., Client], plain_debugpy: Callable[[str], Debuggee], children: ExitStack
) -> None:
    silent, other = plain_debugpy(PROGRAM), plain_debugpy(PROGRAM)
    first = enter(silent, other)
    stops = by_pid(first, 2)
    first.close()
    children.callback(silent.child.process.send_signal, signal.SIGCONT)
    processes.freeze(silent.child.pid)
    second = enter()
    shown = {second.wait_event("stopped")["threadId"] for _ in range(2)}
    assert shown == {stop["threadId"] for stop in stops.values()}
    pending = second.send("stackTrace", threadId=stops[silent.child.pid]["threadId"])
    finish(second, stops[other.child.pid], other)
    silent.child.process.send_signal(signal.SIGCONT)
    assert second.result(pending)["stackFrames"]
    finish(second, stops[silent.child.pid], silent)
    assert problems(second) == []


def test_an_editor_that_dies_with_requests_under_way(
    hub: Hub, enter: Callable[..., Client], plain_debugpy: Callable[[str], Debuggee], children: ExitStack
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    connection = children.enter_context(socket.create_connection((hub.host, hub.port)))

    def reset() -> None:
        # A killed editor sends no `disconnect`, and the data for it is discarded.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)

    first = Client(connection.makefile("rb"), connection.makefile("wb"), reset)
    first.start_session("attach", {"token": hub.token, "workers": [address(debuggee)]})
    stop = first.wait_event("stopped")
    frame = frames(first, stop)[0]["id"]
    for _ in range(20):
        first.send("evaluate", expression="'x' * 100000", frameId=frame, context="clipboard")
    first.close()
    connection.close()
    second = enter()
    assert second.wait_event("stopped")["threadId"] == stop["threadId"]
    finish(second, stop, debuggee)
    assert problems(second) == []


def test_websocket_clients_that_break_the_rules_end_alone(
    hub: Hub, enter: Callable[..., Client], plain_debugpy: Callable[[str], Debuggee], children: ExitStack
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    client = enter(debuggee)
    stop = client.wait_event("stopped")
    for data, code in (
        (Frame(Opcode.BINARY, b"{}").serialize(mask=True), 1003),
        (Frame(Opcode.TEXT, b"\xff").serialize(mask=True), 1007),
        (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
        (b"\x81\xff" + (1 << 40).to_bytes(8, "big"), 1009),
    ):
        with websocket(hub) as connection:
            connection.sendall(data)
            # A close frame: the opcode, a length, and the code.
            heard = receive_all(connection)
            assert heard[:1] == b"\x88"
            assert int.from_bytes(heard[2:4], "big") == code
    with websocket(hub) as connection:
        connection.sendall(Frame(Opcode.TEXT, b"[garbage]").serialize(mask=True))
        assert b"raydap 1001" in connection.recv(65536)
    finish(client, stop, debuggee)
    assert problems(client) == []


def test_a_websocket_client_that_does_not_read_is_cut_off(
    hub: Hub, enter: Callable[..., Client], children: ExitStack
) -> None:
    remote = RemoteWorker()
    children.callback(remote.end)
    client = enter(remote)
    assert remote.attached.wait(60)
    with remote as worker:
        worker.stop()
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]

    def log() -> str:
        return hub.child.output

    with remote as worker:
        worker.commands()
    with websocket(hub) as connection:
        requests = [
            b'{"seq":1,"type":"request","command":"initialize","arguments":{"clientID":"lazy"}}',
            b'{"seq":2,"type":"request","command":"attach"}',
        ]
        # The worker's response repeats the expression: 96 MB, where a client's queue has room for 64 MB.
        long = b'{"seq":%d,"type":"request","command":"evaluate","arguments":{"frameId":%d,"expression":"%b"}}'
        requests += [long % (3 + number, frame, b"x" * 8_000_000) for number in range(12)]
        # The hub may close the connection before the last request.
        with suppress(ConnectionError):
            for number, request in enumerate(requests, start=-1):
                connection.sendall(Frame(Opcode.TEXT, request).serialize(mask=True))
                # raydap refuses requests for which a slow worker has no room.
                while not remote.wait_for_request("evaluate", number, 0.1) and "client lazy disconnected" not in log():
                    continue
        hub.child.wait_for("client lazy disconnected: does not read its messages")
    assert evaluate(client, stop, "6 * 7").startswith("6 * 7 of ")
    go_on(client, stop)
    assert problems(client) == []


def websocket(hub: Hub) -> socket.socket:
    """Return a connection after its handshake, with the token."""
    connection = socket.create_connection((hub.host, hub.port), 60)
    connection.sendall(
        f"GET /dap HTTP/1.1\r\nHost: {hub.host}:{hub.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\n"
        f"Authorization: Bearer {hub.token}\r\n\r\n".encode()
    )
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += connection.recv(1)
    assert answer.startswith(b"HTTP/1.1 101 ")
    return connection


def receive_all(connection: socket.socket) -> bytes:
    """Read until the hub closes the connection, and return the data."""
    heard = b""
    while data := connection.recv(65536):
        heard += data
    return heard


def test_a_hub_that_is_killed_while_it_holds_a_worker(
    connect_to: Callable[[str, int], Client],
    plain_debugpy: Callable[[str], Debuggee],
    children: ExitStack,
    tmp_path: Path,
) -> None:
    """The kernel closes the hub's connections, so debugpy resumes the worker.

    No worker waits for a new hub here. tests/ray/test_faults.py tests that a new hub finds later stops, for which only
    Ray's breakpoints wait.
    """
    hub = Hub.start(tmp_path / "killed.log")
    children.push(hub.child)
    debuggee = plain_debugpy(PROGRAM)
    client = connect_to(hub.host, hub.port)
    client.start_session("attach", {"token": hub.token, "workers": [address(debuggee)]})
    client.wait_event("stopped")
    client.request("disconnect")
    hub.child.process.kill()
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
