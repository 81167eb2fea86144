"""Bad input gets one clear, numbered answer, and valid input is not lost."""

import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child

from support.bridge import Bridge


@pytest.mark.parametrize(
    ("request_", "arguments", "told"),
    [
        ("attach", {"dashbord": "x"}, r'Unknown argument "dashbord".*1005'),
        ("attach", {"just_my_code": True}, r'did you mean "justMyCode"\?.*1005'),
        ("attach", {"maxWorkers": "many"}, r'"maxWorkers" must be a whole number, not "many".*1004'),
        ("attach", {"maxWorkers": 0}, r'"maxWorkers" must be at least 1.*1004'),
        ("attach", {"workers": ["localhost"]}, r'"workers" contains "localhost".*1004'),
        ("attach", {"workers": []}, r'"workers" is empty.*1004'),
        ("attach", {"workers": ["a:1"], "dashboard": "http://b:1"}, r'"workers".*cannot be combined.*1004'),
        ("attach", {"pathMappings": [{"localRoot": "/a"}]}, r'"pathMappings\[0\].remoteRoot" is missing.*1004'),
        ("attach", {"dashboard": "not an address"}, r'"dashboard" is "not an address".*1004'),
        ("launch", {}, r'"program" or module is needed.*1004'),
        ("launch", {"program": "a.py", "module": "a"}, r'"program" or module is needed.*1004'),
        ("launch", {"program": "a.py", "args": [1]}, r'"args.0." must be a string.*1004'),
        ("launch", {"program": "a.py", "args": "'one"}, r'"args" has a quote without its end.*1004'),
    ],
)
def test_arguments(client: Client, request_: str, arguments: dict[str, Any], told: str) -> None:
    client.request("initialize", adapterID="raydap")
    with pytest.raises(RequestFailed, match=told) as failed:
        client.request(request_, **arguments)
    assert failed.value.body["error"]["showUser"] is True
    # A client with arguments for this would get the errors about them instead.
    assert client.events == []


def test_order_unknown_requests_and_foreign_ids(client: Client) -> None:
    with pytest.raises(RequestFailed, match="1003"):
        client.request("attach", workers=["127.0.0.1:1"])
    client.request("initialize", adapterID="raydap")
    with pytest.raises(RequestFailed, match="1003"):
        client.request("initialize", adapterID="raydap")
    with pytest.raises(RequestFailed, match="1003"):
        client.request("configurationDone")
    for command in ("restartFrame", "readMemory", "noSuchThing"):
        with pytest.raises(RequestFailed, match=rf'"{command}" is not supported.*1002'):
            client.request(command)
    for command in ("stackTrace", "pause", "evaluate"):
        with pytest.raises(RequestFailed, match="1003"):
            client.request(command, threadId=0)
    client.send("attach", workers=["127.0.0.1:1"])
    for thread in (0, 1, 999999, -1, "1", None, True, 2**40):
        with pytest.raises(RequestFailed, match="1006"):
            client.request("stackTrace", threadId=thread)
    with pytest.raises(RequestFailed, match="1009"):
        client.request("pause", threadId=0)
    assert client.request("threads") == {"threads": []}


def test_bytes_that_are_not_dap_end_only_their_own_connection(
    bridge: Bridge, connect_to: Callable[[str, int], Client]
) -> None:
    with socket.create_connection((bridge.host, bridge.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1) == b""
    with socket.create_connection((bridge.host, bridge.port)) as connection:
        connection.sendall(b"Content-Length: 9\r\n\r\n[garbage]")
        assert b"raydap 1001" in connection.recv(65536)
    assert connect_to(bridge.host, bridge.port).request("initialize", adapterID="raydap")


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--listen", "5678"], 2, "not HOST:PORT"),
        (["--listen", "127.0.0.1:99999"], 2, "not HOST:PORT"),
        (["--listen", "0.0.0.0:0"], 2, "not a loopback address"),
        (["--lisen"], 2, "No such option"),
    ],
)
def test_options_of_the_command(run_command: Callable[..., Child], options: list[str], code: int, told: str) -> None:
    command = run_command(*options)
    assert command.wait() == code
    assert told in command.output
    assert "Traceback" not in command.output


def test_a_port_that_is_taken(run_command: Callable[..., Child], bridge: Bridge) -> None:
    command = run_command("--listen", f"127.0.0.1:{bridge.port}")
    assert command.wait() == 1
    assert f"cannot listen on 127.0.0.1:{bridge.port}" in command.output
    assert "Traceback" not in command.output


def test_a_log_file_that_cannot_be_written_is_refused_in_one_sentence() -> None:
    command = [sys.executable, "-m", "raydap", "adapter", "--log-file", "no/such/folder/x.log"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert "cannot be written: No such file or directory." in ended.stderr
    assert "Traceback" not in ended.stderr


def test_input_that_is_not_dap_is_reported_on_standard_error() -> None:
    command = [sys.executable, "-m", "raydap", "adapter"]
    ended = subprocess.run(command, input="hello\r\n", capture_output=True, text=True, timeout=30, check=False)
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
