"""Faults of workers, their debuggers and clients: the rest keeps working, and the user gets one message about each."""

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from raydap.wire.framing import encode
from support import processes
from support.bridge import Bridge
from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, problems
from support.remote_worker import RemoteWorker

PROGRAM = """\
import time

for turn in range(3):
    breakpoint()
    print("turn", turn)
print("DONE")
"""

RUNNING = """\
breakpoint()
print("RUNS")
while True:
    pass
"""

GATED = """\
for turn in range(2):
    breakpoint()
    print("turn", turn)
    open(GATE).readline()
print("DONE")
"""


@pytest.fixture
def session(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> Callable[..., list[Any]]:
    """Return `session(*sources)`, which attaches `client` to these programs and returns each with its first stop."""

    def start(*sources: str) -> list[Any]:
        debuggees = {str(debuggee.child.pid): debuggee for debuggee in map(plain_debugpy, sources)}
        where = [f"{debuggee.host}:{debuggee.port}" for debuggee in debuggees.values()]
        client.start_session("attach", {"workers": where})
        stops = {}
        for _ in debuggees:
            stop = client.wait_event("stopped")
            stops[evaluate(client, stop, "__import__('os').getpid()")] = stop
        return [(debuggee, stops[pid]) for pid, debuggee in debuggees.items()]

    return start


@pytest.fixture
def remote(children: ExitStack) -> RemoteWorker:
    worker = RemoteWorker()
    children.callback(worker.end)
    return worker


@pytest.fixture
def attached(
    client: Client, plain_debugpy: Callable[[str], Debuggee], remote: RemoteWorker
) -> Iterator[dict[str, Any]]:
    """Yield the stop of a real worker beside the running remote one. At the end, let the real program finish."""
    debuggee = plain_debugpy(PROGRAM)
    client.start_session("attach", {"workers": [remote.address, f"{debuggee.host}:{debuggee.port}"]})
    stop = client.wait_event("stopped")
    assert remote.attached.wait(60)
    yield stop
    finish(client, stop, debuggee)


def finish(client: Client, stop: dict[str, Any], debuggee: Debuggee, stops: int = 3) -> None:
    """Continue through this many stops to the end of the program, and evaluate an expression at each."""
    for turn in range(3 - stops, 3):
        assert evaluate(client, stop, "turn") == str(turn)
        go_on(client, stop)
        stop = client.wait_event("stopped") if turn < 2 else stop
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


def wake(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # It may have been woken before, and have ended.
        os.kill(pid, signal.SIGCONT)


def problem(client: Client) -> str:
    """Wait for the next message about a problem."""
    text: str = client.wait_event("output", lambda body: body["category"] == "important")["output"]
    return text


def test_a_worker_killed_while_it_runs(client: Client, session: Callable[..., list[Any]]) -> None:
    """Its thread disappears without a message: a running worker is not on the screen, and Ray reports the job's end."""
    (doomed, stop), (other, its_stop) = session(RUNNING, PROGRAM)
    go_on(client, stop)
    doomed.child.wait_for("RUNS")
    doomed.child.process.kill()
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    with pytest.raises(RequestFailed, match="1006"):
        client.request("pause", threadId=stop["threadId"])
    finish(client, its_stop, other)
    assert problems(client) == []


def test_the_debugger_of_a_stopped_worker_killed(client: Client, session: Callable[..., list[Any]]) -> None:
    (orphan, stop), (other, its_stop) = session(PROGRAM, PROGRAM)
    frame = frames(client, stop)[0]["id"]
    pending = client.send("evaluate", expression="time.sleep(3600)", frameId=frame, context="repl")
    os.kill(processes.listening_on(orphan.port), signal.SIGKILL)
    with pytest.raises(RequestFailed, match="3003"):
        client.result(pending)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    assert problem(client).endswith("The other workers are not affected. [raydap 3003]\n")
    finish(client, its_stop, other)
    assert len(problems(client)) == 1


@pytest.mark.parametrize("frozen", ["worker", "debugger"])
def test_a_worker_that_does_not_answer_delays_no_other(
    client: Client, session: Callable[..., list[Any]], frozen: str, children: ExitStack
) -> None:
    """tests/playbook tests the time limits, which need the core's clock."""
    (silent, stop), (other, its_stop) = session(PROGRAM, PROGRAM)
    pid = silent.child.pid if frozen == "worker" else processes.listening_on(silent.port)
    children.callback(wake, pid)
    processes.freeze(pid)
    pending = client.send("stackTrace", threadId=stop["threadId"])
    finish(client, its_stop, other)
    assert not pending.done()
    wake(pid)
    assert client.result(pending)["stackFrames"]
    finish(client, stop, silent)
    assert problems(client) == []


def test_two_clients_resume_one_thread_at_once(
    client: Client,
    bridge: Bridge,
    plain_debugpy: Callable[[str], Debuggee],
    connect_to: Callable[[str, int], Client],
    tmp_path: Path,
    children: ExitStack,
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    opener = os.open(gate, os.O_RDWR)  # With O_RDWR, neither side waits for the other to open the FIFO.
    children.callback(os.close, opener)
    debuggee = plain_debugpy(GATED.replace("GATE", repr(str(gate))))
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    both = (client, connect_to(bridge.host, bridge.port))
    both[1].start_session("attach", {})
    for turn in range(2):
        stop, same = (each.wait_event("stopped") for each in both)
        assert stop["threadId"] == same["threadId"]
        assert evaluate(client, stop, "turn") == str(turn)
        # The program runs to the FIFO and waits, so the later `continue` finds the thread running or already resumed.
        pending = [each.send("continue", threadId=stop["threadId"]) for each in both * 2]
        assert [each.result(request) for each, request in zip(both * 2, pending, strict=True)] == [
            {"allThreadsContinued": False}
        ] * 4
        os.write(opener, b"\n")
    assert debuggee.child.wait() == 0
    for each in both:
        each.wait_event("thread", lambda body: body["reason"] == "exited")
        assert sum(event["event"] == "continued" for event in each.events) == 2


def test_a_client_that_does_not_read_is_cut_off(
    client: Client, bridge: Bridge, attached: dict[str, Any], remote: RemoteWorker, children: ExitStack
) -> None:
    with remote as worker:
        worker.stop()
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    connection = children.enter_context(socket.create_connection((bridge.host, bridge.port)))
    for message in (
        b'{"seq":1,"type":"request","command":"initialize","arguments":{"clientID":"lazy"}}',
        b'{"seq":2,"type":"request","command":"attach"}',
    ):
        connection.sendall(encode(message))
    # The worker's response repeats the expression: 96 MB, where a client's queue has room for 64 MB.
    long = b'{"seq":%d,"type":"request","command":"evaluate","arguments":{"frameId":%d,"expression":"%b"}}'
    # The bridge closes the connection before the last of them.
    with contextlib.suppress(ConnectionError):
        for number in range(12):
            connection.sendall(encode(long % (3 + number, frame, b"x" * 8_000_000)))
            # On a busy machine, the bridge could otherwise consider the worker the side that does not read.
            remote.wait_for_request("evaluate", number + 1, timeout_s=5)
    bridge.child.wait_for("client lazy disconnected: does not read its messages")
    with remote as worker:
        assert worker.connected
    assert evaluate(client, stop, "6 * 7").startswith("6 * 7 of ")
    go_on(client, stop)
    assert problems(client) == []


def test_a_client_that_announces_too_much_is_cut_off(client: Client, bridge: Bridge, attached: dict[str, Any]) -> None:
    with socket.create_connection((bridge.host, bridge.port)) as connection:
        connection.sendall(b"Content-Length: 1099511627776\r\n\r\n{")
        assert connection.recv(1) == b""
    bridge.child.wait_for("1099511627776.* is longer than the allowed")
    assert problems(client) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"Content-Length: 1099511627776\r\n\r\n{", "is longer than the allowed"),
        (b"x" * 2000, "header is longer than"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "not part of the Debug Adapter Protocol"),
    ],
)
def test_a_worker_that_speaks_no_dap_any_more_is_given_up(
    client: Client, attached: dict[str, Any], remote: RemoteWorker, data: bytes, reason: str
) -> None:
    with remote as worker:
        worker.stop()
        worker.hold.add("scopes")
    stop = client.wait_event("stopped")
    pending = client.send("scopes", frameId=frames(client, stop)[0]["id"])
    client.request("threads")  # The response to this request proves that the one before was sent.
    remote.send(data)
    with pytest.raises(RequestFailed, match="3003"):
        client.result(pending)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    told = problem(client)
    assert reason in told
    assert told.endswith("[raydap 3003]\n")
    assert remote.closed.wait(60)
    assert len(problems(client)) == 1


def test_a_message_of_a_worker_that_cannot_be_read_is_skipped(
    client: Client, bridge: Bridge, attached: dict[str, Any], remote: RemoteWorker
) -> None:
    for data in (b"", b"[garbage]", b"[" * 100_000, b'{"seq":1,"type":"event"}', b"\xff" * 100):
        remote.send(encode(data))
    with remote as worker:
        worker.stop()
    stop = client.wait_event("stopped")
    assert bridge.child.output.count("sent a message that is not DAP") == 5
    assert evaluate(client, stop, "6 * 7").startswith("6 * 7 of ")
    go_on(client, stop)
    assert problems(client) == []
