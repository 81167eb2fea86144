"""A client without the token costs a hub few bytes, messages, answers and little time, even before TLS."""

import asyncio
import ssl
from contextlib import suppress

import pytest

from raydap.hub import acceptor, server, token_filter
from support.acceptor_scene import TOKEN, WAIT, Scene, ended, message, run
from support.certificates import Certificate


def test_all_messages_without_the_token_together_are_short() -> None:
    """A client cannot fill the hub's memory with a thousand short messages, or with messages behind a delayed one."""

    async def script(scene: Scene) -> None:
        part = message("evaluate", x="x" * (acceptor.UNAUTHENTICATED_MAX_BYTES // 10))
        for first in (message("initialize"), message("attach", token="wrong")):
            reader, writer = await scene.speak(first)
            with suppress(ConnectionError):
                for _ in range(20):
                    writer.write(part)
                    await writer.drain()
            assert await ended(reader)
            assert await asyncio.wait_for(scene.clients.gone.get(), WAIT)
        heard = [scene.clients.heard.get_nowait()["command"] for _ in range(scene.clients.heard.qsize())]
        assert heard.count("evaluate") < 20
        assert not scene.acceptor._unauthenticated

    run(script)


def test_a_client_without_the_token_gets_few_answers() -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(message("threads") * (token_filter.UNAUTHENTICATED_MAX_MESSAGES + 10))
        assert await ended(reader)
        assert await asyncio.wait_for(scene.clients.gone.get(), WAIT)
        assert scene.clients.heard.qsize() == token_filter.UNAUTHENTICATED_MAX_MESSAGES

    run(script)


def test_a_client_without_the_token_that_does_not_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(scene: Scene) -> None:
        await scene.speak(message("initialize"))
        await scene.heard()
        scene.clients.peers[0].send(b"x" * (8 * 1024 * 1024))
        assert await asyncio.wait_for(scene.clients.gone.get(), WAIT) == "does not read its messages"

    run(script)


def test_a_silent_connection_counts_before_its_tls_handshake(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(scene: Scene) -> None:
        silent = [await scene.speak() for _ in range(2)]
        reader, _ = await scene.speak()
        assert await ended(reader)
        # A failed handshake makes room for another connection.
        for refused, refused_writer in silent:
            refused_writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await ended_with(refused) == b""
        trusting = ssl.create_default_context(cafile=str(certificate.path))
        trusting.check_hostname = False
        reader, writer = await asyncio.open_connection(scene.host, scene.port, ssl=trusting)
        writer.write(message("attach", token=TOKEN) + message("echo"))
        assert (await scene.heard())["trusted"]
        assert await asyncio.wait_for(reader.readline(), WAIT)
        assert not scene.acceptor._unauthenticated
        writer.close()

    monkeypatch.setattr(acceptor, "MAX_UNAUTHENTICATED", 2)
    run(script, tls=server.tls_context(str(certificate.path), str(certificate.key)))


async def ended_with(reader: asyncio.StreamReader) -> bytes:
    """Return the bytes until the connection ends, or none if they are an alert of TLS."""
    try:
        data = await asyncio.wait_for(reader.read(), WAIT)
    except ConnectionResetError:
        return b""
    return b"" if data.startswith(b"\x15\x03") else data
