"""Carries bytes to debuggers that only their own node reaches, through Ray: an operation of raydap_process.py.

Standard input is a Unix socket. After the question, each byte on it comes with a connection (SCM_RIGHTS), so that no
other process can add one. Standard output gets one line, `{"ready": true}`; standard error gets lines for the log.

The first line of a connection is the request `{"node_id": ..., ...}`, with a target on that node:

- `"host"` and `"port"`: a debug port.
- `"agent"`: the path of an agent's socket (inworker/agent.py).
- `"listen"`: a name under which new agents find raydap. The connection carries the lines of AgentWatch in
  relay_actor.py.
- `"call"`: the number of a call, from one of these lines. The connection is that of the agent.
- `"py_spy"`: a process id. The connection carries the output of py-spy (py_spy.py).
- `"forks"`: process ids. The connection carries the JSON of outside_looks.forked_waits.

The answer is one line: `{"ok": true}`, or `{"error": ...}` and the end of the connection, with a boolean `refused` if
the relay works and the target was not reached. Then bytes go both ways until either side ends. A request with
`"inject"` has another form (injection_script.py).

The process ends when standard input does. Ray ends the actors when their driver ends, even after kill -9.
"""

import asyncio
import itertools
import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from raydap.cluster.injection import injection_script
from raydap.cluster.ray_process import ray_driver
from raydap.cluster.relay import relay_actor
from raydap.cluster.relay.relay_channels import OPEN, Channel, Channels
from raydap.tasks import Tasks

ACTOR_TIMEOUT_S = 20.0
"""Seconds for an actor to start."""
CLOSE_TIMEOUT_S = 5.0
"""Seconds for the actors to close their connections."""


class RelayNode:
    """The actor on one node, and the connections over it. It ends with the actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._channels = Channels()
        self._numbers = itertools.count(1)
        self._sending = asyncio.ensure_future(self._send())
        self.ready = asyncio.Event()
        self.running = asyncio.ensure_future(self._run())

    @property
    def has_ended(self) -> bool:
        """Return whether the actor has ended."""
        return self.running.done()

    async def open(self, target: Mapping[str, Any]) -> tuple[Channel, Mapping[str, Any] | None]:
        """Open a connection, and return it with None, or with the answer that reports the failure.

        The caller ends the connection.
        """
        number = next(self._numbers)
        channel = self._channels.add(number)
        channel.post(OPEN, target)
        return channel, await channel.opened

    async def finish(self) -> None:
        """Send all frames, and return when the connections are closed on the node, too. Raises RayError."""
        self._channels.close()
        await self._sending
        await self._actor.finish.remote()

    async def end(self) -> None:
        """End the actor, when everything that belongs to its connections is gone or CLOSE_TIMEOUT_S have passed."""
        with suppress(Exception):
            await asyncio.wait_for(self.finish(), CLOSE_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """Kill the actor."""
        import ray

        ray.kill(self._actor)

    async def _run(self) -> None:
        """Carry frames both ways until the actor ends, and raise RayError then."""
        tasks = [asyncio.ensure_future(self._take()), self._sending]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            self._channels.end()
            self.ready.set()

    async def _take(self) -> None:
        """Receive frames as a stream. That takes two thirds of the time that a call for each batch would take."""
        async for batch in self._actor.batches.options(num_returns="streaming").remote():
            self._channels.take(await batch)
            self.ready.set()

    async def _send(self) -> None:
        while batch := await self._channels.batch():
            await self._actor.take.remote(batch)


class Nodes:
    """The nodes with an actor, by Ray's ids."""

    def __init__(self) -> None:
        self._nodes: dict[str, RelayNode] = {}
        self._connections: Counter[str] = Counter()

    @asynccontextmanager
    async def used(self, node_id: str, last: bool) -> AsyncIterator[None]:
        """Count a connection to the node while it exists or is being made.

        With `last`, the actor ends with the last connection, because nothing needs it then.
        """
        self._connections[node_id] += 1
        try:
            yield
        finally:
            self._connections[node_id] -= 1
            if last and not self._connections[node_id] and node_id in self._nodes:
                await self._nodes.pop(node_id).end()

    async def get(self, node_id: str) -> RelayNode:
        """Return the node, and start its actor if there is none or it has died.

        Raises RayError, and asyncio's TimeoutError.
        """
        node = self._nodes.get(node_id)
        if node is None or node.has_ended:  # `_ended` may not have been called yet.
            node = self._nodes[node_id] = RelayNode(
                ray_driver.start_actor(node_id, relay_actor.RaydapRelay, (relay_actor, *relay_actor.BY_VALUE))
            )
            node.running.add_done_callback(partial(self._ended, node_id, node))
        try:
            await asyncio.wait_for(node.ready.wait(), ACTOR_TIMEOUT_S)
        except asyncio.TimeoutError:
            if self._nodes.get(node_id) is node:
                self._nodes.pop(node_id).kill()
            raise
        if node.has_ended:
            await node.running
        return node

    async def finish(self) -> None:
        """Wait until all connections are closed on all nodes that live."""
        await asyncio.gather(*(node.finish() for node in self._nodes.values()), return_exceptions=True)

    def _ended(self, node_id: str, node: RelayNode, running: "asyncio.Future[None]") -> None:
        """Remove a node whose actor has ended."""
        current = self._nodes.get(node_id)
        if running.cancelled() or current is None:
            return
        if current is node:
            del self._nodes[node_id]
        sys.stderr.write(f"the actor on node {node_id} has ended: {_one_line(running.exception())}\n")


class RelayProcess:
    """Links the connections that raydap passes to this process with the actors."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._nodes = Nodes()
        self._tasks = Tasks()
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Serve connections until raydap ends. Then wait for the end of the connections, at most CLOSE_TIMEOUT_S."""
        asyncio.get_running_loop().add_reader(self._control, self._take)
        await self._ended.wait()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._finish(), CLOSE_TIMEOUT_S)

    async def _finish(self) -> None:
        await self._tasks.wait()
        await self._nodes.finish()

    def _take(self) -> None:
        try:
            data, descriptors, *_ = socket.recv_fds(self._control, 1, 1)
        except OSError:
            data, descriptors = b"", []
        for descriptor in descriptors:
            self._tasks.spawn(self._serve(socket.socket(fileno=descriptor)))
        if not data:
            asyncio.get_running_loop().remove_reader(self._control)
            self._ended.set()

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        try:
            await self._connect(reader, writer)
        except Exception as error:
            _write_line(writer, {"error": _one_line(error)})
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        question = json.loads(await reader.readline())
        if "inject" in question:
            _write_line(writer, await injection_script.answer(question))
            return
        node_id = question.pop("node_id")
        async with self._nodes.used(node_id, last="listen" in question):
            node = await self._nodes.get(node_id)
            if reader.at_eof():
                # raydap has given up in the meantime.
                return
            channel, refusal = await node.open(question)
            if refusal is not None and node.has_ended:
                # The actor has ended, so its answer is not about the target. The next actor tries again; it fails if
                # the node has ended.
                channel.end()
                channel, refusal = await (await self._nodes.get(node_id)).open(question)
            try:
                _write_line(writer, {"ok": True} if refusal is None else refusal)
                if refusal is None:
                    await channel.carry(reader, writer)
            finally:
                channel.end()


def _write_line(writer: asyncio.StreamWriter, answer: Mapping[str, Any]) -> None:
    writer.write(json.dumps(answer).encode() + b"\n")


def _one_line(error: BaseException | None) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def run(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Join the cluster with the Ray session `{"session": ...}`, and relay until raydap ends.

    Yield `{"ready": True}` when the cluster is joined.
    """
    ray_driver.join(question["session"], "raydap relay")
    yield {"ready": True}
    # Ignore signals to all processes of raydap, such as those that Ray sends to a job: raydap needs the relay until it
    # has detached from its workers. The relay ends with raydap.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(RelayProcess(socket.socket(fileno=os.dup(0))).run())
