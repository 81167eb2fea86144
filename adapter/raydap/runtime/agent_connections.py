"""The lines of JSON with which a connection to an agent begins, before DAP (inworker/agent.py)."""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from raydap import __version__
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey
from raydap.transport import unix

T = TypeVar("T")

VERSION = 1
"""The version of these lines."""

HELLO_TIMEOUT_S = 5.0
"""Seconds for an agent's first line. The agent may have to wait for the end of another session first."""

BEGIN_TIMEOUT_S = 20.0
"""Seconds for an agent to import debugpy. In a busy process that takes 5 s (measured)."""

ANSWER_LIMIT = 4 * 1024 * 1024
"""Maximum size of an answer, in bytes. The stacks of a process can be long."""


class Hello(msgspec.Struct, frozen=True):
    """An agent's first line."""

    raydap: int
    """The agent's VERSION."""
    pid: int
    """The id of the agent's process on its node."""
    socket: str = ""
    """The path of the agent's socket on its node; "" for an agent without one."""
    worker_id: str = ""
    """Ray's hex id of the worker; "" for a CHILD, and for a driver that has not joined a cluster."""
    node_id: str = ""
    """Ray's hex id of the node; "" for a driver that has not joined a cluster."""
    node_ip: str = ""
    """The address of the node; "" for a driver that has not joined a cluster."""
    worker_type: Literal["WORKER", "DRIVER", "CHILD"] = "WORKER"
    """A CHILD is a subprocess of a worker or driver."""
    parent: str = ""
    """The key of the process that a CHILD descends from."""
    holder: str = ""
    """The name (`own_name`) of the raydap that already debugs the process; "" if none does."""
    port: int = 0
    """The port of the debugpy adapter that Ray's breakpoint() has started; 0 without one."""
    waits: bool = False
    """Whether the program begins only when a raydap debugs it."""
    stops: bool = False
    """Whether the process has reached a breakpoint()."""
    calls: str = ""
    """The name of the raydap that has launched the program; "" for a program that calls each raydap."""
    nodes: int = 0
    """The number of nodes of the cluster that this driver has joined; 0 on all other connections. The driver continues
    when raydap listens on all of these nodes. raydap sends it a byte at once, because the driver does not wait for a
    raydap that hangs."""
    cluster: str = ""
    """With `nodes`: the URL of the cluster's dashboard, or its GCS as `host:port` if it has no dashboard."""

    def row(self, over_relay_to: str = "") -> ProcessInfo:
        """Return the process as a ProcessInfo.

        `over_relay_to` is the id of the agent's node if only the relay reaches it. The key then contains the node,
        because two nodes can use the same process ids. A driver that has not joined a cluster does not report its node.
        """
        node_id = self.node_id or over_relay_to
        where = f" on {node_id}" if over_relay_to else ""
        key = self.worker_id or f"pid-{self.pid}{where}"
        parent = f"{self.parent}{where}" if self.parent.startswith("pid-") else self.parent
        return ProcessInfo(
            WorkerKey(key),
            self.node_ip,
            port=0,
            pid=self.pid,
            node=self.node_ip,
            node_id=node_id,
            worker_type=self.worker_type,
            agent=self.socket,
            parent=WorkerKey(parent),
            over_relay=over_relay_to != "",
        )


class Begun(msgspec.Struct, frozen=True):
    """An agent's second line, before DAP."""

    error: str
    """Why the agent offers no debugger; "" if DAP follows."""


def own_name() -> str:
    """Return the name of this raydap, which an agent reports to other debuggers while this one debugs its process."""
    return f"raydap {__version__} on {socket.gethostname()} with pid {os.getpid()}"


Dial = Callable[[], Awaitable[socket.socket]]
"""Connects to an agent's socket."""


async def connect(dial: Dial, waiting: socket.socket | None) -> socket.socket:
    """Return a connection on which the worker speaks DAP.

    `waiting` is the connection of a process that has called; without it `dial` makes one. If a connection breaks and
    the process lives, `dial` makes another one: the relay's actor may have ended.

    Raises ConnectionRefusedError if the process has ended, and other OSErrors with a text for users.
    """
    try:
        return await _connect(dial, waiting)
    except ConnectionRefusedError:
        raise
    except ConnectionError:
        await _check_alive(dial)
        return await _connect(dial, None)


async def _connect(dial: Dial, waiting: socket.socket | None) -> socket.socket:
    connection = waiting
    try:
        if connection is None:
            connection = await _dial(dial)
            hello = await read_hello(connection)
            if hello.holder:
                raise OSError(f"{hello.holder} debugs it")
            if hello.port:
                raise OSError("Ray's breakpoint() has already opened a debug port in it")
        answer: dict[str, Any] = {"debug": True, "client": own_name()}
        await asyncio.get_running_loop().sock_sendall(connection, json.dumps(answer).encode() + b"\n")
        begun = _decoded(await unix.read_line(connection, BEGIN_TIMEOUT_S), Begun)
        if begun.error:
            raise OSError(begun.error)
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    return connection


async def _check_alive(dial: Dial) -> None:
    """Raise ConnectionRefusedError if a process that has closed its connection has ended, or is about to.

    A process that is about to end can start no thread, so it sends no first line.
    """
    with await _dial(dial) as connection:
        try:
            await read_hello(connection)
        except ConnectionError:
            raise ConnectionRefusedError("it has ended") from None


async def ask(
    dial: Dial, question: Mapping[str, Any], timeout_s: float, hello_timeout_s: float = HELLO_TIMEOUT_S
) -> str:
    """Return an agent's answer to a question (inworker/agent.py), such as `{"stack": True}`.

    The agent neither stops nor imports anything for it. `timeout_s` is for the answer, and `hello_timeout_s` for the
    first line. Raises OSErrors with a text for users.
    """
    with await _dial(dial) as connection:
        await read_hello(connection, hello_timeout_s)
        await asyncio.get_running_loop().sock_sendall(connection, json.dumps(question).encode() + b"\n")
        text = await unix.read_to_end(connection, ANSWER_LIMIT, timeout_s)
    if not text:
        raise OSError("its agent is from an older raydap, which does not support this request")
    return text.decode(errors="replace")


async def _dial(dial: Dial) -> socket.socket:
    try:
        return await dial()
    except (FileNotFoundError, ConnectionRefusedError):
        raise ConnectionRefusedError("it has ended") from None


async def read_hello(connection: socket.socket, timeout_s: float = HELLO_TIMEOUT_S) -> Hello:
    """Read an agent's first line. Raises OSError if it is not that of an agent of our version."""
    return decode_hello(await unix.read_line(connection, timeout_s))


def decode_hello(line: bytes) -> Hello:
    """Return the content of an agent's first line. Raises OSError as `read_hello` does."""
    hello = _decoded(line, Hello)
    if hello.raydap != VERSION:
        raise OSError("its agent is from another version of raydap")
    return hello


def _decoded(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        raise OSError(f"raydap cannot read the data from its agent ({error})") from None
