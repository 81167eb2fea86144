"""The agents of workers and drivers (inworker/agent.py): they call when their process begins, and are called later."""

import asyncio
import errno
import logging
import os
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from raydap.bounded_wait import wait_for
from raydap.core.events import AgentCalled, AgentFound, AgentsEnded, AgentsExpected, AgentsSearched, Event
from raydap.inworker.leftover_sockets import remove_if_ended
from raydap.inworker.raydap_calls import CALL_PREFIX
from raydap.private_listener import Listener
from raydap.protocol.types import WorkerKey
from raydap.runtime import prepared_environment
from raydap.runtime.agent_connections import HELLO_TIMEOUT_S, Hello, decode_hello, own_name, read_hello
from raydap.runtime.node_agents import NodeAgents
from raydap.runtime.worker_dialer import WorkerDialer
from raydap.tasks import Tasks
from raydap.transport import unix

log = logging.getLogger("raydap")

_AGENT = re.compile(r"raydap-\d+")

FIND_INTERVAL_S = 5.0
"""Seconds between two looks for processes that another raydap was called by. A look lists one folder."""

LISTEN_TIMEOUT_S = 5.0
"""Seconds until a job is submitted, although raydap does not listen on all nodes yet. That takes 2 (measured)."""

AT_ONCE = 32
"""Agents that are asked who they are at a time. Each answers at once, unless a session is just ending there."""


class Agents:
    """Takes the calls of agents, and finds those that run: of one launched program, or of a cluster's processes.

    `children`: the subprocesses of the launched program have agents, too. `dialer` has the relay to other nodes, and
    says when to use it; without one only this machine is reached. `on_joined` gets the cluster that a driver of the
    launched program reports (Hello.cluster). Must be closed.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        children: bool = True,
        dialer: WorkerDialer | None = None,
        on_joined: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._emit = emit
        self._on_joined = on_joined
        self._children = children
        # It listens under this name wherever it listens, so that workers of its program know it on each node.
        self._name = f"{CALL_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._mode = "never" if dialer is None else dialer.mode
        self._nodes: NodeAgents | None = None
        if dialer is not None and dialer.mode != "never":
            everywhere = dialer.mode == "always"
            self._nodes = NodeAgents(
                dialer.relay, self._name, everywhere, self._found_far, self._accepted, self._searched
            )
        self._launched = False
        self._tasks = Tasks()
        self._waiting: dict[WorkerKey, socket.socket] = {}
        self._listeners: list[Listener] = []
        self._reached: set[str] = set()
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._known: set[str] = set()
        self._told: set[str] = set()
        """The sockets of processes that the core knows."""
        self._searching: set[str] = set()

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What the environment of the launched program needs. Its processes call on a socket of its own."""
        listener = unix.PrivateListener(self._name, lambda connection: self._accepted(connection, private=True))
        self._listeners.append(listener)
        self._launched = True
        return prepared_environment.driver(environ, listener.path, listener.folder, children=self._children)

    async def listen_for_job(self) -> str:
        """Returns the name under which raydap listens, when it does so on each node of the cluster, or soon. The
        processes of a submitted job, which call it there, are reached alone."""
        self._launched = True
        if self._nodes is not None:
            with suppress(asyncio.TimeoutError):
                await wait_for(self._nodes.listening(1), LISTEN_TIMEOUT_S)
        return self._name

    def reach_session(self, folder: str) -> None:
        """Like `reach`, for the folder of a Ray session on this machine, unless all is to go over the relay."""
        if self._mode != "always":
            self.reach(folder)
        else:
            self._searched(folder)

    def reach(self, folder: str) -> None:
        """Takes the calls of the processes that begin and look for a raydap in this folder, and finds those that listen
        there already. Emits AgentsSearched when these are found, there and wherever else it looks."""
        if folder in self._reached:
            self._searched("")
            return
        self._reached.add(folder)
        self._searching.add(folder)
        try:
            self._listeners.append(Listener(os.path.join(folder, self._name), self._accepted))
        except OSError as error:
            log.warning("processes that begin cannot call raydap in %s: %s", folder, error)
        # Those that began before raydap listened have their sockets by now.
        self._tasks.spawn(self._find(folder))

    def reach_nodes(self, nodes: Mapping[str, str]) -> None:
        """The same on these nodes of the cluster, over the relay; no longer on others. Ray's ids, and addresses."""
        if self._nodes is not None:
            self._searching -= self._nodes.watched - nodes.keys()
            self._searching |= self._nodes.reach(nodes)
        self._searched("")

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
        if self._nodes is not None:
            await self._nodes.close()
        await self._tasks.wait()
        for key in list(self._waiting):
            self.release(key)

    def _searched(self, place: str) -> None:
        """A folder or a node has been looked into."""
        self._searching.discard(place)
        if not self._searching:
            self._emit(AgentsSearched())

    def _accepted(self, connection: socket.socket, node_id: str = "", private: bool = False) -> None:
        self._tasks.spawn(self._called(connection, node_id, private))

    async def _called(self, connection: socket.socket, node_id: str, private: bool) -> None:
        """`private`: nobody else can know the socket. `node_id` is that of another node, over the relay."""
        with ExitStack() as unwanted:
            unwanted.callback(connection.close)
            try:
                hello = await read_hello(connection)
            except OSError as error:
                log.info("an agent called and said nothing of use: %s", error)
                return
            if not private and not self._is_for_us(hello):
                return
            if hello.nodes:
                if private and hello.cluster:
                    self._on_joined(hello.cluster)
                await self._let_driver_go_on(connection, hello)
                return
            unwanted.pop_all()
        self._known.add(hello.socket)
        self._told.add(hello.socket)
        row = hello.row(node_id)
        self.release(row.key)
        self._waiting[row.key] = connection
        self._emit(AgentCalled(row, hello.waits, hello.stops))

    async def _let_driver_go_on(self, connection: socket.socket, hello: Hello) -> None:
        """When its workers can call from each node. It waits for a few seconds at most, if it gets a byte first
        (inworker/driver_agent.py)."""
        if self._nodes is not None and hello.nodes > 1:
            with suppress(OSError):
                connection.send(b"\n")
            self._emit(AgentsExpected(f"driver {hello.pid} has joined it"))
            await self._nodes.listening(hello.nodes)

    def _is_for_us(self, hello: Hello) -> bool:
        """A launched program is debugged alone."""
        return not self._launched or hello.calls == self._name

    async def _find(self, folder: str) -> None:
        """Looks again and again, because a process that begins calls no other raydap when one debugs it."""
        while True:
            known = {path for path in self._known if os.path.dirname(path) == folder}
            try:
                names = await asyncio.to_thread(os.listdir, folder)
            except OSError as error:
                log.info("no agents in %s: %s", folder, error)
                self._searched(folder)
                return
            present = {os.path.join(folder, name) for name in names if _AGENT.fullmatch(name)}
            ended = known - present
            self._known -= ended  # Another process can get the number.
            if ended & self._told:
                self._emit(AgentsEnded(ended & self._told))
                self._told -= ended
            paths = present - self._known
            self._known |= paths
            asked = [self._tasks.spawn(self._ask(path)) for path in paths]
            if folder in self._searching:
                await asyncio.gather(*asked)
                self._searched(folder)
            await asyncio.sleep(FIND_INTERVAL_S)

    async def _ask(self, path: str) -> None:
        """Only says who is there: the agent imports nothing for it. A process that has ended leaves its socket."""
        try:
            async with self._asking:
                connection = await unix.dial(path, HELLO_TIMEOUT_S)
                with connection:
                    hello = await read_hello(connection)
        except OSError as error:
            log.info("no agent at %s: %s", path, error)
            if isinstance(error, ConnectionRefusedError):
                remove_if_ended(path)
            if isinstance(error, TimeoutError) or error.errno in (errno.EAGAIN, errno.EMFILE, errno.ENFILE):
                self._known.discard(path)  # It is too busy to answer, or raydap is short of descriptors.
            return
        self._found(hello, "")

    def _found_far(self, line: bytes, node_id: str) -> None:
        try:
            hello = decode_hello(line)
        except OSError as error:
            log.info("an agent on another node said nothing of use: %s", error)
        else:
            self._found(hello, node_id)

    def _found(self, hello: Hello, node_id: str) -> None:
        if hello.holder != own_name() and self._is_for_us(hello):
            self._told.add(hello.socket)
            self._emit(AgentFound(hello.row(node_id)))
