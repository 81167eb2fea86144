"""Finding the cluster: what names it, what is wrong with it, and tokens."""

import contextlib
import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.look import go_on, problems

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

ONE_STOP = """\
import ray

ray.init()
breakpoint()
print("result: done")
"""

CLUSTER = f"""\
import signal, sys
sys.path.insert(0, {str(EXAMPLES)!r})
from local_cluster import Cluster
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
with Cluster(num_cpus=1) as cluster:
    print("cluster", cluster.address, cluster.dashboard, flush=True)
    signal.pause()
"""


@contextlib.contextmanager
def web_server(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers everything with this page."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def refusal(client: Client, **arguments: object) -> str:
    """Tries to attach; returns what the user is told."""
    with pytest.raises(RequestFailed) as failed:
        client.request("attach", **arguments)
    assert problems(client) == []
    return failed.value.text


def test_a_dashboard_that_is_none(client: Client, cluster: Cluster) -> None:
    client.request("initialize", adapterID="raydap")
    with closed_port() as port:
        assert "[raydap 2002]" in refusal(client, dashboard=f"http://127.0.0.1:{port}")
        assert "[raydap 2001]" in refusal(client, dashboard=f"127.0.0.1:{port}")
    for page in (b"<html>welcome</html>", b'{"greeting": "hello"}', b"[1, 2]"):
        with web_server(page) as url:
            assert "[raydap 2003]" in refusal(client, dashboard=url)
    # The same connection is good for the right one.
    client.request("attach", dashboard=cluster.dashboard)


@pytest.mark.parametrize("name", ["RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"])
def test_the_environment_names_the_cluster(
    name: str,
    cluster: Cluster,
    tmp_path: Path,
    children: ExitStack,
    connect_to: Callable[[str, int], Client],
    run_driver: Callable[..., Child],
) -> None:
    value = cluster.address if name == "RAY_ADDRESS" else cluster.dashboard
    bridge = Bridge.start(tmp_path / "named.log", env={name: value})
    children.callback(bridge.end)
    client = connect_to(bridge.host, bridge.port)
    client.start_session("attach", {})
    driver = run_driver(ONE_STOP)
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0
    assert "result: done" in driver.output


def test_a_cluster_that_wants_a_token_and_then_goes_away(
    run_program: Callable[..., Child], tmp_path: Path, children: ExitStack, connect_to: Callable[[str, int], Client]
) -> None:
    token = "a" * 64
    right = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    cluster = run_program(CLUSTER, env=right)
    address, dashboard = cluster.wait_for(r"cluster (\S+) (\S+)").groups()

    def client_with(token: str) -> Client:
        # Its home is empty, so that no token of the user's own is found.
        env = {"RAY_AUTH_TOKEN": token, "HOME": str(tmp_path)}
        bridge = Bridge.start(tmp_path / f"bridge-{len(token)}.log", env=env)
        children.callback(bridge.end)
        client = connect_to(bridge.host, bridge.port)
        client.request("initialize", adapterID="raydap")
        return client

    assert "[raydap 2004]" in refusal(client_with(""), dashboard=dashboard)
    assert "[raydap 2005]" in refusal(client_with("b" * 63), dashboard=dashboard)

    client = client_with(token)
    attach = client.send("attach", dashboard=dashboard)
    client.wait_event("initialized", unless=attach)
    client.request("configurationDone")
    client.result(attach)
    driver = run_program(ONE_STOP, env={**right, "RAY_ADDRESS": address})
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0, driver.output

    cluster.end()
    told = client.wait_event("output", lambda body: body["category"] == "important")["output"]
    assert dashboard in told
    assert "[raydap 2002]" in told
    assert len(problems(client)) == 1


def test_a_program_with_a_cluster_of_its_own_that_wants_a_token_by_default(
    tmp_path: Path, children: ExitStack, connect_to: Callable[[str, int], Client]
) -> None:
    """Newer Ray makes a token in the home folder for what `ray.init()` starts, and raydap sends it from there."""
    program = tmp_path / "alone.py"
    program.write_text(ONE_STOP.replace("ray.init()", "ray.init(num_cpus=1, include_dashboard=True)"))
    home = tmp_path / "home"
    home.mkdir()
    bridge = Bridge.start(tmp_path / "alone.log", env={"HOME": str(home)})
    children.callback(bridge.end)
    client = connect_to(bridge.host, bridge.port)
    client.timeout = 90
    environment = {"RAY_AUTH_MODE": None, "RAY_ADDRESS": None}
    client.start_session("launch", {"program": str(program), "cwd": str(tmp_path), "env": environment})
    go_on(client, client.wait_event("stopped"))
    assert client.wait_event("exited") == {"exitCode": 0}
    assert problems(client) == []
