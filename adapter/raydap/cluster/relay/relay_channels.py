"""Many connections between two processes, carried together: frames of all of them go in batches.

One end is in relay_process.py, the other one in relay_actor.py on a node. A call of Ray's costs the same for one
message as for a hundred, so what comes while one call is under way waits for the next. This file imports nothing of
raydap, because Ray brings it to nodes where raydap is not installed.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

CHUNK = 65536
"""Bytes of one frame, and of one batch. Ray carries up to 100 KB in the call itself, and uses object store memory for
more."""

MAX_UNREAD_CHUNKS = 16
"""Frames of data that one connection may have on their way. A peer that does not read holds up nobody else."""

Frame = tuple[int, str, Any]
"""The number of a connection, one of the kinds below, and the content."""

OPEN = "open"
"""The content is the target, as in relay_process.py."""

OPENED = "opened"
"""The content is None, or the answer with the reason why there is no connection."""

DATA = "data"
ROOM = "room"
"""The content is how many more frames of data may be sent."""

END = "end"
"""The connection has ended at the other end. There is no content."""


class Channels:
    """The connections of one end, by their numbers, which the end that opens them gives."""

    def __init__(self) -> None:
        self._channels: dict[int, Channel] = {}
        self._frames: deque[Frame] = deque()
        self._some = asyncio.Event()
        self._closed = False

    def add(self, number: int) -> "Channel":
        """Both ends add a connection before its first frame comes. `Channel.end` removes it."""
        channel = self._channels[number] = Channel(number, self)
        return channel

    def remove(self, number: int) -> None:
        self._channels.pop(number, None)

    def post(self, number: int, kind: str, content: Any = None) -> None:
        """The frame goes with one of the next batches, in order."""
        self._frames.append((number, kind, content))
        self._some.set()

    async def batch(self) -> list[Frame]:
        """Waits for the next frames that are to go to the other end; empty after `close`, when all have gone. Only one
        task may wait."""
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
        """No more frames are posted."""
        self._closed = True
        self._some.set()

    def take(self, frames: Iterable[Frame]) -> None:
        """Takes what has come from the other end. A connection that is not there has ended at this one meanwhile."""
        for number, kind, content in frames:
            if number in self._channels:
                self._channels[number].take(kind, content)

    def end(self) -> None:
        """The other end is gone, and with it all connections."""
        for channel in list(self._channels.values()):
            channel.take(END, None)


class Channel:
    """One of the connections."""

    def __init__(self, number: int, channels: Channels) -> None:
        self._number = number
        self._channels = channels
        self._room = asyncio.Semaphore(MAX_UNREAD_CHUNKS)
        self._came: asyncio.Queue[bytes] = asyncio.Queue()
        self.opened: asyncio.Future[Mapping[str, Any] | None] = asyncio.get_running_loop().create_future()
        """The content of OPENED, or an answer if the other end is gone before."""

    def take(self, kind: str, content: Any) -> None:
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
        """Returns when more may be sent."""
        await self._room.acquire()
        self._channels.post(self._number, DATA, data)

    def post(self, kind: str, content: Any = None) -> None:
        self._channels.post(self._number, kind, content)

    async def ended(self) -> None:
        """Returns when the other end has ended it; whatever else comes is dropped."""
        while await self._came.get():
            pass

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries bytes both ways until either side ends. What has come before the end is written."""
        tasks = [asyncio.ensure_future(self._from(reader, writer)), asyncio.ensure_future(self._to(writer))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()

    def end(self) -> None:
        """Nothing comes or goes any more; the other end is told."""
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
    """debugpy's adapter would wait 40 ms for each acknowledgement; see transport/peer.py."""
    if hasattr(socket, "TCP_QUICKACK") and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
