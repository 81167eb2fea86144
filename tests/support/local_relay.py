"""The relay's actor in the process of a test. tests/ray tests Ray's part between the actor and the hub."""

import asyncio
import inspect
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from raydap.cluster.relay.relay_actor import RaydapRelay
from raydap.cluster.relay.relay_process import RelayNode


class _Method:
    """A method of an actor, with the interface of Ray's actor methods."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def options(self, **_: Any) -> "_Method":
        return self

    def remote(self, *args: Any) -> Any:
        if inspect.isasyncgenfunction(self._function):
            return self._stream(*args)
        return asyncio.ensure_future(self._function(*args))

    async def _stream(self, *args: Any) -> AsyncIterator[Awaitable[Any]]:
        async for batch in self._function(*args):
            arrived: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            arrived.set_result(batch)
            yield arrived


class LocalActor:
    """A stand-in for the handle of an actor. `opened` counts the connections that it was asked to open."""

    def __init__(self) -> None:
        self._relay = RaydapRelay()
        self.opened = 0
        self.batches = _Method(self._relay.batches)
        self.take = _Method(self._take)
        self.finish = _Method(self._relay.finish)

    async def _take(self, frames: list[Any]) -> None:
        self.opened += sum(kind == "open" for _, kind, _ in frames)
        await self._relay.take(frames)


class LocalNode:
    """A node with such an actor, without the relay's process in between. The test calls `close`."""

    def __init__(self) -> None:
        self.actor = LocalActor()
        self.node = RelayNode(self.actor)
        self._tasks: list[asyncio.Task[None]] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self, target: Mapping[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the hub's end of a new connection. Raises LookupError with the refusal if there is none."""
        channel, refusal = await self.node.open(target)
        if refusal is not None:
            channel.end()
            raise LookupError(refusal)
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        self._writers.append(writer)

        async def carry() -> None:
            await channel.carry(*await asyncio.open_unix_connection(sock=theirs))
            channel.end()

        self._tasks.append(asyncio.ensure_future(carry()))
        return reader, writer

    async def close(self) -> None:
        """Close all connections and wait until the actor has closed its ends."""
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*self._tasks)
        await self.node.finish()
        self.node.running.cancel()
        with suppress(asyncio.CancelledError):
            await self.node.running
