"""Finding the cluster: how it is named, errors in the name, and tokens."""

import contextlib
import getpass
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster, clean_environment

from support.bridge import Bridge
from support.look import go_on, problems
from support.paused_workers import paused_workers

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

ALONE = f"""\
import subprocess, sys
sys.path.insert(0, {str(EXAMPLES)!r})
from local_cluster import Cluster, clean_environment
with Cluster(num_cpus=1) as cluster:
    print("cluster", cluster.directory, cluster.dashboard, flush=True)
    driver = subprocess.Popen([sys.executable, sys.argv[1]], env=clean_environment({{"RAY_ADDRESS": cluster.address}}))
    subprocess.run([sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0"], env=clean_environment({{}}))
"""

FOREIGN = """\
import subprocess, sys
raylet = ["raylet", "-c", "read x", "--gcs-address=10.255.0.1:6379"]
subprocess.Popen(raylet, executable={!r}, stdin=subprocess.PIPE, user=65534)
subprocess.run([sys.executable, "-m", "raydap", "adapter", "--listen", "127.0.0.1:0"])
"""

LATE_STOP = """\
import os, sys, ray

ray.init(num_cpus=1, include_dashboard=True)
print("up", flush=True)
open(sys.argv[1]).read()
breakpoint()
"""


@pytest.fixture(scope="module")
def another() -> Iterator[Cluster]:
    with Cluster(num_cpus=1, network="127.78") as started:
        yield started


@pytest.fixture
def hidden(tmp_path: Path, children: ExitStack) -> Callable[..., Child]:
    """Return `hidden(source, *args)`. It runs a program that sees only its own processes, and so no other clusters."""
    hide = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.getuid() != 0:
        hide[1:1] = ["--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine allows no process namespaces")

    def start(source: str, *args: str) -> Child:
        path = tmp_path / "hidden.py"
        path.write_text(source)
        child = Child([*hide, sys.executable, str(path), *args], tmp_path / "hidden.log")
        # The first process of a pid namespace ignores SIGTERM.
        children.callback(child.end, 0)
        return child

    return start


@contextlib.contextmanager
def web_server(answer: bytes) -> Iterator[str]:
    """Yield the URL of a server that answers every request with this page."""

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
    """Try to attach, and return the error message."""
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
    # The same connection can be used for the right one.
    client.request("attach", dashboard=cluster.dashboard)


def test_of_several_clusters_none_is_taken_and_each_is_listed(
    client: Client, cluster: Cluster, another: Cluster, run_driver: Callable[..., Child], tmp_path: Path
) -> None:
    program = tmp_path / "one_stop.py"
    program.write_text(ONE_STOP.replace("breakpoint()", 'print("up", flush=True)\nbreakpoint()'))
    driver = run_driver(program)
    driver.wait_for("up")
    client.request("initialize", adapterID="raydap")
    for arguments in ({}, {"dashboard": "auto"}):
        told = refusal(client, **arguments)
        assert "[raydap 2008]" in told
        assert told.startswith("You run ")
        assert "Ray clusters on this machine; name the one to debug" in told
        for known, runs in ((cluster, "runs one_stop.py"), (another, "no job runs")):
            (line,) = [line for line in told.splitlines() if known.dashboard in line]
            assert line.startswith(f'  "dashboard": "{known.dashboard}" (by {getpass.getuser()}, since ')
            assert runs in line
    ended = subprocess.run(
        [sys.executable, "-m", "raydap", "down"],
        env=clean_environment({}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert f"\n  --dashboard {another.dashboard} (by " in ended.stderr.decode()

    # The same connection can be used for the named one.
    attach = client.send("attach", dashboard=cluster.dashboard)
    client.wait_event("initialized", unless=attach)
    client.request("configurationDone")
    go_on(client, client.wait_event("stopped"))
    assert driver.wait() == 0


def test_the_only_cluster_of_this_user_is_taken(
    hidden: Callable[..., Child], children: ExitStack, tmp_path: Path, connect_to: Callable[[str, int], Client]
) -> None:
    program = tmp_path / "one_stop.py"
    program.write_text(ONE_STOP)
    machine = hidden(ALONE, str(program))
    children.callback(shutil.rmtree, machine.wait_for(r"cluster (\S+) http")[1], ignore_errors=True)
    host, port = machine.wait_for(r"raydap listening on ([\d.]+):(\d+)").groups()
    client = connect_to(host, int(port))
    client.start_session("attach", {})
    go_on(client, client.wait_event("stopped"))
    machine.wait_for("result: done")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start processes of another user")
def test_a_cluster_of_another_user_is_never_taken(
    hidden: Callable[..., Child], connect_to: Callable[[str, int], Client]
) -> None:
    """A process with a raylet's command line stands for it: another user cannot run Ray in a private Python."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy("/bin/sh", os.path.join(folder, "raylet"))
        child = hidden(FOREIGN.format(program))
        host, port = child.wait_for(r"raydap listening on ([\d.]+):(\d+)").groups()
        client = connect_to(host, int(port))
        client.request("initialize", adapterID="raydap")
        told = refusal(client)
    assert told.startswith("No Ray cluster on this machine is yours; to debug one of nobody, name it:")
    assert '"dashboard": "10.255.0.1:6379" (by nobody, since ' in told
    assert told.endswith("[raydap 2008]")


@pytest.mark.usefixtures("another")
def test_the_cluster_of_a_launched_program_is_the_one_that_it_has_started(
    tmp_path: Path,
    children: ExitStack,
    connect_to: Callable[[str, int], Client],
    run_program: Callable[..., Child],
) -> None:
    """The cluster is not a newer one, in which the driver of another program is paused.

    Newer Ray creates a token in the home folder for a cluster that `ray.init()` starts, and raydap sends this token.
    """
    # Short and under /tmp: Ray puts Unix sockets below it, whose paths are limited to 107 bytes.
    temp = tempfile.mkdtemp(prefix="raydap-", dir="/tmp")
    children.callback(shutil.rmtree, temp, ignore_errors=True)
    program, fifo, home = tmp_path / "late_stop.py", tmp_path / "fifo", tmp_path / "home"
    program.write_text(LATE_STOP)
    os.mkfifo(fifo)
    home.mkdir()
    bridge = Bridge.start(tmp_path / "late.log", env={"HOME": str(home)})
    children.callback(bridge.end)
    client = connect_to(bridge.host, bridge.port)
    client.timeout = 90
    environment = {"RAY_ADDRESS": None, "RAY_TMPDIR": temp, "RAY_AUTH_MODE": None}
    client.start_session(
        "launch", {"program": str(program), "args": [str(fifo)], "cwd": str(tmp_path), "env": environment}
    )
    client.wait_event("output", lambda body: "up" in body["output"])
    with Cluster(num_cpus=1, network="127.79") as newer:
        run_program(ONE_STOP, env={"RAY_ADDRESS": newer.address})
        paused_workers(newer, 1)
        fifo.write_text("go on")
        go_on(client, client.wait_event("stopped"))
        assert client.wait_event("exited") == {"exitCode": 0}
        paused_workers(newer, 1)
    assert problems(client) == []
    printed = "".join(message["body"]["output"] for message in client.events if message["event"] == "output")
    assert "frozen modules" not in printed, "debugpy warns of them when it is imported"


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
        # Its home folder is empty, so that raydap finds no token of the user who runs the tests.
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
