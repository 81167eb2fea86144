"""How a connection to an agent begins (inworker/agent.py): by lines of JSON, until a debugger speaks DAP there."""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from raydap import __version__
from raydap.core.events import PausedWorker
from raydap.protocol.types import WorkerKey
from raydap.transport import unix

T = TypeVar("T")

VERSION = 1
"""The version of these lines."""

HELLO_TIMEOUT_S = 5.0
"""Seconds for an agent's first line. It may wait for the end of another session first."""

BEGIN_TIMEOUT_S = 20.0
"""Seconds for an agent to import debugpy. In a process that computes it takes 5 s (measured)."""

ANSWER_LIMIT = 4 * 1024 * 1024
"""Bytes of an answer, such as the stacks of a process."""


class Hello(msgspec.Struct, frozen=True):
    """An agent's first line. `holder` debugs the process already; `port` is that of an adapter that Ray's breakpoint()
    has started. `parent` is the key of the process that a CHILD comes from. `waits`: the program does not begin before
    a raydap debugs it. `stops`: it has reached a breakpoint(). `calls` is the name of the raydap that has launched it,
    "" for a program that calls each.

    With `nodes` it is a driver that has joined a cluster of so many: it goes on when raydap listens on all of them. It
    gets a byte at once, because it waits for no raydap that hangs. `cluster` is then the URL of the cluster's
    dashboard, or its GCS as `host:port` if it has no dashboard.
    """

    raydap: int
    pid: int
    socket: str = ""
    worker_id: str = ""
    node_id: str = ""
    node_ip: str = ""
    worker_type: Literal["WORKER", "DRIVER", "CHILD"] = "WORKER"
    parent: str = ""
    holder: str = ""
    port: int = 0
    waits: bool = False
    stops: bool = False
    calls: str = ""
    nodes: int = 0
    cluster: str = ""

    def row(self, over_relay_to: str = "") -> PausedWorker:
        """`over_relay_to` is the node on which it was found, if that is another one than raydap's. Its processes have
        numbers of their own. A driver does not know its node before it has joined the cluster."""
        node_id = self.node_id or over_relay_to
        where = f" on {node_id}" if over_relay_to else ""
        key = self.worker_id or f"pid-{self.pid}{where}"
        parent = f"{self.parent}{where}" if self.parent.startswith("pid-") else self.parent
        return PausedWorker(
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
    """An agent's second line, before DAP. `error` says why there is no debugger."""

    error: str


def own_name() -> str:
    """How this raydap is called where it debugs a process, for others that want to."""
    return f"raydap {__version__} on {socket.gethostname()} with pid {os.getpid()}"


Dial = Callable[[], Awaitable[socket.socket]]
"""Connects to an agent's socket."""


async def connect(dial: Dial, waiting: socket.socket | None) -> socket.socket:
    """A connection on which the worker speaks DAP. `waiting` is that of a process that has called, if there is one;
    otherwise `dial` makes one. A connection that is cut off while the process lives is made once more: the relay's
    actor may have ended.

    Raises ConnectionRefusedError if the process has ended, and other OSErrors, whose text is for users.
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
                raise OSError("it waits, or will wait, at a breakpoint() of Ray")
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
    """Raises ConnectionRefusedError if a process that has hung up has ended, or is just ending: then it says nothing,
    because it can start no thread any more."""
    with await _dial(dial) as connection:
        try:
            await read_hello(connection)
        except ConnectionError:
            raise ConnectionRefusedError("it has ended") from None


async def ask(
    dial: Dial, question: Mapping[str, Any], timeout_s: float, hello_timeout_s: float = HELLO_TIMEOUT_S
) -> str:
    """What an agent answers to a question (inworker/agent.py), such as `{"stack": True}`. Nothing is stopped or
    imported there. `hello_timeout_s` is for its first line. Raises OSErrors, whose text is for users."""
    with await _dial(dial) as connection:
        await read_hello(connection, hello_timeout_s)
        await asyncio.get_running_loop().sock_sendall(connection, json.dumps(question).encode() + b"\n")
        text = await unix.read_to_end(connection, ANSWER_LIMIT, timeout_s)
    if not text:
        raise OSError("its agent is of an older version, which does not know this question")
    return text.decode(errors="replace")


async def _dial(dial: Dial) -> socket.socket:
    try:
        return await dial()
    except (FileNotFoundError, ConnectionRefusedError):
        raise ConnectionRefusedError("it has ended") from None


async def read_hello(connection: socket.socket, timeout_s: float = HELLO_TIMEOUT_S) -> Hello:
    """Raises OSError for anything that is not the first line of an agent of our version."""
    return decode_hello(await unix.read_line(connection, timeout_s))


def decode_hello(line: bytes) -> Hello:
    """Raises OSError like `read_hello`."""
    hello = _decoded(line, Hello)
    if hello.raydap != VERSION:
        raise OSError("its agent is of another version of raydap")
    return hello


def _decoded(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        raise OSError(f"its agent is none of raydap's ({error})") from None
