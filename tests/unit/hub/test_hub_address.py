"""Addresses of hubs, and the message when there is no hub."""

import asyncio
import socket
from pathlib import Path

import pytest

from raydap.errors import Code, ProblemError
from raydap.hub import connection_file, hub_address
from raydap.hub.connection_file import ConnectionInfo
from raydap.hub.hub_address import HubAddress


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ws://hub:4711", HubAddress("ws://hub:4711/dap", "hub", 4711, True, False)),
        ("ws://hub:4711/dap", HubAddress("ws://hub:4711/dap", "hub", 4711, True, False)),
        ("wss://[::1]:4711/dap/", HubAddress("wss://[::1]:4711/dap", "::1", 4711, True, True)),
        ("tcp://127.0.0.1:1/", HubAddress("tcp://127.0.0.1:1", "127.0.0.1", 1, False, False)),
        ("hub:4711", HubAddress("ws://hub:4711/dap", "hub", 4711, True, False)),
        ("[::1]:4711", HubAddress("ws://[::1]:4711/dap", "::1", 4711, True, False)),
        ("tcps://hub:1", HubAddress("tcps://hub:1", "hub", 1, False, True)),
    ],
)
def test_addresses(url: str, expected: HubAddress) -> None:
    assert hub_address.parse(url) == expected


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("hub", "no host and port"),
        ("4711", "no host and port"),
        ("hub:0", "no host and port"),
        ("hub:4711:1", "is not a URL"),
        ("hub:4711/other", "the path of a hub is /dap"),
        ("secret@hub:4711", "cannot contain a token"),
        ("http://hub:4711", "does not begin with ws://"),
        ("", "no host and port"),
        ("ws://hub", "no host and port"),
        ("ws://:4711", "no host and port"),
        ("tcp://hub:0", "no host and port"),
        ("ws://hub:99999", "is not a URL"),
        ("ws://[::1:1", "is not a URL"),
        ("ws://hub:1/other", "the path of a hub is /dap"),
        ("tcp://hub:1/dap", "a hub's TCP address has no path"),
        ("ws://secret@hub:1", "cannot contain a token"),
        ("ws://hub:1/dap?token=secret", "cannot contain a token"),
    ],
)
def test_what_is_no_address_is_refused(url: str, told: str) -> None:
    with pytest.raises(ProblemError, match=told) as refused:
        hub_address.parse(url)
    assert refused.value.problem.code is Code.BAD_ARGUMENT
    assert "secret" not in str(refused.value)


def test_a_bare_address_is_that_of_the_connection_file_s_hub(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    environ = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    connection_file.write(ConnectionInfo(host="127.0.0.1", port=4711, tls=True, token="kept", pid=0), environ=environ)
    assert hub_address.parse("localhost:4711", environ).url == "wss://localhost:4711/dap"
    assert hub_address.parse("localhost:4712", environ).url == "ws://localhost:4712/dap"


def test_the_token_is_that_of_the_environment_else_of_the_connection_file(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    environ = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    where = hub_address.parse("ws://localhost:4711")
    assert hub_address.token_for(where, environ) is None
    connection_file.write(ConnectionInfo(host="127.0.0.1", port=4711, tls=False, token="kept", pid=0), environ=environ)
    assert hub_address.token_for(where, environ) == "kept"
    assert hub_address.token_for(where, {**environ, "RAYDAP_TOKEN": " given\n"}) == "given"
    assert hub_address.token_for(where, {**environ, "RAYDAP_TOKEN": ""}) == "kept"
    assert hub_address.token_for(hub_address.parse("ws://localhost:4712"), environ) is None


@pytest.mark.parametrize("scheme", ["ws", "wss", "tcp", "tcps"])
def test_an_unreachable_hub_is_one_sentence(scheme: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        where = hub_address.parse(f"{scheme}://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(ProblemError) as failed:
            asyncio.run(hub_address.dial(where, "secret", None, print, print))
    assert failed.value.problem.code is Code.HUB_UNREACHABLE
    assert f"The hub at {where.url} cannot be reached (Connection refused)" in str(failed.value)


def test_an_authority_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(ProblemError, match=r"--tls-ca\) cannot be read: No such file") as failed:
        asyncio.run(hub_address.dial(hub_address.parse("wss://127.0.0.1:1"), None, str(path), print, print))
    assert failed.value.problem.code is Code.BAD_ARGUMENT
    path.write_text("nothing")
    with pytest.raises(ProblemError, match="contains no PEM certificate"):
        asyncio.run(hub_address.dial(hub_address.parse("wss://127.0.0.1:1"), None, str(path), print, print))
