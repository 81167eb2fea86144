"""The ways to reach a hub."""

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest

from raydap.hub import directions
from raydap.hub.hub_job import Hub


def hub(host: str, port: int = 4711, node: str = "10.0.0.7", machine: str = "head-x7") -> Hub:
    return Hub("raydap-hub-1", host, port, node, machine)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.parametrize(("host", "node"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")])
def test_a_hub_of_this_machine_is_reached_directly(listener: socket.socket, host: str, node: str) -> None:
    port = listener.getsockname()[1]
    assert asyncio.run(directions.direct_host(hub(host, port, node))) == "127.0.0.1"


def test_loopback_of_another_machine_is_not_tried(listener: socket.socket) -> None:
    """A program of this machine listens there, which is not the hub."""
    port = listener.getsockname()[1]
    assert asyncio.run(directions.direct_host(hub("127.0.0.1", port, node="192.0.2.1"))) is None


def test_a_port_that_refuses_is_not_reached() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        assert asyncio.run(directions.direct_host(hub("127.0.0.1", holder.getsockname()[1], "127.0.0.1"))) is None


def test_the_tunnels_lead_to_where_the_hub_listens() -> None:
    kubectl = "kubectl port-forward pod/head-x7 4711:4711"
    assert directions.tunnels(hub("127.0.0.1")) == ["ssh -N -L 4711:127.0.0.1:4711 USER@10.0.0.7", kubectl]
    assert directions.tunnels(hub("0.0.0.0")) == ["ssh -N -L 4711:127.0.0.1:4711 USER@10.0.0.7", kubectl]
    # kubectl forwards only to the pod's own loopback.
    assert directions.tunnels(hub("10.0.0.7")) == ["ssh -N -L 4711:10.0.0.7:4711 USER@10.0.0.7"]
    assert directions.tunnels(hub("::1"))[0] == "ssh -N -L 4711:[::1]:4711 USER@10.0.0.7"


def test_the_directions_say_what_to_run() -> None:
    far = directions.describe(hub("127.0.0.1"), None, "ws://127.0.0.1:4711/dap")
    assert "10.0.0.7 (head-x7)" in far
    assert "ssh -N -L" in far
    assert "raydap connect ws://127.0.0.1:4711/dap" in far
    near = directions.describe(hub("127.0.0.1"), "127.0.0.1", "ws://127.0.0.1:4711/dap")
    assert "ssh" not in near
    wide = directions.describe(hub("0.0.0.0"), "10.0.0.7", "ws://10.0.0.7:4711/dap")
    assert wide.endswith("ssh -N -L 4711:127.0.0.1:4711 USER@10.0.0.7")


def test_launch_json_holds_the_port_and_no_token() -> None:
    text = directions.describe(hub("127.0.0.1"), "127.0.0.1", "ws://127.0.0.1:4711/dap")
    launch = json.loads(text[text.index("  {\n") :])
    (configuration,) = launch["configurations"]
    (asked,) = launch["inputs"]
    assert configuration["debugServer"] == 4711
    assert configuration["token"] == f"${{input:{asked['id']}}}"
    assert asked["password"] is True


def test_the_extension_s_configuration_names_the_hub_as_it_is_reached() -> None:
    text = directions.describe(hub("0.0.0.0"), "10.0.0.7", "ws://10.0.0.7:4711/dap")
    (line,) = [line for line in text.splitlines() if '"hub"' in line]
    assert json.loads(line) == {
        "name": "Ray (hub)",
        "type": "raydap",
        "request": "attach",
        "hub": "ws://10.0.0.7:4711/dap",
    }
