"""The connections that become clients of the acceptor, and the small cost of all others."""

import asyncio
from typing import Any

import pytest

from raydap.hub import acceptor
from raydap.hub.hub_token import TokenVerifier
from support.acceptor_scene import TOKEN, WAIT, Scene, ended, message, run, status, upgrade


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (upgrade(), 101),
        (upgrade("/dap?x=1"), 101),
        (upgrade(Authorization=f"bearer  {TOKEN}"), 101),
        (upgrade(Authorization=None, Sec_WebSocket_Protocol=f"raydap, raydap.token.{TOKEN}"), 101),
        (upgrade(Authorization=None), 401),
        (upgrade(Authorization=""), 401),
        (upgrade(Authorization="Bearer"), 401),
        (upgrade(Authorization="Bearer wrong"), 401),
        (upgrade(Authorization=f"Basic {TOKEN}"), 401),
        (upgrade(Authorization=f"Bearer {TOKEN}x"), 401),
        (upgrade(Authorization=None, Sec_WebSocket_Protocol="raydap, raydap.token.wrong"), 401),
        (upgrade(Authorization="Bearer wrong", Sec_WebSocket_Protocol=f"raydap.token.{TOKEN}"), 401),
        (upgrade(f"/dap?token={TOKEN}", Authorization=None), 401),
        (upgrade(Authorization=f"Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}"), 400),
        (upgrade(Authorization=None, Sec_WebSocket_Protocol="(,)"), 400),
        (upgrade("/"), 404),
        (upgrade("/dap/"), 404),
        (upgrade("/DAP"), 404),
        (upgrade(Upgrade=None), 426),
    ],
)
def test_websockets_need_the_path_and_the_token(request_: bytes, expected: int) -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(request_)
        assert await status(reader) == expected
        assert scene.clients.trusted == [True] * (expected == 101)

    run(script)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:4711", 101),
        ("LocalHost", 101),
        ("[::1]:4711", 101),
        ("10.0.0.7:4711", 101),
        ("hub.example:80", 101),
        ("HUB.EXAMPLE", 101),
        ("evil.example:4711", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:4711", 403),
        ("[evil.example]:4711", 403),
        ("2130706433", 403),
        ("", 403),
        (None, 400),
        ("localhost\r\nHost: localhost", 400),
    ],
)
def test_dns_rebinding_is_seen_by_the_host_header(host: str | None, expected: int) -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(upgrade(Host=host))
        assert await status(reader) == expected
        assert len(scene.clients.peers) == (expected == 101)

    run(script)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("vscode-file://vscode-app", 101),
        ("null", 403),
        ("", 403),
        ("http://127.0.0.1:4711", 403),
        ("http://localhost", 403),
        ("https://evil.example", 403),
        ("vscode-webview://1a2b3c", 403),
        ("vscode-file://vscode-app.evil.example", 403),
        ("vscode-file://vscode-app\r\nOrigin: https://evil.example", 403),
    ],
)
def test_pages_of_a_browser_are_not_let_in_even_with_the_token_or_where_none_is_wanted(
    origin: str, expected: int
) -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(upgrade(Origin=origin))
        assert await status(reader) == expected
        assert len(scene.clients.peers) == (expected == 101)

    run(script)
    run(script, digest=None)


def test_a_websocket_in_pieces_becomes_a_client() -> None:
    async def script(scene: Scene) -> None:
        whole = upgrade()
        reader, writer = await scene.speak(whole[:1])
        for start in range(1, len(whole)):
            writer.write(whole[start : start + 1])
            await writer.drain()
        assert await status(reader) == 101
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT)
        body = b'{"seq":1,"type":"request","command":"echo"}'
        writer.write(bytes([0x81, 0x80 | len(body)]) + bytes(4) + body)
        assert (await scene.heard())["trusted"]
        assert await asyncio.wait_for(reader.readexactly(2 + len(body)), WAIT) == bytes([0x81, len(body)]) + body

    run(script)


def test_tcp_is_trusted_with_the_token_only() -> None:
    async def script(scene: Scene) -> None:
        _, writer = await scene.speak(message("initialize"), message("attach", token="wrong"), message("threads"))
        heard = [await scene.heard() for _ in range(3)]
        assert [(one["command"], one["trusted"]) for one in heard] == [
            ("initialize", False),
            ("attach", False),
            ("threads", False),
        ]
        writer.write(message("attach", token=TOKEN, job="j"))
        assert await scene.heard() == {
            "seq": 1,
            "type": "request",
            "command": "attach",
            "arguments": {"job": "j"},
            "trusted": True,
        }
        writer.close()
        assert await asyncio.wait_for(scene.clients.gone.get(), WAIT) == "closed"

    run(script)


def test_without_a_token_tcp_is_trusted_at_once_and_a_token_is_still_removed() -> None:
    async def script(scene: Scene) -> None:
        await scene.speak(message("attach", token="any"))
        heard = await scene.heard()
        assert heard["trusted"]
        assert heard["arguments"] == {}

    run(script, digest=None)


@pytest.mark.parametrize(
    "data",
    [
        b"POST /dap HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        b"OPTIONS * HTTP/1.1\r\n\r\n",
        b"GETX / HTTP/1.1\r\n\r\n",
        b"get /dap HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 2000,
        b"\0" * 2000,
        b"Content-Length: 2\r\nHost: x\r\n\r\n{}",
        b"Content-Length: 262145\r\n\r\n",
        b"GET /dap HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        b"GET /dap HTTP/0.9\r\n\r\n",
    ],
    ids=["POST", "OPTIONS", "GETX", "get", "HTTP/2", "TLS", "zeros", "header", "oversized", "body", "HTTP/0.9"],
)
def test_what_is_neither_ends_its_connection(data: bytes) -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(data)
        try:
            answer = await asyncio.wait_for(reader.read(), WAIT)
        except ConnectionResetError:
            answer = b""
        # Some versions of the library answer a bad request, others close the connection.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
        assert scene.clients.heard.empty()

    run(script)


def test_messages_without_the_token_are_short_and_those_of_clients_are_not() -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(message("initialize", x="x" * acceptor.UNAUTHENTICATED_MAX_BYTES))
        assert await ended(reader)
        assert await asyncio.wait_for(scene.clients.gone.get(), WAIT)
        assert scene.clients.heard.empty()
        _, writer = await scene.speak(message("attach", token=TOKEN))
        assert (await scene.heard())["command"] == "attach"
        writer.write(message("evaluate", x="x" * acceptor.UNAUTHENTICATED_MAX_BYTES))
        assert (await scene.heard())["command"] == "evaluate"

    run(script)


@pytest.mark.parametrize(
    "data", [b"", b"G", b"GET /dap HTTP/1.1\r\n", message("initialize"), message("initialize")[:9]]
)
def test_a_connection_that_does_not_show_the_token_in_time_is_ended(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(scene: Scene) -> None:
        reader, _ = await scene.speak(data)
        assert await ended(reader)

    monkeypatch.setattr(acceptor, "TOKEN_TIMEOUT_S", 0.3)
    run(script)


def test_a_connection_that_has_shown_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(scene: Scene) -> None:
        over_tcp, client = await scene.speak(message("attach", token=TOKEN))
        assert (await scene.heard())["command"] == "attach"
        over_websocket, _ = await scene.speak(upgrade())
        assert await status(over_websocket) == 101
        other_reader, _ = await scene.speak()
        assert await ended(other_reader)
        # other_reader connected last, so the time limit of the other two has passed as well.
        client.write(message("echo"))
        assert await asyncio.wait_for(over_tcp.readline(), WAIT)
        assert not over_websocket.at_eof()

    monkeypatch.setattr(acceptor, "TOKEN_TIMEOUT_S", 0.3)
    run(script)


def test_only_so_many_connections_without_the_token_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(scene: Scene) -> None:
        http, http_writer = await scene.speak(b"GET /dap HTTP/1.1\r\n")
        _, dap_writer = await scene.speak(message("initialize"))
        assert not (await scene.heard())["trusted"]
        reader, _ = await scene.speak()
        assert await ended(reader)
        # Clients do not count, and a closed connection makes room. One connection becomes a client, the other closes.
        dap_writer.write(message("attach", token=TOKEN))
        assert (await scene.heard())["trusted"]
        http_writer.write(b"Host: evil.example\r\n\r\n")
        assert await status(http) == 403
        assert await asyncio.wait_for(http.read(), WAIT)
        for _ in range(5):
            reader, writer = await scene.speak(message("disconnect"))
            assert (await scene.heard())["command"] == "disconnect"
            assert await ended(reader)
            writer.close()
            await scene.clients.peers[-1].wait_closed()
        reader, writer = await scene.speak(message("echo"))
        assert await asyncio.wait_for(reader.readline(), WAIT)

    monkeypatch.setattr(acceptor, "MAX_UNAUTHENTICATED", 2)
    run(script)


@pytest.mark.parametrize("leave", ["disconnect", "hang up"])
def test_it_is_known_when_the_last_one_has_left(leave: str) -> None:
    async def script(scene: Scene) -> None:
        left = asyncio.ensure_future(scene.acceptor.wait_left())
        other_reader, writer = await scene.speak(message("disconnect"))
        assert await ended(other_reader)
        writer.close()
        over_tcp, one = await scene.speak(message("attach", token=TOKEN))
        while (await scene.heard())["command"] != "attach":
            pass
        over_websocket, other = await scene.speak(upgrade())
        assert await status(over_websocket) == 101
        other.close()
        await asyncio.wait_for(scene.clients.gone.get(), WAIT)
        assert not left.done()
        if leave == "disconnect":
            one.write(message("disconnect"))
            assert await ended(over_tcp)
        else:
            one.close()
        await asyncio.wait_for(left, WAIT)

    run(script)


def test_refusals_are_logged_with_what_was_wrong_but_without_the_token(caplog: pytest.LogCaptureFixture) -> None:
    async def script(scene: Scene) -> None:
        for request_ in (upgrade(Authorization="Bearer not-for-the-log"), upgrade(Host="évil")):
            reader, _ = await scene.speak(request_)
            assert await status(reader) in (400, 401, 403)

    with caplog.at_level("DEBUG"):
        run(script)
    assert "refuses the token" in caplog.text
    # The log shows bytes from strangers in ASCII, so that they cannot forge other log lines.
    assert "vil'; allow it with" in caplog.text
    assert caplog.text.isascii()
    assert "not-for-the-log" not in caplog.text
    assert TOKEN not in caplog.text


def test_a_task_that_fails_is_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = asyncio.Event()

    async def fail(_: TokenVerifier) -> None:
        failing.set()
        raise ValueError("odd")

    async def script(scene: Scene) -> None:
        _, writer = await scene.speak(message("attach", token="wrong"))
        await asyncio.wait_for(failing.wait(), WAIT)
        writer.close()
        await asyncio.wait_for(scene.acceptor._tasks.wait(), WAIT)

    monkeypatch.setattr(TokenVerifier, "delay_refusal", fail)
    run(script)
    assert "an internal task of raydap failed" in caplog.text
    assert "ValueError: odd" in caplog.text


def test_closing_ends_connections_without_the_token_and_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forever(_: TokenVerifier) -> None:
        await asyncio.Event().wait()

    async def script(scene: Scene) -> None:
        silent, _ = await scene.speak()
        delayed, _ = await scene.speak(message("initialize"), message("attach", token="wrong"))
        assert (await scene.heard())["command"] == "initialize"
        over_tcp, client = await scene.speak(message("attach", token=TOKEN))
        assert (await scene.heard())["command"] == "attach"
        assert len(scene.acceptor._unauthenticated) == 2
        await asyncio.wait_for(scene.acceptor.close(), WAIT)
        assert await ended(silent)
        assert await ended(delayed)
        # Only the engine ends clients.
        client.write(message("echo"))
        assert await asyncio.wait_for(over_tcp.readline(), WAIT)
        assert not scene.acceptor._tasks

    monkeypatch.setattr(TokenVerifier, "delay_refusal", forever)
    run(script)


@pytest.mark.parametrize("way", ["TCP", "WebSocket"])
@pytest.mark.parametrize("arguments", [{"join": True}, {"role": "observer"}, {"join": True, "role": "observer"}])
def test_a_look_ends_no_hub_and_keeps_none(way: str, arguments: dict[str, Any]) -> None:
    async def script(scene: Scene) -> None:
        left = asyncio.ensure_future(scene.acceptor.wait_left())
        if way == "TCP":
            _, observer = await scene.speak(message("attach", token=TOKEN, **arguments))
        else:
            reader, observer = await scene.speak(upgrade())
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WAIT)
            body = message("attach", **arguments).partition(b"\r\n\r\n")[2]
            observer.write(bytes([0x81, 0x80 | len(body)]) + bytes(4) + body)
        assert (await scene.heard())["trusted"]
        observer.close()
        await asyncio.wait_for(scene.clients.gone.get(), WAIT)
        assert not left.done()
        _, other = await scene.speak(message("attach", token=TOKEN, **arguments))
        assert (await scene.heard())["trusted"]
        _, editor = await scene.speak(message("attach", token=TOKEN))
        assert (await scene.heard())["trusted"]
        assert not left.done()
        editor.close()
        await asyncio.wait_for(left, WAIT)
        other.close()

    run(script)
