"""The agents of workers and drivers (inworker/agent.py): they call when their process begins, and are called later."""

import asyncio
import itertools
import json
import logging
import os
import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from raydap import __version__
from raydap.core.effects import DialWorker
from raydap.core.events import AgentCalled, AgentFound, Event, PausedWorker
from raydap.inworker.raydap_calls import CALL_PREFIX
from raydap.protocol.types import WorkerKey
from raydap.runtime import prepared_environment
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

_AGENT = re.compile(r"raydap-\d+")
_NUMBERS = itertools.count(1)

FIND_INTERVAL_S = 5.0
"""Seconds between two looks for processes that another raydap was called by. A look lists one folder."""

AT_ONCE = 32
"""Agents that are asked who they are at a time. Each answers at once, unless a session is just ending there."""


class Hello(msgspec.Struct, frozen=True):
    """An agent's first line. `holder` debugs the process already; `port` is that of an adapter that Ray's breakpoint()
    has started. `parent` is the key of the process that a CHILD comes from. `waits`: the program does not begin before
    a raydap debugs it."""

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
    waits: bool = False

    def row(self) -> PausedWorker:
        key = WorkerKey(self.worker_id or f"pid-{self.pid}")
        node, kind = self.node_ip, self.worker_type
        return PausedWorker(key, node, 0, self.pid, node, self.node_id, kind, self.socket, WorkerKey(self.parent))


class Begun(msgspec.Struct, frozen=True):
    """An agent's second line, before DAP. `error` says why there is no debugger."""

    error: str


class Agents:
    """Takes the calls of agents, and finds those that run: of one launched program, or of a cluster's processes on this
    machine. `children`: the subprocesses of the launched program have agents, too. Must be closed."""

    def __init__(self, emit: Callable[[Event], None], children: bool = True) -> None:
        self._emit = emit
        self._children = children
        self._tasks = Tasks()
        self._waiting: dict[WorkerKey, socket.socket] = {}
        self._listeners: list[unix.Listener] = []
        self._reached: set[str] = set()
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._known: set[str] = set()

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What the environment of the launched program needs. Its processes call on a socket of its own."""
        listener = unix.PrivateListener(self._accepted)
        self._listeners.append(listener)
        return prepared_environment.driver(environ, listener.path, listener.folder, children=self._children)

    def reach(self, folder: str) -> None:
        """Takes the calls of the processes that begin and look for a raydap in this folder, and finds those that listen
        there already."""
        if folder in self._reached:
            return
        self._reached.add(folder)
        path = os.path.join(folder, f"{CALL_PREFIX}{os.getpid()}-{next(_NUMBERS)}")
        try:
            self._listeners.append(unix.Listener(path, self._accepted))
        except OSError as error:
            log.warning("processes that begin cannot call raydap in %s: %s", folder, error)
        # Those that began before raydap listened have their sockets by now.
        self._tasks.spawn(self._find(folder))

    def release(self, key: WorkerKey) -> None:
        """Lets a process that has called run without a debugger."""
        connection = self._waiting.pop(key, None)
        if connection is not None:
            connection.close()

    def take(self, key: WorkerKey) -> socket.socket | None:
        """The connection of a process that has called and waits for its answer."""
        return self._waiting.pop(key, None)

    async def close(self) -> None:
        for listener in self._listeners:
            listener.close()
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
        self._known.add(hello.socket)
        row = hello.row()
        self.release(row.key)
        self._waiting[row.key] = connection
        self._emit(AgentCalled(row, hello.waits))

    async def _find(self, folder: str) -> None:
        """Looks again and again, because a process that begins calls no other raydap when one debugs it."""
        while True:
            try:
                names = await asyncio.to_thread(os.listdir, folder)
            except OSError as error:
                log.info("no agents in %s: %s", folder, error)
                return
            for path in [os.path.join(folder, name) for name in names if _AGENT.fullmatch(name)]:
                if path not in self._known:
                    self._known.add(path)
                    self._tasks.spawn(self._ask(path))
            await asyncio.sleep(FIND_INTERVAL_S)

    async def _ask(self, path: str) -> None:
        """Only says who is there: the agent imports nothing for it. A process that has ended leaves its socket."""
        try:
            async with self._asking:
                connection = await unix.dial(path, HELLO_TIMEOUT_S)
                with connection:
                    hello = await _hello(connection)
        except OSError as error:
            log.info("no agent at %s: %s", path, error)
            return
        if hello.holder != _own_name():
            self._emit(AgentFound(hello.row()))


def _own_name() -> str:
    """How this raydap is called where it debugs a process, for others that want to."""
    return f"raydap {__version__} with pid {os.getpid()}"


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
        answer: dict[str, Any] = {"debug": True, "client": _own_name()}
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
