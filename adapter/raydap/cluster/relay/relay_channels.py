"""Many connections between two processes, carried together: their frames travel in batches.

One end is in relay_process.py, the other one in relay_actor.py on a node. A call through Ray costs the same for one
message as for a hundred, so frames that arrive during a call wait for the next one. This module imports nothing of
raydap, because Ray brings it to nodes where raydap is not installed.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

CHUNK = 65536
"""Maximum size of a frame, and of a batch, in bytes. Ray carries up to 100 KB in the call itself, and uses object store
memory for more."""

MAX_UNREAD_CHUNKS = 16
"""Maximum number of data frames that a connection may have in transit. So a peer that does not read delays no other
connection."""

Frame = tuple[int, str, Any]
"""The number of a connection, one of the kinds below, and the content."""

OPEN = "open"
"""Opens a connection. The content is the target, as in relay_process.py."""

OPENED = "opened"
"""Answers OPEN. The content is None, or an answer with the reason why there is no connection."""

DATA = "data"
"""The content is bytes."""
ROOM = "room"
"""The content is the number of further frames of data that may be sent."""

END = "end"
"""The sender has ended the connection. There is no content."""


class Channels:
    """The connections of one end, by their numbers. The end that opens a connection chooses its number."""

    def __init__(self) -> None:
        self._channels: dict[int, Channel] = {}
        self._frames: deque[Frame] = deque()
        self._some = asyncio.Event()
        self._closed = False

    def add(self, number: int) -> "Channel":
        """Add a connection, before its first frame comes. `Channel.end` removes it."""
        channel = self._channels[number] = Channel(number, self)
        return channel

    def remove(self, number: int) -> None:
        """Remove a connection. Frames that still come for it are dropped."""
        self._channels.pop(number, None)

    def post(self, number: int, kind: str, content: Any = None) -> None:
        """Queue a frame for one of the next batches, which keep the order."""
        self._frames.append((number, kind, content))
        self._some.set()

    async def batch(self) -> list[Frame]:
        """Wait for frames, and return the next ones for the other end.

        After `close`, the batches end with an empty one. Only one task may wait.
        """
        await self._some.wait()
        taken: list[Frame] = []
        size = 0
        while self._frames:
            _, kind, content = self._frames[0]
            size += len(content) if kind == DATA else 100
            if taken and size > CHUNK:
                return taken
            taken.append(self._frames.popleft())
        if not self._closed:
            self._some.clear()
        return taken

    def close(self) -> None:
        """End the batches when all frames have been sent. No frame is posted after this."""
        self._closed = True
        self._some.set()

    def take(self, frames: Iterable[Frame]) -> None:
        """Give frames from the other end to their connections.

        A connection may have ended at this end in the meantime. Its frames are dropped.
        """
        for number, kind, content in frames:
            if number in self._channels:
                self._channels[number].take(kind, content)

    def end(self) -> None:
        """End all connections, because the other end is gone."""
        for channel in list(self._channels.values()):
            channel.take(END, None)


class Channel:
    """One connection."""

    def __init__(self, number: int, channels: Channels) -> None:
        self._number = number
        self._channels = channels
        self._room = asyncio.Semaphore(MAX_UNREAD_CHUNKS)
        self._came: asyncio.Queue[bytes] = asyncio.Queue()
        self.opened: asyncio.Future[Mapping[str, Any] | None] = asyncio.get_running_loop().create_future()
        """The content of OPENED, or an answer with an error if the connection ends before."""

    def take(self, kind: str, content: Any) -> None:
        """Handle a frame from the other end."""
        if kind == DATA:
            self._came.put_nowait(content)
        elif kind == ROOM:
            for _ in range(content):
                self._room.release()
        elif kind == END:
            self._came.put_nowait(b"")
            if not self.opened.done():
                self.opened.set_result({"error": "the actor on the node has ended"})
        elif not self.opened.done():
            self.opened.set_result(content)

    async def send(self, data: bytes) -> None:
        """Send data, when the other end has room for it."""
        await self._room.acquire()
        self._channels.post(self._number, DATA, data)

    def post(self, kind: str, content: Any = None) -> None:
        """Send a frame that needs no room."""
        self._channels.post(self._number, kind, content)

    async def ended(self) -> None:
        """Wait until the other end has ended the connection, and drop all data that comes."""
        while await self._came.get():
            pass

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes both ways until either side ends. Data that came before the end is still written."""
        tasks = [asyncio.ensure_future(self._from(reader, writer)), asyncio.ensure_future(self._to(writer))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()

    def end(self) -> None:
        """End the connection at both ends."""
        self._channels.remove(self._number)
        self.post(END)

    async def _from(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                acknowledge_at_once(connection)
                await self.send(data)

    async def _to(self, writer: asyncio.StreamWriter) -> None:
        chunks = 0
        with suppress(OSError):
            while data := await self._came.get():
                writer.write(data)
                await writer.drain()
                chunks += 1
                if chunks % (MAX_UNREAD_CHUNKS // 2) == 0:
                    self.post(ROOM, MAX_UNREAD_CHUNKS // 2)


def acknowledge_at_once(connection: Any) -> None:
    """Acknowledge data at once: debugpy's adapter would wait 40 ms for each acknowledgement (transport/peer.py)."""
    if hasattr(socket, "TCP_QUICKACK") and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
