"""The bridge's side of the relay. A script that connects directly stands in for Ray."""

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.ray_process import ray_query
from raydap.cluster.relay import relay_client
from raydap.cluster.relay.relay_client import ClusterAccess, RelayClient, RelayFailed
from support import processes

WAIT = 30.0

BURST = 400
"""How many connections are opened at once. Linux keeps about 280 descriptors for a process that receives none."""

NOWHERE = {"host": "127.0.0.1", "port": 1}

SCRIPT = """\
import json, os, socket, sys, threading

folder = {folder!r}
control = socket.socket(fileno=os.dup(0))
question = json.loads(control.makefile("rb", buffering=0).readline())
with open(folder + "/runs", "a") as runs:
    print(os.getpid(), question["session"], os.environ.get("RAY_ADDRESS"), os.environ.get("KEPT"), file=runs)
print("a word for the log", file=sys.stderr, flush=True)
{start}
print(json.dumps({{"ready": True}}), flush=True)

def copy(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)

def serve(ours):
    question = json.loads(ours.makefile("rb", buffering=0).readline())
    if question["node_id"] == "dead":
        os._exit(3)
    if question["node_id"] == "full":
        answer = {{"error": "no room"}}
    elif question["node_id"] == "closed":
        answer = {{"error": "nothing there", "refused": True}}
    elif question["node_id"] == "far":
        answer = {{"error": "no way", "refused": False}}
    else:
        answer = {{"ok": True}}
        theirs = socket.create_connection((question["host"], question["port"]))
    ours.sendall(json.dumps(answer).encode() + b"\\n")
    if "ok" in answer:
        threading.Thread(target=copy, args=(theirs, ours)).start()
        copy(ours, theirs)

while True:
    data, (*fds,), *_ = socket.recv_fds(control, 1, 1)
    if not data:
        os._exit(0)
    threading.Thread(target=serve, args=(socket.socket(fileno=fds[0]),)).start()
"""


class Play:
    """A relay and its cluster, in an event loop."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.session = "session_1"
        self.environ = {**os.environ, **environ}
        self.relay = RelayClient(self.cluster)

    async def cluster(self) -> ClusterAccess:
        return ClusterAccess(self.session, self.environ)

    @property
    def runs(self) -> list[list[str]]:
        """Return the pid, the session and two environment variables of each process that was started."""
        return [line.split() for line in (self.folder / "runs").read_text().splitlines()]

    def left(self) -> list[str]:
        """Return the pids of the processes that still run."""
        return [pid for pid, *_ in self.runs if Path(f"/proc/{pid}").exists()]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return `play(part, start="")`, which runs `part(Play)` with a script that runs `start` first.

    Afterwards no process of the relay may run.
    """

    def run(part: Callable[[Play], Awaitable[None]], start: str = "", **environ: str) -> None:
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(folder=str(tmp_path), start=start))
        monkeypatch.setattr(ray_query, "SCRIPT", script)

        async def main() -> None:
            it = Play(tmp_path, **environ)
            try:
                await asyncio.wait_for(part(it), WAIT)
            finally:
                await it.relay.close()
            assert it.left() == []

        asyncio.run(main())

    return run


async def echo() -> tuple[asyncio.Server, str, int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello ")
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    return server, host, port


async def receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = await asyncio.get_running_loop().sock_recv(connection, size - len(data))
        assert more, data
        data += more
    return data


def test_bytes_and_the_end_go_both_ways(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        server, host, port = await echo()
        loop = asyncio.get_running_loop()
        first, second = await asyncio.gather(*(it.relay.open("node", {"host": host, "port": port}) for _ in range(2)))
        for connection, word in ((first, b"one"), (second, b"two")):
            # The worker's debugger sends first. The relay's answer must not swallow any of that.
            assert await receive(connection, 6) == b"hello "
            await loop.sock_sendall(connection, word)
            assert await receive(connection, 3) == word
            connection.shutdown(socket.SHUT_WR)
            assert await loop.sock_recv(connection, 1) == b""
            connection.close()
        server.close()
        assert [run[1:] for run in it.runs] == [["session_1", "None", "yes"]]

    play(part, RAY_ADDRESS="elsewhere:1", KEPT="yes")


@pytest.mark.parametrize(
    ("node", "kind", "text"),
    [("closed", ConnectionRefusedError, "nothing there"), ("far", OSError, "no way"), ("full", RelayFailed, "no room")],
)
def test_what_cannot_be_reached(play: Callable[..., None], node: str, kind: type[Exception], text: str) -> None:
    async def part(it: Play) -> None:
        with pytest.raises(OSError, match=text) as caught:
            await it.relay.open(node, NOWHERE)
        assert type(caught.value) is kind

    play(part)


def test_a_process_that_ended_is_started_again(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        server, host, port = await echo()
        (await it.relay.open("node", {"host": host, "port": port})).close()
        with pytest.raises(RelayFailed, match="its process has ended"):
            await it.relay.open("dead", {"host": host, "port": port})
        assert len(it.runs) == 2, "a process may have ended unnoticed, so another one is asked once"
        (await it.relay.open("node", {"host": host, "port": port})).close()
        assert len(it.runs) == 3
        server.close()

    play(part)


def test_another_cluster_gets_another_process(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        server, host, port = await echo()
        (await it.relay.open("node", {"host": host, "port": port})).close()
        it.session = "session_2"
        (await it.relay.open("node", {"host": host, "port": port})).close()
        assert [run[1] for run in it.runs] == ["session_1", "session_2"]
        assert it.left() == [it.runs[1][0]]
        server.close()

    play(part)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ("print(json.dumps({'error': 'NoNode: none here'})); sys.exit()", "NoNode: none here"),
        ("os._exit(7)", "exited with code 7"),
    ],
)
def test_a_cluster_that_cannot_be_joined(play: Callable[..., None], start: str, text: str) -> None:
    async def part(it: Play) -> None:
        for _ in range(3):
            with pytest.raises(RelayFailed, match=text):
                await it.relay.open("node", NOWHERE)
        assert len(it.runs) == 1, "that was tried just now"
        it.session = "session_2"
        with pytest.raises(RelayFailed, match=text):
            await it.relay.open("node", NOWHERE)
        assert len(it.runs) == 2

    play(part, start)


def test_a_client_of_ray_that_hangs_is_ended(play: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_client, "START_TIMEOUT_S", 1.0)

    async def part(it: Play) -> None:
        with pytest.raises(RelayFailed, match="could not join the cluster within 1 s"):
            await it.relay.open("node", NOWHERE)
        assert it.left() == []

    play(part, "import time; time.sleep(600)")


def test_closing_while_the_process_starts(play: Callable[..., None]) -> None:
    async def part(it: Play) -> None:
        opening = asyncio.ensure_future(it.relay.open("node", NOWHERE))
        while not (it.folder / "runs").exists() or not it.runs:  # noqa: ASYNC110  # The script reports it in a file.
            await asyncio.sleep(0.01)
        await it.relay.close()
        with pytest.raises(RelayFailed):
            await opening

    play(part, "import time; time.sleep(600)")


def test_the_process_speaks_to_the_log(play: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    async def part(it: Play) -> None:
        with pytest.raises(RelayFailed):
            await it.relay.open("full", NOWHERE)

    with caplog.at_level("INFO", "raydap"):
        play(part)
    assert "relay: a word for the log" in caplog.messages


def test_a_cluster_that_is_not_known(play: Callable[..., None]) -> None:
    async def unknown() -> Any:
        raise RelayFailed("nobody knows")

    async def part(it: Play) -> None:
        (it.folder / "runs").touch()
        with pytest.raises(RelayFailed, match="nobody knows"):
            await RelayClient(unknown).open("node", NOWHERE)
        assert it.runs == []

    play(part)


def test_a_burst_of_connections_is_not_taken_for_the_end_of_the_process(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is frozen until the kernel refuses further connections for it."""
    send_fds, refused = socket.send_fds, 0

    async def part(it: Play) -> None:
        server, host, port = await echo()
        (await it.relay.open("node", {"host": host, "port": port})).close()
        pid = int(it.runs[0][0])

        def send(*arguments: Any) -> int:
            nonlocal refused
            try:
                return send_fds(*arguments)
            except BlockingIOError:
                refused += 1
                os.kill(pid, signal.SIGCONT)
                raise

        monkeypatch.setattr(socket, "send_fds", send)
        processes.freeze(pid)
        opened = await asyncio.gather(*(it.relay.open("node", {"host": host, "port": port}) for _ in range(BURST)))
        for connection in opened:
            connection.close()
        server.close()
        assert refused > 0
        assert len(it.runs) == 1

    play(part)


def test_a_process_that_takes_no_connection_is_given_up(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def part(it: Play) -> None:
        server, host, port = await echo()
        (await it.relay.open("node", {"host": host, "port": port})).close()
        monkeypatch.setattr(relay_client, "OPEN_TIMEOUT_S", 0.1)
        processes.freeze(int(it.runs[0][0]))
        opening = [it.relay.open("node", {"host": host, "port": port}) for _ in range(BURST)]
        failures = await asyncio.gather(*opening, return_exceptions=True)
        assert {type(each) for each in failures} == {RelayFailed}
        os.kill(int(it.runs[0][0]), signal.SIGCONT)
        server.close()

    play(part)


def test_without_a_free_descriptor_the_process_keeps_running(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def part(it: Play) -> None:
        server, host, port = await echo()
        (await it.relay.open("node", {"host": host, "port": port})).close()
        with monkeypatch.context() as patch:
            patch.setattr(socket, "socketpair", fail)
            with pytest.raises(RelayFailed, match="cannot open more connections"):
                await it.relay.open("node", {"host": host, "port": port})
        (await it.relay.open("node", {"host": host, "port": port})).close()
        server.close()
        assert len(it.runs) == 1

    def fail() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    play(part)
