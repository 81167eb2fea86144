"""The agents of workers and drivers (inworker/agent.py).

An agent calls raydap when its process begins, and raydap connects to the agents of processes that already run.
"""

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
from raydap.inworker.leftover_sockets import remove_ended, remove_if_ended
from raydap.inworker.raydap_calls import CALL_PREFIX
from raydap.private_listener import SameUserListener
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
"""Seconds between two searches for processes that have called another raydap. A search lists one folder."""

LISTEN_TIMEOUT_S = 5.0
"""Seconds until a job is submitted even if raydap does not listen on all nodes yet. That takes 2 s (measured)."""

AT_ONCE = 32
"""The number of agents that `_ask` connects to at a time. An agent answers at once, unless a session is just ending in
its process."""


class Agents:
    """Takes the calls of agents, and finds running ones: of one launched program, or of all processes of a cluster.

    Must be closed. With `children`, the subprocesses of the launched program have agents, too. `dialer` has the relay
    to other nodes and the mode that decides when to use it; without a dialer raydap reaches agents on this machine
    only. `on_joined` gets the cluster that a driver of the launched program reports (Hello.cluster).
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
        # raydap has one name wherever it listens, so that the workers of its program find it on each node.
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
        self._listeners: list[SameUserListener] = []
        self._reached: set[str] = set()
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._known: set[str] = set()
        self._reported: set[str] = set()
        """The sockets of processes that were reported to the core."""
        self._searching: set[str] = set()

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Listen for the launched program, and return the variables to add to its environment.

        The processes of the program call on a socket of their own.
        """
        listener = unix.PrivateListener(self._name, lambda connection: self._accepted(connection, private=True))
        self._listeners.append(listener)
        self._launched = True
        return prepared_environment.driver(environ, listener.path, listener.folder, children=self._children)

    async def listen_for_job(self) -> str:
        """Return the name under which raydap listens for the processes of a submitted job.

        Before that, wait up to LISTEN_TIMEOUT_S until raydap listens on each node of the cluster. raydap then debugs
        only processes that call this name.
        """
        self._launched = True
        if self._nodes is not None:
            with suppress(asyncio.TimeoutError):
                await wait_for(self._nodes.listening(1), LISTEN_TIMEOUT_S)
        return self._name

    def reach_session(self, folder: str) -> None:
        """Call `reach` for the folder of a Ray session on this machine, unless everything goes over the relay."""
        if self._mode != "always":
            self.reach(folder)
        else:
            self._searched(folder)

    def reach(self, folder: str) -> None:
        """Listen in this folder for the calls of new processes, and find the agents that already listen there.

        Emits AgentsSearched when the agents in all folders and on all nodes have been found.
        """
        if folder in self._reached:
            self._searched("")
            return
        self._reached.add(folder)
        self._searching.add(folder)
        try:
            self._listeners.append(SameUserListener(os.path.join(folder, self._name), self._accepted))
        except OSError as error:
            log.warning("raydap cannot listen for new processes in %s: %s", folder, error)
        # A process that began before raydap listened has its socket by now.
        self._tasks.spawn(self._find(folder))

    def reach_nodes(self, nodes: Mapping[str, str]) -> None:
        """Find agents and take their calls over the relay, on these nodes of the cluster and no others.

        `nodes` maps Ray's ids of nodes to addresses.
        """
        if self._nodes is not None:
            self._searching -= self._nodes.watched - nodes.keys()
            self._searching |= self._nodes.reach(nodes)
        self._searched("")

    def release(self, key: WorkerKey) -> None:
        """Let a process that has called run without a debugger."""
        connection = self._waiting.pop(key, None)
        if connection is not None:
            connection.close()

    def take(self, key: WorkerKey) -> socket.socket | None:
        """Return the connection of a process that has called and waits for its answer; None without such a process."""
        return self._waiting.pop(key, None)

    async def close(self) -> None:
        """Stop listening and searching, and let the processes that have called run without a debugger."""
        for listener in self._listeners:
            listener.close()
        self._tasks.cancel()
        if self._nodes is not None:
            await self._nodes.close()
        await self._tasks.wait()
        for key in list(self._waiting):
            self.release(key)

    def _searched(self, place: str) -> None:
        """Note that a folder or a node has been searched. Emits AgentsSearched after the last one."""
        self._searching.discard(place)
        if not self._searching:
            self._emit(AgentsSearched())

    def _accepted(self, connection: socket.socket, node_id: str = "", private: bool = False) -> None:
        self._tasks.spawn(self._called(connection, node_id, private))

    async def _called(self, connection: socket.socket, node_id: str, private: bool) -> None:
        """Handle the call of an agent.

        If `private` is true, the call came on the socket of the launched program, which no other process has. `node_id`
        is the id of another node if the call came over the relay.
        """
        with ExitStack() as unwanted:
            unwanted.callback(connection.close)
            try:
                hello = await read_hello(connection)
            except OSError as error:
                log.info("an agent connected, but its first line is not usable: %s", error)
                return
            if not private and not self._is_for_us(hello):
                return
            if hello.nodes:
                if private and hello.cluster:
                    self._on_joined(hello.cluster)
                await self._release_driver_when_nodes_listen(connection, hello)
                return
            unwanted.pop_all()
        self._known.add(hello.socket)
        self._reported.add(hello.socket)
        row = hello.row(node_id)
        self.release(row.key)
        self._waiting[row.key] = connection
        self._emit(AgentCalled(row, hello.waits, hello.stops))

    async def _release_driver_when_nodes_listen(self, connection: socket.socket, hello: Hello) -> None:
        """Return when the workers of this driver can call from each node. The driver then continues.

        The byte makes the driver wait, for a few seconds at most (inworker/driver_agent.py).
        """
        if self._nodes is not None and hello.nodes > 1:
            with suppress(OSError):
                connection.send(b"\n")
            self._emit(AgentsExpected(f"driver {hello.pid} has joined the cluster"))
            await self._nodes.listening(hello.nodes)

    def _is_for_us(self, hello: Hello) -> bool:
        """Return whether raydap debugs this process: with a launched program, only the processes of that program."""
        return not self._launched or hello.calls == self._name

    async def _find(self, folder: str) -> None:
        """Search a folder repeatedly: a process that another raydap debugs from its start never calls this one."""
        elsewhere: set[str] = set()
        while True:
            known = {path for path in self._known if os.path.dirname(path) == folder}
            try:
                names = await asyncio.to_thread(_names, folder, elsewhere)
            except OSError as error:
                log.info("cannot search %s for agents: %s", folder, error)
                self._searched(folder)
                return
            present = {os.path.join(folder, name) for name in names}
            ended = known - present
            self._known -= ended  # Another process can get the same process id.
            if ended & self._reported:
                self._emit(AgentsEnded(ended & self._reported))
                self._reported -= ended
            paths = present - self._known
            self._known |= paths
            asked = [self._tasks.spawn(self._ask(path)) for path in paths]
            if folder in self._searching:
                await asyncio.gather(*asked)
                self._searched(folder)
            await asyncio.sleep(FIND_INTERVAL_S)

    async def _ask(self, path: str) -> None:
        """Ask an agent which process it belongs to. The agent imports nothing for its answer.

        A process that has ended may leave its socket behind.
        """
        try:
            async with self._asking:
                connection = await unix.dial(path, HELLO_TIMEOUT_S)
                with connection:
                    hello = await read_hello(connection)
        except OSError as error:
            log.info("cannot reach an agent at %s: %s", path, error)
            if isinstance(error, ConnectionRefusedError):
                remove_if_ended(path)
            if isinstance(error, TimeoutError) or error.errno in (errno.EAGAIN, errno.EMFILE, errno.ENFILE):
                self._known.discard(path)  # The agent is too busy to answer, or raydap is short of descriptors.
            return
        self._found(hello, "")

    def _found_far(self, line: bytes, node_id: str) -> None:
        try:
            hello = decode_hello(line)
        except OSError as error:
            log.info("the first line of an agent on another node is not usable: %s", error)
        else:
            self._found(hello, node_id)

    def _found(self, hello: Hello, node_id: str) -> None:
        if hello.holder != own_name() and self._is_for_us(hello):
            self._reported.add(hello.socket)
            self._emit(AgentFound(hello.row(node_id)))


def _names(folder: str, elsewhere: set[str]) -> list[str]:
    """Return the names of the agents' sockets in this folder, after removing those that killed processes have left.

    Raises OSError. `elsewhere` is that of `remove_ended`.
    """
    return remove_ended(folder, [name for name in os.listdir(folder) if _AGENT.fullmatch(name)], elsewhere)
