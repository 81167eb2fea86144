"""`raydap connect` with errors: the editor and standard error get the same message."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child

from support.bridge import Hub
from support.conformance import validate

RAYDAP = [sys.executable, "-m", "raydap"]


@pytest.mark.parametrize("scheme", ["ws", "tcp"])
def test_a_refused_token_is_reported_to_the_editor_and_on_stderr(
    hub: Hub, adapter: Callable[..., Client], tmp_path: Path, scheme: str
) -> None:
    log = tmp_path / "connect.log"
    client = adapter(f"{scheme}://{hub.host}:{hub.port}", log=log, RAYDAP_TOKEN="wrong")
    if scheme == "ws":
        with pytest.raises(RequestFailed, match=r"refuses the token.*RAYDAP_TOKEN\. \[raydap 5002\]"):
            client.request("initialize", adapterID="raydap")
    else:
        client.request("initialize", adapterID="raydap")
        with pytest.raises(RequestFailed, match="1011"):
            client.request("attach")
    client.request("disconnect")
    client.close()
    (line,) = log.read_text().splitlines()
    assert "refuses the token" in line
    assert line.endswith("[raydap 5002]")


def test_no_hub_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        for options, told in (
            ([f"ws://127.0.0.1:{port}"], "cannot be reached (Connection refused)"),
            ([f"tcp://127.0.0.1:{port}"], "cannot be reached (Connection refused)"),
            ([], "raydap knows no hub of yours on this machine"),
            (["http://127.0.0.1:1"], "does not begin with ws://"),
            (["ws://127.0.0.1:1", "--token-file", str(tmp_path / "none")], "cannot be read: No such file"),
        ):
            request = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
            ended = subprocess.run(
                [*RAYDAP, "connect", *options],
                env=env,
                input=b"Content-Length: %d\r\n\r\n%b" % (len(request), request),
                capture_output=True,
                timeout=60,
                check=False,
            )
            (line,) = ended.stderr.decode().splitlines()
            assert told in line
            assert ended.returncode == 1
            answer = json.loads(ended.stdout.partition(b"\r\n\r\n")[2])
            validate(answer)
            assert answer["request_seq"] == 1
            assert answer["body"]["error"]["format"] == line


class Forwarder:
    """A forwarder of a port to a hub, like SSH's.

    It accepts connections even when the target does not answer, until it is ended.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def cut(self) -> None:
        """Shut down all current connections. New ones are accepted, even while this is in progress."""
        for one in tuple(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()
        for thread in self._threads:
            thread.join()
        for one in self._open:
            one.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._server.accept()[0]
                self._open.append(near)
                try:
                    far = socket.create_connection(self.target)
                except OSError:
                    near.shutdown(socket.SHUT_RDWR)
                    continue
                self._open.append(far)
                for one, other in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._pump, args=(one, other)))
                    self._threads[-1].start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("scheme", ["ws", "tcp"])
@pytest.mark.parametrize("lives", [True, False])
def test_a_restart_is_suggested_only_while_the_hub_lives(
    hub: Hub, adapter: Callable[..., Client], children: ExitStack, scheme: str, lives: bool
) -> None:
    forwarder = Forwarder((hub.host, hub.port))
    children.callback(forwarder.end)
    client = adapter(f"{scheme}://127.0.0.1:{forwarder.port}", RAYDAP_TOKEN=hub.token)
    client.start_session("attach", {"workers": ["127.0.0.1:1"]})
    if not lives:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            forwarder.target = nobody.getsockname()
    forwarder.cut()
    client.wait_event("terminated")
    told = [message["body"]["output"] for message in client.events if message["event"] == "output"]
    assert ("but the hub still runs; start the session again to continue. [raydap 5003]" in told[-1]) is lives
    assert ("no longer answers" in told[-1]) is not lives
    client.request("disconnect")


def test_what_serve_prints_can_be_pasted(children: ExitStack, tmp_path: Path, adapter: Callable[..., Client]) -> None:
    """The printed address works as it is printed, and without its scheme and path."""
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    hub = children.enter_context(Child([*RAYDAP, "serve"], tmp_path / "hub.log", env))
    (address,) = hub.wait_for(r"\nraydap connect (\S+)    # for your editor; the command finds the token").groups()
    for given in (address, address.removeprefix("ws://").removesuffix("/dap")):
        client = adapter(given, **env)
        client.start_session("attach", {"workers": ["127.0.0.1:1"]})
        client.request("disconnect")


@pytest.mark.parametrize("scheme", ["ws", "tcp"])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_hub_that_goes_ends_the_session_in_the_editor(
    children: ExitStack, token_file: Path, tmp_path: Path, adapter: Callable[..., Client], scheme: str, how: int
) -> None:
    command = [*RAYDAP, "serve", "--token-file", str(token_file), "--connection-file", str(tmp_path / "c.json")]
    hub = children.enter_context(Child(command, tmp_path / "hub.log"))
    host, port = hub.wait_for(r"raydap serving on ([\d.]+):(\d+)").groups()
    log = tmp_path / "connect.log"
    client = adapter(f"{scheme}://{host}:{port}", "--token-file", str(token_file), log=log)
    client.start_session("attach", {"workers": ["127.0.0.1:1"]})
    hub.process.send_signal(how)
    client.wait_event("terminated")
    told = [message["body"]["output"] for message in client.events if message["event"] == "output"]
    client.request("disconnect")
    client.close()
    assert len([message for message in client.events if message["event"] == "terminated"]) == 1
    if how == signal.SIGKILL:
        assert f"The hub at {scheme}://{host}:{port}" in told[-1]
        assert "no longer answers" in told[-1]
        assert "start the session again" not in told[-1]
        assert told[-1].endswith("[raydap 5003]\n")
        assert "5003" in log.read_text()
