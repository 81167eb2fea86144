"""The bridge's end of the connections of agents. Sockets stand in for agents."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import pytest

import raydap
from raydap.core.events import AgentCalled, AgentFound, AgentsEnded, AgentsSearched, Event
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey
from raydap.runtime import agent_connections, agents
from raydap.runtime.agents import Agents
from support.agents import hello_line, leave_socket

WAIT = 10

INWORKER = Path(raydap.__file__).parent / "inworker"


def run(script: Callable[["Calls"], Awaitable[None]]) -> None:
    async def main() -> None:
        calls = Calls()
        try:
            await asyncio.wait_for(script(calls), WAIT)
        finally:
            await calls.agents.close()
            for connection in calls.connections:
                connection.close()

    asyncio.run(main())


class Calls:
    """The agents of one program or cluster, and the events that their calls cause."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.agents = Agents(self.events.put_nowait)
        self.connections: list[socket.socket] = []

    @cached_property
    def path(self) -> str:
        """Return the socket path that the processes of a launched program call."""
        path: str = json.loads(self.agents.environment({})["RAYDAP_AGENT"])["raydap"]
        return path

    async def call(self, line: bytes, path: str = "") -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connections.append(connection)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, path or self.path)
        await loop.sock_sendall(connection, line)
        return connection


def test_a_call_is_an_event_and_its_connection_waits() -> None:
    async def script(calls: Calls) -> None:
        await calls.call(hello_line())
        event = await calls.events.get()
        wanted = ProcessInfo(WorkerKey("w1"), "10.0.0.1", 0, 42, "10.0.0.1", "n1", "WORKER", "/sockets/raydap-42")
        assert event == AgentCalled(wanted)
        waiting = calls.agents.take(WorkerKey("w1"))
        assert waiting is not None
        waiting.close()
        assert calls.agents.take(WorkerKey("w1")) is None

    run(script)


def test_a_driver_is_known_by_its_process_until_ray_knows_it() -> None:
    async def script(calls: Calls) -> None:
        await calls.call(hello_line(worker_id="", worker_type="DRIVER"))
        event = await calls.events.get()
        assert isinstance(event, AgentCalled)
        assert (event.worker.key, event.worker.worker_type) == ("pid-42", "DRIVER")

    run(script)


def test_a_process_that_is_released_continues() -> None:
    async def script(calls: Calls) -> None:
        connection = await calls.call(hello_line())
        await calls.events.get()
        calls.agents.release(WorkerKey("w1"))
        calls.agents.release(WorkerKey("unknown"))
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""

    run(script)


def test_a_child_says_whose_it_is() -> None:
    async def script(calls: Calls) -> None:
        await calls.call(hello_line(worker_id="", worker_type="CHILD", parent="w1"))
        event = await calls.events.get()
        assert isinstance(event, AgentCalled)
        assert (event.worker.key, event.worker.worker_type, event.worker.parent) == ("pid-42", "CHILD", "w1")

    run(script)


@pytest.mark.parametrize(
    "said", [b"", b"\n", b"nonsense\n", b"[]\n", b"\xff\n", b"x" * 5000, hello_line(pid="42"), hello_line(raydap=2)]
)
def test_a_call_that_is_none_is_hung_up(said: bytes) -> None:
    async def script(calls: Calls) -> None:
        connection = await calls.call(said)
        connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # The other end closes before it has read everything.
            assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
        assert calls.events.empty()

    run(script)


def test_only_this_user_can_call() -> None:
    async def script(calls: Calls) -> None:
        assert stat.S_IMODE(os.stat(os.path.dirname(calls.path)).st_mode) == 0o700

    run(script)


def test_nothing_is_left_at_the_end() -> None:
    folders = []

    async def script(calls: Calls) -> None:
        folders.append(os.path.dirname(calls.path))
        await calls.call(hello_line())
        await calls.events.get()

    run(script)
    assert not os.path.exists(folders[0])


@pytest.mark.parametrize("given", [{}, {"PYTHONPATH": "/mine", "RAY_RUNTIME_ENV_HOOK": "my.hook"}])
def test_the_environment_keeps_what_the_user_has_given(given: dict[str, str]) -> None:
    async def script(calls: Calls) -> None:
        environment = calls.agents.environment(given)
        assert environment.keys() == {"PYTHONPATH", "RAYDAP_AGENT"}
        at_start, *rest = environment["PYTHONPATH"].split(os.pathsep)
        assert (at_start, rest) == (str(INWORKER / "at_start"), [given["PYTHONPATH"]] if given else [])

    run(script)


def test_processes_that_begin_call_raydap_in_the_sessions_folder(tmp_path: Path) -> None:
    async def script(calls: Calls) -> None:
        calls.agents.reach(str(tmp_path))
        calls.agents.reach(str(tmp_path))
        (name,) = os.listdir(tmp_path)
        path = os.path.join(tmp_path, name)
        assert name.startswith(f"raydap-call-{os.getpid()}-")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert await calls.events.get() == AgentsSearched()
        await calls.call(hello_line(waits=True), path)
        event = await calls.events.get()
        assert isinstance(event, AgentCalled)
        assert event.waits

    run(script)
    assert list(tmp_path.iterdir()) == []


def test_processes_that_run_already_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets of other programs, dead agents, and agents that this raydap already debugs are ignored."""
    said = {
        "raydap-1": hello_line(worker_id="w1"),
        "raydap-2": hello_line(worker_id="w2", holder="raydap 0.0.1 with pid 1"),
        "raydap-3": hello_line(worker_id="w3", holder=agent_connections.own_name()),
        "raydap-4": b"nonsense\n",
        "plasma_store": hello_line(worker_id="w5"),
    }
    leave_socket(tmp_path / "raydap-6")
    asked: asyncio.Queue[str] = asyncio.Queue()

    async def script(calls: Calls) -> None:
        async def serve(name: str) -> asyncio.Server:
            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(said[name])
                assert await reader.read() == b"", "no client asks it for a debugger"
                asked.put_nowait(name)
                writer.close()

            return await asyncio.start_unix_server(answer, str(tmp_path / name))

        servers = [await serve(name) for name in said]
        calls.agents.reach(str(tmp_path))
        found = [await calls.events.get(), await calls.events.get()]
        assert {event.worker.key for event in found if isinstance(event, AgentFound)} == {"w1", "w2"}
        assert {await asked.get() for _ in range(4)} == said.keys() - {"plasma_store"}
        assert await calls.events.get() == AgentsSearched()
        assert calls.events.empty()
        # A process that starts later, and calls another raydap.
        path = str(tmp_path / "raydap-7")
        said["raydap-7"] = hello_line(worker_id="w7", holder="raydap 0.0.1 with pid 1", socket=path)
        servers.append(await serve("raydap-7"))
        event = await calls.events.get()
        assert isinstance(event, AgentFound)
        assert event.worker.key == "w7"
        os.unlink(path)
        assert await calls.events.get() == AgentsEnded({path})
        for server in servers:
            server.close()

    monkeypatch.setattr(agents, "FIND_INTERVAL_S", 0.01)
    run(script)


def test_the_sockets_of_processes_that_have_ended_are_removed(tmp_path: Path) -> None:
    left = leave_socket(tmp_path / "raydap-6")

    async def script(calls: Calls) -> None:
        server = await asyncio.start_unix_server(lambda _, writer: writer.close(), str(tmp_path / "raydap-8"))
        calls.agents.reach(str(tmp_path))
        assert await calls.events.get() == AgentsSearched()
        assert (left.exists(), (tmp_path / "raydap-8").exists()) == (False, True)
        server.close()

    run(script)


LISTENER = """
import os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    listener.bind(f"raydap-{os.getpid()}")
    listener.listen()
    while True:
        with listener.accept()[0] as connection:
            connection.sendall(sys.argv[1].replace("PID", str(os.getpid())).encode())
"""


def test_the_end_of_a_killed_process_is_reported_while_no_other_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process leaves its socket."""
    monkeypatch.setattr(agents, "FIND_INTERVAL_S", 0.01)
    line = hello_line(socket=str(tmp_path / "raydap-PID")).decode()
    with subprocess.Popen([sys.executable, "-c", LISTENER, line], cwd=tmp_path) as process:

        async def script(calls: Calls) -> None:
            calls.agents.reach(str(tmp_path))
            while not isinstance(event := await calls.events.get(), AgentFound):
                assert event == AgentsSearched()
            process.kill()
            process.wait()  # /proc has a process until its parent has waited for it.
            while not isinstance(event := await calls.events.get(), AgentsEnded):
                assert event == AgentsSearched()
            assert event.sockets == {str(tmp_path / f"raydap-{process.pid}")}

        try:
            run(script)
        finally:
            process.kill()


def test_a_folder_that_is_not_there_or_too_long_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()

    async def script(calls: Calls) -> None:
        calls.agents.reach(str(tmp_path / "missing"))
        calls.agents.reach(str(long))
        assert await calls.events.get() == AgentsSearched()

    run(script)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert list(long.iterdir()) == []


def test_a_submitted_job_is_debugged_alone(tmp_path: Path) -> None:
    async def script(calls: Calls) -> None:
        name = await calls.agents.listen_for_job()
        calls.agents.reach_session(str(tmp_path))
        assert os.listdir(tmp_path) == [name]
        assert await calls.events.get() == AgentsSearched()
        other = await calls.call(hello_line(worker_id="w2"), str(tmp_path / name))
        assert await asyncio.get_running_loop().sock_recv(other, 1) == b""
        await calls.call(hello_line(calls=name), str(tmp_path / name))
        event = await calls.events.get()
        assert isinstance(event, AgentCalled)
        assert event.worker.key == "w1"

    run(script)
