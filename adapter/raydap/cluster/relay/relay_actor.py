"""The relay's actor on one node: connects to debuggers there, and takes the calls of agents that begin there.

relay_process.py starts it. Ray brings it to the node by value, because raydap need not be installed there; so it
imports nothing of raydap but BY_VALUE, which comes along, and Ray only where it runs.
"""

import asyncio
import itertools
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from raydap import private_listener, tasks
from raydap.cluster.machine import outside_looks
from raydap.cluster.relay import relay_channels
from raydap.cluster.relay.relay_channels import CHUNK, OPEN, OPENED, Channel, Channels, Frame
from raydap.inworker import leftover_sockets, private_sockets
from raydap.inworker.leftover_sockets import remove_if_ended
from raydap.inworker.private_sockets import peer_is_trusted
from raydap.private_listener import Listener, check_length
from raydap.tasks import Tasks

BY_VALUE = (leftover_sockets, outside_looks, private_listener, private_sockets, relay_channels, tasks)

CONNECT_TIMEOUT_S = 10.0

HELLO_TIMEOUT_S = 5.0
"""Seconds for an agent's first line. It may wait for the end of another session first."""

HELLO_LIMIT = 4096
"""Bytes of that line."""

FIND_INTERVAL_S = 5.0
"""Seconds between two looks for agents that another raydap was called by. A look lists one folder."""

AT_ONCE = 32
"""Agents that are asked who they are at a time."""

_AGENT = re.compile(r"raydap-\d+")

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RaydapRelay:
    """The actor on one node. It holds the connections to debuggers there, under numbers that the driver gives.

    No method raises, because with RAY_DEBUG_POST_MORTEM=1 the actor would then become a paused worker itself.
    """

    def __init__(self) -> None:
        self._channels = Channels()
        self._calls: dict[int, tuple[bytes, Connection]] = {}
        self._call_numbers = itertools.count(1)
        self._tasks = Tasks()
        with suppress(Exception):
            leave_agent()

    async def batches(self) -> AsyncIterator[list[Frame]]:
        """Yields what goes to the hub; first an empty batch, which shows that Ray can stream. Never connect before that
        is certain: debugpy's adapter does not survive a connection that is closed at once."""
        yield []
        while True:
            yield await self._channels.batch()

    async def take(self, frames: list[Frame]) -> None:
        """Takes what comes from the hub. One call at a time: an asynchronous actor may run calls in any order."""
        for frame in frames:
            number, kind, target = frame
            if kind == OPEN:
                self._tasks.spawn(self._serve(self._channels.add(number), target))
            else:
                self._channels.take([frame])

    async def finish(self) -> None:
        """Returns when the connections whose ends have come are closed, and what belongs to them is gone."""
        await self._tasks.wait()

    async def _serve(self, channel: Channel, target: Mapping[str, Any]) -> None:
        """One connection, until its end. `target` is as in relay_process.py."""
        try:
            if "listen" in target:
                await self._watch(channel, target["listen"])
            elif "py_spy" in target:
                await self._look(channel, outside_looks.py_spy_output, target["py_spy"], "--locals")
            elif "forks" in target:
                await self._look(channel, outside_looks.forked_waits_output, target["forks"])
            else:
                await self._connect(channel, target)
        except asyncio.TimeoutError:
            channel.post(OPENED, {"error": f"no connection within {CONNECT_TIMEOUT_S:g} s", "refused": False})
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            # A process that has ended leaves its socket, or takes it along.
            refused = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
            channel.post(OPENED, {"error": reason, "refused": refused})
        finally:
            channel.end()

    async def _connect(self, channel: Channel, target: Mapping[str, Any]) -> None:
        """Raises OSError, UnicodeError or asyncio's TimeoutError if there is no connection."""
        said, (reader, writer) = await asyncio.wait_for(self._open(target), CONNECT_TIMEOUT_S)
        channel.post(OPENED)
        if said:
            await channel.send(said)
        await channel.carry(reader, writer)

    async def _open(self, target: Mapping[str, Any]) -> tuple[bytes, Connection]:
        """The connection, and what has been read from it."""
        if "call" in target:
            call = self._calls.pop(target["call"], None)
            if call is None:
                raise ConnectionRefusedError("it waits no longer")
            return call
        if "agent" in target:
            return b"", await open_agent(target["agent"])
        return b"", await asyncio.open_connection(target["host"], target["port"])

    async def _look(self, channel: Channel, look: Callable[..., bytes], *arguments: Any) -> None:
        """Raises OSError if the process cannot be read."""
        output = await asyncio.to_thread(look, *arguments)
        channel.post(OPENED)
        for start in range(0, len(output), CHUNK):
            await channel.send(output[start : start + CHUNK])

    async def _watch(self, channel: Channel, name: str) -> None:
        """Raises OSError if it cannot listen. The processes whose calls nobody has taken go on at its end."""
        watch = AgentWatch(sockets_folder(), name, self._take_call)
        await watch.begin()
        channel.post(OPENED)
        telling = asyncio.ensure_future(watch.tell(channel))
        await channel.ended()
        telling.cancel()
        watch.close()
        for call in watch.calls:
            if call in self._calls:
                _, (_, writer) = self._calls.pop(call)
                writer.close()

    def _take_call(self, hello: bytes, connection: Connection) -> int:
        number = next(self._call_numbers)
        self._calls[number] = hello, connection
        return number


class AgentWatch:
    """The agents of this node, for one raydap: finds those that listen in the folder, and listens there itself, under
    raydap's `name`, for the calls of those that begin. What it tells are JSON objects, one a line:
    `{"found": HELLO}` with an agent's first line, `{"searched": true}` after those that were there at first, and
    `{"call": NUMBER}`, as `take_call` has numbered it.

    Nodes that share the folder have one such socket: the others wait until it is gone.
    """

    def __init__(self, folder: str, name: str, take_call: Callable[[bytes, Connection], int]) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.calls: list[int] = []
        self._folder = folder
        self._path = os.path.join(folder, name)
        self._take_call = take_call
        self._listener: Listener | None = None
        self._known: set[str] = set()
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._accepted: set[socket.socket] = set()
        self._tasks = Tasks()

    async def begin(self) -> None:
        """Returns when agents can call; raises OSError."""
        await self._listen()
        self._tasks.spawn(self._find())

    async def tell(self, channel: Channel) -> None:
        while True:
            await channel.send(await self._lines.get())

    def close(self) -> None:
        self._tasks.cancel()
        for connection in self._accepted:
            connection.close()
        if self._listener is not None:
            self._listener.close()

    async def _listen(self) -> None:
        check_length(self._path)
        if self._listener is None and not await is_served(self._path):
            self._listener = Listener(self._path, self._take)

    def _take(self, connection: socket.socket) -> None:
        self._accepted.add(connection)
        self._tasks.spawn(self._called(connection))

    async def _called(self, connection: socket.socket) -> None:
        """Takes an agent's call. A connection that says nothing is that of another node: `is_served`."""
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=HELLO_LIMIT)
        self._accepted.discard(connection)
        hello = b""
        try:
            hello = await first_line(reader)
        finally:
            if not hello:
                writer.close()
        if hello:
            number = self._take_call(hello, (reader, writer))
            self.calls.append(number)
            self._tell({"call": number})

    async def _find(self) -> None:
        has_searched = False
        while True:
            with suppress(OSError):
                await self._listen()
                names = os.listdir(self._folder) if self._listener is not None else []
                present = {name for name in names if _AGENT.fullmatch(name)}
                fresh = present - self._known
                self._known = present
                asked = [self._tasks.spawn(self._ask(name)) for name in fresh]
                if not has_searched:
                    await asyncio.gather(*asked)
            if not has_searched:
                has_searched = True
                self._tell({"searched": True})
            await asyncio.sleep(FIND_INTERVAL_S)

    async def _ask(self, name: str) -> None:
        """Report who is there: the agent imports nothing for it. A process that has ended leaves its socket. A process
        that is too busy to answer is asked again."""
        async with self._asking:
            try:
                reader, writer = await open_agent(os.path.join(self._folder, name))
            except ConnectionRefusedError:
                remove_if_ended(os.path.join(self._folder, name))
                return
            except (FileNotFoundError, PermissionError):
                return
            except OSError:
                self._known.discard(name)
                return
            try:
                if hello := await first_line(reader):
                    self._tell({"found": hello.decode(errors="replace")})
                elif not reader.at_eof():
                    self._known.discard(name)
            finally:
                writer.close()

    def _tell(self, line: Mapping[str, Any]) -> None:
        self._lines.put_nowait(json.dumps(line).encode() + b"\n")


async def first_line(reader: asyncio.StreamReader) -> bytes:
    """An agent's; b"" if none comes."""
    with suppress(OSError, ValueError, asyncio.TimeoutError):
        line = await asyncio.wait_for(reader.readline(), HELLO_TIMEOUT_S)
        return line if line.endswith(b"\n") else b""
    return b""


async def open_agent(path: str) -> Connection:
    """Raises OSError if nobody of this user listens there."""
    reader, writer = await asyncio.open_unix_connection(path)
    if not peer_is_trusted(writer.get_extra_info("socket")):
        writer.close()
        raise PermissionError("it belongs to another user")
    return reader, writer


async def is_served(path: str) -> bool:
    """Return whether a process of this user or root listens there. The socket of a killed actor refuses connections."""
    try:
        _, writer = await open_agent(path)
    except (FileNotFoundError, ConnectionRefusedError, PermissionError):
        return False
    except OSError:
        return True
    writer.close()
    return True


def leave_agent() -> None:
    """Takes this process from debuggers, if its cluster is a prepared one: they need it to run."""
    agent: Any = getattr(sys.modules.get("_raydap_agent.agent"), "AGENT", None)
    if agent is not None:
        os.unlink(agent.identity["socket"])
        if agent.session is not None:
            agent.session.connection.shutdown(socket.SHUT_RDWR)


def sockets_folder() -> str:
    """Where the processes of Ray's session have their sockets on this node. Raises OSError if Ray does not say."""
    import ray

    try:
        worker: Any = ray._private.worker.global_worker
        return os.path.join(worker.node.get_session_dir_path(), "sockets")
    except AttributeError as error:
        raise OSError(f"this version of Ray does not tell where its sockets are ({error})") from None
