"""A listening acceptor, and clients that send raw bytes to it."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from raydap.hub import hub_token
from raydap.hub.acceptor import Acceptor
from raydap.hub.hub_token import TokenVerifier
from raydap.transport import tcp
from raydap.transport.peer import Peer
from raydap.wire.framing import encode

WAIT, TOKEN = 30.0, "the-right-token"


class Clients:
    """A stand-in for the engine's clients.

    It answers `echo`, closes the connection on `disconnect`, and queues every message that it receives.
    """

    def __init__(self) -> None:
        self.peers: list[Peer] = []
        self.trusted: list[bool] = []
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.gone: asyncio.Queue[str] = asyncio.Queue()

    def connect(self, open_peer: Callable[..., Peer]) -> Peer:
        return self._take(lambda message, gone, _: open_peer(message, gone), True)

    def connect_unauthenticated(self, open_peer: Callable[..., Peer]) -> Peer:
        return self._take(open_peer, False)

    def _take(self, open_peer: Callable[..., Peer], trusted: bool) -> Peer:
        number = len(self.peers)
        self.trusted.append(trusted)

        def on_message(data: bytes) -> None:
            message = json.loads(data)
            self.heard.put_nowait({**message, "trusted": self.trusted[number]})
            if message["command"] == "echo":
                self.peers[number].send(data)
            elif message["command"] == "disconnect":
                self.peers[number].close()

        def on_trusted() -> None:
            self.trusted[number] = True

        self.peers.append(open_peer(on_message, self.gone.put_nowait, on_trusted))
        return self.peers[number]


class Scene:
    """One listening acceptor. `speak` sends bytes on a new connection and returns the connection's two streams."""

    def __init__(self, digest: str | None, tls: ssl.SSLContext | None) -> None:
        self.clients = Clients()
        self.acceptor = Acceptor(self.clients, TokenVerifier(digest), ["hub.Example"], tls)  # type: ignore[arg-type]
        self.host, self.port = "", 0
        self._writers: list[asyncio.StreamWriter] = []

    async def speak(self, *data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        self._writers.append(writer)
        for part in data:
            writer.write(part)
            await writer.drain()
        return reader, writer

    async def heard(self) -> dict[str, Any]:
        return await asyncio.wait_for(self.clients.heard.get(), WAIT)

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


def run(
    script: Callable[[Scene], Awaitable[None]],
    digest: str | None = hub_token.digest(TOKEN),
    tls: ssl.SSLContext | None = None,
) -> None:
    async def main() -> None:
        scene = Scene(digest, tls)
        listener = await tcp.listen("127.0.0.1", 0, scene.acceptor.protocol)
        scene.host, scene.port = listener.host, listener.port
        try:
            await script(scene)
        finally:
            scene.close()
            listener.close()
            await asyncio.wait_for(scene.acceptor.close(), WAIT)
            for client in scene.clients.peers:
                client.close()
                await asyncio.wait_for(client.wait_closed(), WAIT)

    asyncio.run(main())


def upgrade(path: str = "/dap", **headers: str | None) -> bytes:
    """Return the bytes of a WebSocket handshake.

    `headers` are added to the default headers or replace them. A value of None removes the header.
    """
    all_ = {
        "Host": "127.0.0.1:4711",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Authorization": f"Bearer {TOKEN}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = (f"{name}: {value}" for name, value in all_.items() if value is not None)
    return "\r\n".join((f"GET {path} HTTP/1.1", *lines, "", "")).encode()


def message(command: str, **arguments: Any) -> bytes:
    return encode(json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode())


async def status(reader: asyncio.StreamReader) -> int:
    return int((await asyncio.wait_for(reader.readline(), WAIT)).split()[1])


async def ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), WAIT) == b""
    except ConnectionResetError:
        return True
