"""`raydap connect` where something is wrong: the editor is told, and so is who looks at its output."""

import json
import os
import signal
import socket
import subprocess
import sys
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
def test_a_refused_token_is_told_to_the_editor_and_on_stderr(
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
            ([], "No hub of yours is known here"),
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
        assert f"The connection to the hub at {scheme}://{host}:{port}" in told[-1]
        assert told[-1].endswith("[raydap 5003]\n")
        assert "5003" in log.read_text()
