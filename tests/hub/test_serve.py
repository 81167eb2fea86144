"""Access to the hub with real processes: the ways of connecting, refused clients, and tokens that stay secret."""

import contextlib
import json
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from support.bridge import Hub
from support.debuggee import Debuggee
from support.look import go_on
from support.terminal import Terminal
from support.whole_session import PROGRAM, walk_through

RAYDAP = [sys.executable, "-m", "raydap"]
WAIT = 30.0


@pytest.fixture
def debuggee(plain_debugpy: Callable[[str], Debuggee]) -> Debuggee:
    return plain_debugpy(PROGRAM)


class OverWebSocket:
    """The files that a Client needs, over the WebSocket of the websockets library."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._unread = b""

    def client(self) -> Client:
        return Client(self, self, self._connection.close, WAIT)  # type: ignore[arg-type]

    def write(self, data: bytes) -> None:
        self._connection.send(data.partition(b"\r\n\r\n")[2].decode())

    def readline(self) -> bytes:
        line, separator, self._unread = self._fill().partition(b"\r\n")
        return line + separator

    def read(self, size: int) -> bytes:
        data = self._fill()
        self._unread = data[size:]
        return data[:size]

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _fill(self) -> bytes:
        if not self._unread:
            for message in self._connection:
                assert isinstance(message, str), "messages come in text frames"
                self._unread = b"Content-Length: %d\r\n\r\n%b" % (len(message.encode()), message.encode())
                break
        return self._unread


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_session_over_tcp(hub: Hub, connect_to: Callable[[str, int], Client], debuggee: Debuggee) -> None:
    walk_through(connect_to(hub.host, hub.port), debuggee, token=hub.token)


@pytest.mark.parametrize("way", ["header", "subprotocol"])
def test_a_session_over_websocket(hub: Hub, debuggee: Debuggee, way: str) -> None:
    subprotocols: Any = ["raydap", f"raydap.token.{hub.token}"]
    options = {"additional_headers": bearer(hub.token)} if way == "header" else {"subprotocols": subprotocols}
    with connect(hub.url, proxy=None, **options) as connection, OverWebSocket(connection).client() as client:
        assert connection.subprotocol == (None if way == "header" else "raydap")
        walk_through(client, debuggee)


@pytest.mark.parametrize(
    ("scheme", "source"),
    [("ws", "file"), ("tcp", "variable"), ("tcp", "connection file"), ("", "connection file")],
)
def test_a_session_by_the_command(
    start_hub: Callable[..., Hub],
    adapter: Callable[..., Client],
    debuggee: Debuggee,
    tmp_path: Path,
    scheme: str,
    source: str,
) -> None:
    hub = start_hub()
    (tmp_path / "run" / "raydap").mkdir(parents=True)
    # Without an address, the command uses the newest connection file.
    options, env = [f"{scheme}://localhost:{hub.port}"] if scheme else [], {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    if source == "file":
        (tmp_path / "token").touch(0o600)
        (tmp_path / "token").write_text(hub.token)
        options += ["--token-file", str(tmp_path / "token")]
    elif source == "variable":
        env["RAYDAP_TOKEN"] = hub.token
    else:
        (tmp_path / "run" / "raydap" / "hub.json").write_bytes(hub.connection.read_bytes())
    walk_through(adapter(*options, **env), debuggee)


def test_nothing_works_without_the_token_over_tcp(hub: Hub, connect_to: Callable[[str, int], Client]) -> None:
    client = connect_to(hub.host, hub.port)
    client.request("initialize", adapterID="raydap")
    for command in ("threads", "configurationDone", "evaluate", "terminate"):
        with pytest.raises(RequestFailed, match="1011"):
            client.request(command, expression="1")
    for command, arguments in (("attach", {}), ("launch", {"token": "wrong"}), ("attach", {"Token": hub.token})):
        with pytest.raises(RequestFailed, match="1011"):
            client.request(command, **arguments)
    client.request("disconnect")


def test_websockets_are_refused_at_the_handshake(hub: Hub) -> None:
    right = bearer(hub.token)
    for host, headers, status in (
        (hub.host, {}, 401),
        (hub.host, bearer("wrong"), 401),
        (hub.host, {**right, "Origin": "https://evil.example"}, 403),
        (hub.host, {**right, "Origin": f"http://localhost:{hub.port}"}, 403),
        ("evil.example", right, 403),
    ):
        with (
            pytest.raises(InvalidStatus) as refused,
            socket.create_connection((hub.host, hub.port)) as connection,
            connect(hub.url.replace(hub.host, host), sock=connection, proxy=None, additional_headers=headers),
        ):
            pass
        assert refused.value.response.status_code == status


def test_a_name_can_be_let_in(start_hub: Callable[..., Hub]) -> None:
    hub = start_hub("--allow-host", "hub.example")
    with (
        socket.create_connection((hub.host, hub.port)) as connection,
        connect(
            hub.url.replace(hub.host, "hub.example"),
            sock=connection,
            proxy=None,
            additional_headers=bearer(hub.token),
        ) as client,
    ):
        client.ping().wait(WAIT)


def test_bytes_that_are_neither_end_only_their_own_connection(
    hub: Hub, connect_to: Callable[[str, int], Client]
) -> None:
    for data in (
        b"POST /dap HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
        b"\x16\x03\x01" + os.urandom(2000),
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: 2000000\r\n\r\n",
    ):
        with socket.create_connection((hub.host, hub.port), WAIT) as connection:
            connection.sendall(data)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
    with socket.create_connection((hub.host, hub.port), WAIT) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 404 ")
    client = connect_to(hub.host, hub.port)
    client.request("initialize", adapterID="raydap")


def test_a_client_that_answers_no_pings_is_gone_and_its_worker_held(
    children: ExitStack, tmp_path: Path, debuggee: Debuggee, connect_to: Callable[[str, int], Client]
) -> None:
    hurried = (
        "import functools; from raydap.hub import acceptor; from raydap.cli.main import main;"
        "acceptor.WebSocketPeer = functools.partial(acceptor.WebSocketPeer, ping_interval_s=1); main()"
    )
    command = [sys.executable, "-c", hurried, "serve", "-v", "--no-token", "--connection-file", str(tmp_path / "c")]
    child = children.enter_context(Child(command, tmp_path / "hub.log"))
    host, port = child.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
    with socket.create_connection((host, int(port)), WAIT) as half_open:
        # After its attach, this client reads nothing any more, as if its machine had lost its network.
        half_open.sendall(
            b"GET /dap HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert half_open.recv(10000).startswith(b"HTTP/1.1 101 ")
        target = [f"{debuggee.host}:{debuggee.port}"]
        for seq, (command_, arguments) in enumerate(
            [("initialize", {"adapterID": "x"}), ("attach", {"workers": target}), ("configurationDone", {})], start=1
        ):
            message = {"seq": seq, "type": "request", "command": command_, "arguments": arguments}
            body = json.dumps(message).encode()
            half_open.sendall(b"\x81\xfe" + len(body).to_bytes(2, "big") + bytes(4) + body)
        child.wait_for("disconnected: does not answer pings")
        client = connect_to(host, int(port))
        client.start_session("attach", {})
        for _ in range(2):
            go_on(client, client.wait_event("stopped"))
        assert debuggee.child.wait() == 0


def test_tokens_are_in_no_log_and_on_no_command_line(
    children: ExitStack, token_file: Path, tmp_path: Path, adapter: Callable[..., Client]
) -> None:
    secret = token_file.read_text().strip()
    log = tmp_path / "hub.log"
    command = [*RAYDAP, "serve", "-v", "--token-file", str(token_file), "--connection-file", str(tmp_path / "c.json")]
    hub = children.enter_context(Child(command, log))
    host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
    assert stat.S_IMODE((tmp_path / "c.json").stat().st_mode) == 0o600
    with Client.connect(host, int(port)) as client:
        client.request("initialize", adapterID="raydap")
        for wrong in ({"token": secret + "x"}, {"token": [secret]}, {"tokens": secret}):
            with pytest.raises(RequestFailed) as failed:
                client.request("attach", **wrong)
            assert secret not in str(failed.value)
        with pytest.raises(RequestFailed) as failed:
            client.request("attach", token=secret, nonsense=1)
        assert "nonsense" in str(failed.value)
        client.request("attach", token=secret, workers=["127.0.0.1:1"])
    broken = b'{"seq":1,"type":"request","command":"attach","arguments":{"token":"%b",}}' % secret.encode()
    with socket.create_connection((host, int(port)), WAIT) as connection:
        connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(broken), broken))
        assert secret.encode() not in connection.recv(10000)
    with pytest.raises(InvalidStatus), connect(f"ws://{host}:{port}/dap?{secret}", proxy=None):
        pass
    for url in (f"ws://{host}:{port}", f"tcp://{host}:{port}"):
        errors = tmp_path / "connect.log"
        by_command = adapter(url, "--token-file", str(token_file), log=errors)
        by_command.request("initialize", adapterID="raydap")
        by_command.request("attach", workers=["127.0.0.1:1"])
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                assert secret.encode() not in (entry / "cmdline").read_bytes()
        by_command.request("disconnect")
        by_command.close()
        assert secret not in errors.read_text()
    hub.end()
    assert "a client connected over" in hub.output
    assert secret not in hub.output
    assert not (tmp_path / "c.json").exists()


def test_a_token_that_the_hub_has_made_is_printed_to_a_terminal_only(tmp_path: Path) -> None:
    connection = tmp_path / "connection.json"
    command = [*RAYDAP, "serve", "--connection-file", str(connection)]
    with Terminal(command, columns=200) as terminal:
        terminal.wait_for("for your editor")
        assert json.loads(connection.read_text())["token"] in terminal.text


def test_the_token_of_the_hub_s_own_is_in_no_log_and_kept_for_the_user(
    start_hub: Callable[..., Hub], tmp_path: Path
) -> None:
    hub = start_hub("--log-file", str(tmp_path / "log"), "-v")
    assert hub.token not in hub.child.output
    assert f"connection file: {hub.connection}" in hub.child.output
    assert stat.S_IMODE(hub.connection.stat().st_mode) == 0o600
    assert json.loads(hub.connection.read_text()) == {
        "host": hub.host,
        "port": hub.port,
        "tls": False,
        "token": hub.token,
        "pid": hub.child.pid,
        "dashboard": None,
    }
    with Client.connect(hub.host, hub.port) as client:
        client.request("initialize", adapterID="raydap")
        client.request("attach", token=hub.token, workers=["127.0.0.1:1"])
    log = (tmp_path / "log").read_text()
    assert "a client connected over TCP" in log
    assert hub.token not in log


def test_once_means_until_the_last_client_has_left(
    children: ExitStack, token_file: Path, tmp_path: Path, debuggee: Debuggee
) -> None:
    command = [*RAYDAP, "serve", "--once", "--token-file", str(token_file), "--connection-file", str(tmp_path / "c")]
    hub = children.enter_context(Child(command, tmp_path / "hub.log"))
    host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
    # A client without the token does not count.
    with Client.connect(host, int(port)) as stranger:
        stranger.request("initialize", adapterID="raydap")
        stranger.request("disconnect")
    token = token_file.read_text().strip()
    # Nor does a client that lists the workers, like `raydap ps`.
    with Client.connect(host, int(port)) as look:
        address = f"{debuggee.host}:{debuggee.port}"
        look.start_session("attach", {"token": token, "workers": [address], "autoAttach": False})
        assert [each["state"] for each in look.request("raydap/workers")["workers"]] == ["paused"]
        look.request("disconnect", terminateDebuggee=True)
    with Client.connect(host, int(port)) as first, Client.connect(host, int(port)) as second:
        first.start_session("attach", {"token": token, "workers": [f"{debuggee.host}:{debuggee.port}"]})
        second.start_session("attach", {"token": token})
        first.wait_event("stopped")
        first.request("disconnect")
        second.wait_event("stopped")
    assert hub.wait() == 0
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output
    assert not (tmp_path / "c").exists()


def test_an_address_of_the_network_is_warned_about_without_tls(start_hub: Callable[..., Hub]) -> None:
    hub = start_hub("--listen", "0.0.0.0:0")
    assert "warning: without TLS the token and all data cross the network" in hub.child.output
    assert json.loads(hub.connection.read_text())["host"] == "127.0.0.1"
