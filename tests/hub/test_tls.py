"""A hub with TLS, with real processes."""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from websockets.asyncio.client import connect

from support.bridge import Hub
from support.certificates import Certificate
from support.debuggee import Debuggee
from support.whole_session import PROGRAM, walk_through

WAIT = 30.0


async def capabilities_over_tls(hub: Hub, trusting: ssl.SSLContext) -> dict[str, Any]:
    """Return the hub's answer to `initialize` over a WebSocket.

    The synchronous client of websockets reads and writes in two threads, which is not safe over TLS: about one of a
    thousand of its requests was never sent on busy processors (python/cpython issue 143756).
    """
    headers = {"Authorization": f"Bearer {hub.token}"}
    url = f"wss://{hub.host}:{hub.port}/dap"
    async with connect(url, ssl=trusting, proxy=None, additional_headers=headers) as connection:
        await connection.send('{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}')
        answer: dict[str, Any] = json.loads(await asyncio.wait_for(connection.recv(), WAIT))
        return answer


def test_tls_on_the_same_port_for_all_ways(
    start_hub: Callable[..., Hub],
    adapter: Callable[..., Client],
    certificate: Certificate,
    plain_debugpy: Callable[[str], Debuggee],
) -> None:
    hub = start_hub("--tls-cert", str(certificate.path), "--tls-key", str(certificate.key))
    trusting = ssl.create_default_context(cafile=str(certificate.path))
    assert asyncio.run(capabilities_over_tls(hub, trusting))["success"] is True
    old = ssl.create_default_context(cafile=str(certificate.path))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection((hub.host, hub.port)) as plain,
        old.wrap_socket(plain, server_hostname=hub.host) as wrapped,
    ):
        assert wrapped.version() == "TLSv1.2"
        wrapped.sendall(b"POST / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ssl.SSLError, ConnectionResetError):
            assert wrapped.recv(1) == b""
    for scheme in ("tcp", "ws"):
        with socket.create_connection((hub.host, hub.port)) as clear:
            clear.sendall(b"Content-Length: 2\r\n\r\n{}" if scheme == "tcp" else b"GET /dap HTTP/1.1\r\n\r\n")
            # The hub closes the connection, or sends a TLS alert first.
            assert clear.recv(100)[:1] in (b"", b"\x15")
    ca = ["--tls-ca", str(certificate.path)]
    client = adapter(f"tcps://localhost:{hub.port}", *ca, RAYDAP_TOKEN=hub.token)
    client.request("initialize", adapterID="x")
    client.close()
    walk_through(adapter(f"wss://{hub.host}:{hub.port}", *ca, RAYDAP_TOKEN=hub.token), plain_debugpy(PROGRAM))


def test_an_untrusted_certificate_is_reported_to_the_editor(
    start_hub: Callable[..., Hub], adapter: Callable[..., Client], certificate: Certificate, tmp_path: Path
) -> None:
    hub = start_hub("--tls-cert", str(certificate.path), "--tls-key", str(certificate.key))
    for scheme in ("wss", "tcps"):
        client = adapter(f"{scheme}://{hub.host}:{hub.port}", RAYDAP_TOKEN=hub.token)
        with pytest.raises(RequestFailed, match=r"certificate that is not trusted.*--tls-ca.*5001"):
            client.request("initialize", adapterID="x")


def test_a_mismatch_of_tls_is_reported(
    start_hub: Callable[..., Hub], certificate: Certificate, adapter: Callable[..., Client]
) -> None:
    plain = start_hub()
    secure = start_hub("--tls-cert", str(certificate.path), "--tls-key", str(certificate.key))
    for hub, scheme, told in (
        (plain, "wss", r"does not use TLS; .* use ws://\. \[raydap 5001\]"),
        (plain, "tcps", r"does not use TLS; .* use tcp://\. \[raydap 5001\]"),
        (secure, "ws", r"is not a hub, or it is a hub with TLS, for which you must use wss://\. \[raydap 5001\]"),
    ):
        client = adapter(f"{scheme}://{hub.host}:{hub.port}")
        with pytest.raises(RequestFailed, match=told):
            client.request("initialize", adapterID="raydap")
