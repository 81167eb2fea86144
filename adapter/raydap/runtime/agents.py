"""The agents of workers and drivers (inworker/agent.py): they call when their process begins, and are called later."""

import asyncio
import json
import logging
import os
import socket
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Literal, TypeVar

import msgspec

from raydap import __version__
from raydap.core.events import AgentCalled, DialWorker, Event, PausedWorker
from raydap.protocol.types import WorkerKey
from raydap.runtime.tasks import Tasks
from raydap.transport import unix

log = logging.getLogger("raydap")

T = TypeVar("T")

VERSION = 1
"""The version of the lines that begin a connection (inworker/agent.py)."""

HELLO_TIMEOUT_S = 5.0
"""Seconds for an agent's first line. It may wait for the end of another session first."""

BEGIN_TIMEOUT_S = 20.0
"""Seconds for an agent to import debugpy. In a process that computes it takes 5 s (measured)."""


class Hello(msgspec.Struct, frozen=True):
    """An agent's first line. `holder` debugs the process already; `port` is that of an adapter that Ray's breakpoint()
    has started. `parent` is the key of the process that a CHILD comes from."""

    raydap: int
    pid: int
    socket: str
    worker_id: str = ""
    node_id: str = ""
    node_ip: str = ""
    worker_type: Literal["WORKER", "DRIVER", "CHILD"] = "WORKER"
    parent: str = ""
    holder: str = ""
    port: int = 0

    def row(self) -> PausedWorker:
        key = WorkerKey(self.worker_id or f"pid-{self.pid}")
        node, kind = self.node_ip, self.worker_type
        return PausedWorker(key, node, 0, self.pid, node, self.node_id, kind, self.socket, WorkerKey(self.parent))


class Begun(msgspec.Struct, frozen=True):
    """An agent's second line, before DAP. `error` says why there is no debugger."""

    error: str


class Agents:
    """Takes the calls of the agents of one launched program. `children`: the subprocesses of its processes have agents,
    too."""

    def __init__(self, emit: Callable[[Event], None], children: bool = True) -> None:
        self._emit = emit
        self._children = children
        self._tasks = Tasks()
        self._waiting: dict[WorkerKey, socket.socket] = {}
        self._listener = unix.PrivateListener(self._accepted)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What the program's environment needs so that it and its workers have agents. The program takes it out again
        when it begins (sitecustomize.py)."""
        path = environ.get("PYTHONPATH")
        at_start = str(resources.files("raydap.inworker").joinpath("at_start"))
        settings = {
            "raydap": self._listener.path,
            "folder": self._listener.folder,
            "children": self._children,
            "path": path,
        }
        return {
            "PYTHONPATH": os.pathsep.join([at_start, *filter(None, [path])]),
            "RAYDAP_AGENT": json.dumps(settings),
        }

    def release(self, key: WorkerKey) -> None:
        """Lets a process that has called run without a debugger."""
        connection = self._waiting.pop(key, None)
        if connection is not None:
            connection.close()

    def take(self, key: WorkerKey) -> socket.socket | None:
        """The connection of a process that has called and waits for its answer."""
        return self._waiting.pop(key, None)

    async def close(self) -> None:
        self._listener.close()
        self._tasks.cancel()
        await self._tasks.wait()
        for key in list(self._waiting):
            self.release(key)

    def _accepted(self, connection: socket.socket) -> None:
        self._tasks.spawn(self._called(connection))

    async def _called(self, connection: socket.socket) -> None:
        try:
            hello = await _hello(connection)
        except OSError as error:
            log.info("an agent called and said nothing of use: %s", error)
            connection.close()
            return
        row = hello.row()
        self.release(row.key)
        self._waiting[row.key] = connection
        self._emit(AgentCalled(row))


async def connect(target: DialWorker, waiting: socket.socket | None, timeout_s: float) -> socket.socket:
    """A connection on which the worker speaks DAP. `waiting` is that of a process that has called, if there is one.

    Raises ConnectionRefusedError if the process has ended, and other OSErrors, whose text is for users.
    """
    connection = waiting
    try:
        if connection is None:
            try:
                connection = await unix.dial(target.agent, timeout_s)
            except FileNotFoundError:
                raise ConnectionRefusedError("it has ended") from None
            hello = await _hello(connection)
            if hello.holder:
                raise OSError(f"{hello.holder} debugs it")
            if hello.port:
                raise OSError("it waits, or will wait, at a breakpoint() of Ray")
        answer: dict[str, Any] = {"debug": True, "client": f"raydap {__version__} with pid {os.getpid()}"}
        await asyncio.get_running_loop().sock_sendall(connection, json.dumps(answer).encode() + b"\n")
        begun = _decoded(await unix.read_line(connection, BEGIN_TIMEOUT_S), Begun)
        if begun.error:
            raise OSError(begun.error)
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    return connection


async def _hello(connection: socket.socket) -> Hello:
    """Raises OSError for anything that is not the first line of an agent of our version."""
    hello = _decoded(await unix.read_line(connection, HELLO_TIMEOUT_S), Hello)
    if hello.raydap != VERSION:
        raise OSError("its agent is of another version of raydap")
    return hello


def _decoded(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        raise OSError(f"its agent is none of raydap's ({error})") from None
