"""The relay's actor on one node, which connects to debuggers there and takes the calls of new agents.

relay_process.py starts it. Ray brings it to the node by value, because raydap need not be installed there. So it
imports nothing of raydap but BY_VALUE, which travels along, and imports Ray only where it runs.
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
from raydap.private_listener import SameUserListener, check_length
from raydap.tasks import Tasks

BY_VALUE = (leftover_sockets, outside_looks, private_listener, private_sockets, relay_channels, tasks)
"""The modules of raydap that travel along."""

CONNECT_TIMEOUT_S = 10.0

HELLO_TIMEOUT_S = 5.0
"""Seconds for an agent's first line. The agent may have to wait for the end of another session first."""

HELLO_LIMIT = 4096
"""Maximum length of an agent's first line, in bytes."""

FIND_INTERVAL_S = 5.0
"""Seconds between two searches for agents that have called another raydap. A search lists one folder."""

AT_ONCE = 32
"""The number of agents whose first line is read at a time."""

_AGENT = re.compile(r"raydap-\d+")

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RaydapRelay:
    """The actor on one node. It holds the connections to debuggers there, under numbers that the driver chooses.

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
        """Yield the frames for the driver, after an empty batch, which shows that Ray can stream.

        Never connect before that is certain: debugpy's adapter does not survive a connection that is closed at once.
        """
        yield []
        while True:
            yield await self._channels.batch()

    async def take(self, frames: list[Frame]) -> None:
        """Handle frames from the driver.

        The driver makes one call at a time, because an asynchronous actor may run calls in any order.
        """
        for frame in frames:
            number, kind, target = frame
            if kind == OPEN:
                self._tasks.spawn(self._serve(self._channels.add(number), target))
            else:
                self._channels.take([frame])

    async def finish(self) -> None:
        """Return when all connections that the driver has ended are closed, with everything that belongs to them."""
        await self._tasks.wait()

    async def _serve(self, channel: Channel, target: Mapping[str, Any]) -> None:
        """Serve one connection until its end. `target` is as in relay_process.py."""
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
            # A process that has ended leaves its socket behind, or has removed it.
            refused = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
            channel.post(OPENED, {"error": reason, "refused": refused})
        finally:
            channel.end()

    async def _connect(self, channel: Channel, target: Mapping[str, Any]) -> None:
        """Connect to the target, and carry bytes until either side ends.

        Raises OSError, UnicodeError or asyncio's TimeoutError if there is no connection.
        """
        first, (reader, writer) = await asyncio.wait_for(self._open(target), CONNECT_TIMEOUT_S)
        channel.post(OPENED)
        if first:
            await channel.send(first)
        await channel.carry(reader, writer)

    async def _open(self, target: Mapping[str, Any]) -> tuple[bytes, Connection]:
        """Return the data that was read from a connection, and the connection."""
        if "call" in target:
            call = self._calls.pop(target["call"], None)
            if call is None:
                raise ConnectionRefusedError("it no longer waits for a debugger")
            return call
        if "agent" in target:
            return b"", await open_agent(target["agent"])
        return b"", await asyncio.open_connection(target["host"], target["port"])

    async def _look(self, channel: Channel, look: Callable[..., bytes], *arguments: Any) -> None:
        """Send the output of `look`. Raises OSError if the process cannot be read."""
        output = await asyncio.to_thread(look, *arguments)
        channel.post(OPENED)
        for start in range(0, len(output), CHUNK):
            await channel.send(output[start : start + CHUNK])

    async def _watch(self, channel: Channel, name: str) -> None:
        """Report agents until the driver ends the connection. Raises OSError if this node cannot listen.

        Processes whose calls the driver has not taken then continue.
        """
        watch = AgentWatch(sockets_folder(), name, self._take_call)
        await watch.begin()
        channel.post(OPENED)
        sending = asyncio.ensure_future(watch.send_lines(channel))
        await channel.ended()
        sending.cancel()
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
    """Finds the agents of this node for one raydap, and takes the calls of new ones.

    It searches the folder for agents that listen there, and itself listens there under raydap's `name`. It reports JSON
    objects, one per line: `{"found": HELLO}` with an agent's first line, `{"searched": true}` after the agents that
    were there at first, and `{"call": NUMBER}` with the number that `take_call` has returned.

    Nodes that share the folder have one such socket: the others wait until it is gone.
    """

    def __init__(self, folder: str, name: str, take_call: Callable[[bytes, Connection], int]) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.calls: list[int] = []
        """The numbers of all calls so far."""
        self._folder = folder
        self._path = os.path.join(folder, name)
        self._take_call = take_call
        self._listener: SameUserListener | None = None
        self._known: set[str] = set()
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._accepted: set[socket.socket] = set()
        self._tasks = Tasks()

    async def begin(self) -> None:
        """Listen for calls, and start the search. Raises OSError."""
        await self._listen()
        self._tasks.spawn(self._find())

    async def send_lines(self, channel: Channel) -> None:
        """Send the lines over a connection, until cancelled."""
        while True:
            await channel.send(await self._lines.get())

    def close(self) -> None:
        """Stop listening and searching."""
        self._tasks.cancel()
        for connection in self._accepted:
            connection.close()
        if self._listener is not None:
            self._listener.close()

    async def _listen(self) -> None:
        check_length(self._path)
        if self._listener is None and not await is_served(self._path):
            self._listener = SameUserListener(self._path, self._take)

    def _take(self, connection: socket.socket) -> None:
        self._accepted.add(connection)
        self._tasks.spawn(self._called(connection))

    async def _called(self, connection: socket.socket) -> None:
        """Take an agent's call. A connection without a first line comes from `is_served` on another node."""
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
            self._send({"call": number})

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
                self._send({"searched": True})
            await asyncio.sleep(FIND_INTERVAL_S)

    async def _ask(self, name: str) -> None:
        """Report the process of a socket. Its agent imports nothing for that.

        A process that has ended leaves its socket. A process that is too busy to answer is tried again.
        """
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
                    self._send({"found": hello.decode(errors="replace")})
                elif not reader.at_eof():
                    self._known.discard(name)
            finally:
                writer.close()

    def _send(self, line: Mapping[str, Any]) -> None:
        self._lines.put_nowait(json.dumps(line).encode() + b"\n")


async def first_line(reader: asyncio.StreamReader) -> bytes:
    """Return an agent's first line; b"" if none comes."""
    with suppress(OSError, ValueError, asyncio.TimeoutError):
        line = await asyncio.wait_for(reader.readline(), HELLO_TIMEOUT_S)
        return line if line.endswith(b"\n") else b""
    return b""


async def open_agent(path: str) -> Connection:
    """Connect to an agent. Raises OSError if no process of this user or root listens there."""
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
    """Remove the agent that a prepared cluster has started in this process.

    Debuggers need the process to run, so they must not stop it.
    """
    agent: Any = getattr(sys.modules.get("_raydap_agent.agent"), "AGENT", None)
    if agent is not None:
        os.unlink(agent.identity["socket"])
        if agent.session is not None:
            agent.session.connection.shutdown(socket.SHUT_RDWR)


def sockets_folder() -> str:
    """Return where the processes of Ray's session have their sockets on this node.

    Raises OSError if Ray reports no folder.
    """
    import ray

    try:
        worker: Any = ray._private.worker.global_worker
        return os.path.join(worker.node.get_session_dir_path(), "sockets")
    except AttributeError as error:
        raise OSError(f"raydap cannot find the folder of Ray's sockets in this version of Ray ({error})") from None
