"""Another user of the machine gets nothing from an agent or a raydap, even if the modes of the sockets let him in."""

import asyncio
import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.relay import relay_actor
from raydap.transport import unix
from support.agents import PreparedProgram, read_line

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

WAIT = 30.0

SLEEP = "import time; time.sleep(1000)"

# It prints what it is told. sys.argv: what it does, and the path of the socket.
STRANGER = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
what, path = sys.argv[1:]
with socket.socket(socket.AF_UNIX) as own:
    own.settimeout(30)
    if what == "listen":
        own.bind(path)
        os.chmod(path, 0o777)
        own.listen()
        print("listening", flush=True)
        with own.accept()[0] as connection:
            print("told", connection.recv(100), flush=True)
    else:
        try:
            own.connect(path)
            print("told", own.recv(100))
        except PermissionError:
            print("kept out")
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that all users can enter and write to."""
    with tempfile.TemporaryDirectory(prefix="raydap-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def stranger(what: str, path: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", STRANGER, what, path], stdout=subprocess.PIPE, text=True)


def told(path: str) -> str:
    with stranger("connect", path) as process:
        return process.communicate(timeout=WAIT)[0].strip()


def let_in(path: str) -> None:
    """As on systems that do not look at a socket's mode."""
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    os.chmod(path, 0o777)


def test_an_agent_says_nothing_to_them(folder: Path, children: ExitStack) -> None:
    program = PreparedProgram.start(SLEEP, folder, None, children)
    program.called().close()
    connection = program.dial()
    read_line(connection)
    connection.close()
    path = str(folder / f"raydap-{program.child.process.pid}")
    assert told(path) == "kept out"
    let_in(path)
    assert told(path) == "told b''"


def test_their_calls_are_hung_up(folder: Path) -> None:
    async def main() -> None:
        calls: list[socket.socket] = []
        path = str(folder / "raydap-call-1-1")
        listener = unix.Listener(path, calls.append)
        try:
            assert await asyncio.to_thread(told, path) == "kept out"
            let_in(path)
            assert await asyncio.to_thread(told, path) == "told b''"
        finally:
            listener.close()
        assert calls == []

    asyncio.run(main())


def test_their_calls_on_another_node_are_hung_up(folder: Path) -> None:
    async def main() -> None:
        calls: list[bytes] = []

        def take(hello: bytes, _: relay_actor.Connection) -> int:
            calls.append(hello)
            return len(calls)

        watch = relay_actor.AgentWatch(str(folder), "raydap-call-1-1", take)
        await watch.begin()
        try:
            path = str(folder / "raydap-call-1-1")
            let_in(path)
            assert await asyncio.to_thread(told, path) == "told b''"
        finally:
            watch.close()
        assert calls == []

    asyncio.run(main())


async def over_relay(path: str) -> None:
    await relay_actor.open_agent(path)


async def directly(path: str) -> None:
    await unix.dial(path, WAIT)


@pytest.mark.parametrize("dial", [directly, over_relay])
def test_what_they_serve_is_no_agent(folder: Path, dial: Callable[[str], Coroutine[None, None, None]]) -> None:
    """It would be told what raydap debugs."""
    path = str(folder / "raydap-7")
    with stranger("listen", path) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            with pytest.raises(PermissionError, match="another user"):
                asyncio.run(dial(path))
            assert process.stdout.readline() == "told b''\n"
        finally:
            process.kill()


def test_a_driver_does_not_report_its_cluster_to_them(folder: Path) -> None:
    """It would wait for their answer in ray.init()."""
    names: dict[str, Any] = {"CALL_TIMEOUT_S": WAIT}
    for name in ("agent_lines", "driver_agent"):
        exec(resources.files("raydap.inworker").joinpath(f"{name}.py").read_text(), names)
    path = str(folder / "raydap-call-1-1")
    with stranger("listen", path) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            assert names["_tell"](path, {"cluster": "secret"}) is None
            assert process.stdout.readline() == "told b''\n"
        finally:
            process.kill()
