"""Programs that `raydap run` has started: a session that attaches later reaches the driver and all of its workers."""

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.look import bodies, evaluate, go_on, line_of, problems, user_frames
from support.replaced_functions import SCAN, documented

PROGRAM = """\
import os
import sys
import time

import ray

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self, file):
        turns = 0
        while not os.path.exists(file):
            turns += 1  # again and again
            time.sleep(0.01)
        return turns > 0

@ray.remote(num_cpus=0.1)
def later():
    value = "new"
    return value  # in a new worker

if __name__ == "__main__":
    ray.init()
    stop, start = os.path.abspath("stop"), os.path.abspath("start")
    loop = Loop.remote()
    running = loop.run.remote(stop)
    print(f"running {os.getpid()} {sys.argv[1:]}", flush=True)
    while not os.path.exists(start):
        time.sleep(0.01)  # in the driver
    env = {"env_vars": {"NEW": "1"}}
    values = [ray.get(later.options(runtime_env=env).remote()), ray.get(running)]
    print("result: " + " ".join(map(str, values)))
    sys.exit(3)
"""

Attach = Callable[..., Client]


@pytest.fixture
def program(tmp_path: Path, children: ExitStack) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    for name in ("stop", "start"):
        children.callback((tmp_path / name).touch)
    return path


@pytest.fixture
def run(cluster: Cluster, program: Path, children: ExitStack) -> Callable[..., Child]:
    """Return `run(*options)`, which starts the program by `raydap run`."""

    def start(*options: str, env: dict[str, str] | None = None) -> Child:
        command = [sys.executable, "-m", "raydap", "run", *options, str(program), "-x", "--wait"]
        environment = {"RAY_ADDRESS": cluster.address, **(env or {})}
        return children.enter_context(Child(command, program.with_suffix(".log"), environment, program.parent))

    return start


@pytest.fixture
def bridges(tmp_path: Path, children: ExitStack) -> Callable[[], Bridge]:
    """Return a function that starts further bridges, which may be killed."""

    def start() -> Bridge:
        bridge = Bridge.start(tmp_path / f"bridge{len(list(tmp_path.glob('bridge*')))}.log", "--verbose")
        children.callback(bridge.child.end)
        return bridge

    return start


def set_breakpoints(client: Client, program: Path, *texts: str) -> None:
    wanted = [{"line": line_of(PROGRAM, text)} for text in texts]
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)


def attached(client: Client, cluster: Cluster, program: Path, *texts: str) -> Client:
    breakpoints = {str(program): [line_of(PROGRAM, text) for text in texts]}
    client.start_session("attach", {"dashboard": cluster.dashboard}, breakpoints=breakpoints, filters=["uncaught"])
    return client


def text_at(client: Client, stop: dict[str, object]) -> str:
    line: int = user_frames(client, stop)[0]["line"]
    return PROGRAM.splitlines()[line - 1]


@pytest.mark.core
def test_a_running_actor_and_a_later_task_stop(
    client: Client, cluster: Cluster, program: Path, run: Callable[..., Child]
) -> None:
    child = run()
    child.wait_for(r"running \d+ \['-x', '--wait'\]")
    attached(client, cluster, program, "# again and again", "# in a new worker")
    for _ in range(2):
        stop = client.wait_event("stopped")
        assert "# again and again" in text_at(client, stop)
        go_on(client, stop)
    set_breakpoints(client, program, "# in a new worker")
    (program.parent / "start").touch()
    stop = client.wait_event("stopped", lambda body: body["reason"] == "breakpoint")
    while "# again" in text_at(client, stop):
        go_on(client, stop)
        stop = client.wait_event("stopped")
    assert "# in a new worker" in text_at(client, stop)
    assert evaluate(client, stop, "value") == "'new'"
    (program.parent / "stop").touch()
    go_on(client, stop)
    assert child.wait() == 3, child.output
    assert "result: new True" in child.output


def test_each_session_reaches_what_its_user_wants_of_one_program(
    bridge: Bridge,
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    connect_to: Callable[[str, int], Client],
) -> None:
    child = run()
    child.wait_for("running")
    for session in (a_pause_stops_what_runs, the_driver_stops_and_nobody_is_debugged_without_need):
        client = connect_to(bridge.host, bridge.port)
        session(client, cluster, program)
        client.request("disconnect")
    client = connect_to(bridge.host, bridge.port)
    # The program reaches both lines before it ends, but this session attaches to paused workers only.
    breakpoints = {str(program): [line_of(PROGRAM, "# again and again"), line_of(PROGRAM, "# in a new worker")]}
    client.start_session("attach", {"dashboard": cluster.dashboard, "reach": "paused"}, breakpoints=breakpoints)
    (program.parent / "start").touch()
    (program.parent / "stop").touch()
    assert child.wait() == 3, child.output
    assert bodies(client, "stopped") == [], "only what pauses is reached"


def a_pause_stops_what_runs(client: Client, cluster: Cluster, program: Path) -> None:
    """Pause all threads. Threads of Ray can stop, too."""
    breakpoints = {str(program): [line_of(PROGRAM, "# again and again")]}
    client.start_session("attach", {"dashboard": cluster.dashboard, "actor": "Loop"}, breakpoints=breakpoints)
    stop = client.wait_event("stopped")
    thread = stop["threadId"]
    set_breakpoints(client, program, "# in a new worker")
    for _ in range(2):
        go_on(client, stop)
        client.request("pause", threadId=0)
        stop = client.wait_event("stopped", lambda body: body["threadId"] == thread)
        assert stop["reason"] == "pause"
        assert evaluate(client, stop, "turns >= 0") == "True"


def the_driver_stops_and_nobody_is_debugged_without_need(client: Client, cluster: Cluster, program: Path) -> None:
    attached(client, cluster, program)
    set_breakpoints(client, program, "# in the driver")
    stop = client.wait_event("stopped")
    assert "# in the driver" in text_at(client, stop)
    listed = client.request("raydap/workers")["workers"]
    assert [worker["type"] for worker in listed if worker["state"] == "stopped"] == ["driver"]
    set_breakpoints(client, program)
    go_on(client, stop)


@pytest.mark.core
def test_after_raydap_was_killed_another_one_reaches_the_workers(
    client: Client,
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    bridges: Callable[[], Bridge],
    connect_to: Callable[[str, int], Client],
) -> None:
    child = run()
    child.wait_for("running")
    killed = bridges()
    first = attached(connect_to(killed.host, killed.port), cluster, program, "# again and again")
    first.wait_event("stopped")
    killed.child.process.kill()
    killed.child.process.wait()
    attached(client, cluster, program, "# again and again", "# in a new worker")
    assert "# again and again" in text_at(client, client.wait_event("stopped"))
    # The socket that the killed bridge has left does not block a new worker.
    (program.parent / "start").touch()
    stop = client.wait_event("stopped")
    assert "# in a new worker" in text_at(client, stop)
    (program.parent / "stop").touch()
    client.request("disconnect")
    assert child.wait() == 3, child.output


def test_a_second_session_gets_the_first_ones_name_and_attaches_when_it_disconnects(
    client: Client,
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    bridges: Callable[[], Bridge],
    connect_to: Callable[[str, int], Client],
) -> None:
    run().wait_for("running")
    other = bridges()
    first = attached(connect_to(other.host, other.port), cluster, program, "# again and again")
    stop = first.wait_event("stopped")
    attached(client, cluster, program, "# again and again")
    client.wait_event("output", lambda body: "cannot be debugged" in body["output"])
    set_breakpoints(client, program, "# again and again", "# in the driver")
    set_breakpoints(first, program)
    go_on(first, stop)
    first.request("disconnect")
    while "# again and again" not in text_at(client, stop := client.wait_event("stopped")):
        go_on(client, stop)
    (told,) = problems(client)
    assert f"with pid {other.child.pid} debugs it" in told
    set_breakpoints(client, program)


def test_a_worker_that_waits_at_its_own_breakpoint_has_no_second_debugger(
    client: Client,
    cluster: Cluster,
    program: Path,
    run: Callable[..., Child],
    bridges: Callable[[], Bridge],
    connect_to: Callable[[str, int], Client],
) -> None:
    """Ray's own debugger is in the worker already. raydap leaves it there and reports this to the user."""
    program.write_text(PROGRAM.replace("turns = 0\n", "turns = 0; breakpoint()\n"))
    run().wait_for("running")
    other = bridges()
    first = attached(connect_to(other.host, other.port), cluster, program)
    go_on(first, first.wait_event("stopped"))
    first.request("disconnect")
    attached(client, cluster, program, "# again and again")
    client.wait_event("output", lambda body: "Ray's breakpoint() has already" in body["output"])


def test_a_program_that_waits_stops_in_its_first_line(
    client: Client, cluster: Cluster, program: Path, run: Callable[..., Child]
) -> None:
    child = run("--wait")
    child.wait_for(rf"{program} \(pid \d+\) waits until a session has attached")
    attached(client, cluster, program, "import os", "turns = 0")
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["line"] == 1
    go_on(client, stop)
    # Its workers call the same raydap.
    stop = client.wait_event("stopped")
    assert "turns = 0" in text_at(client, stop)
    go_on(client, stop)
    for name in ("start", "stop"):
        (program.parent / name).touch()
    assert child.wait() == 3, child.output


REPLACED = f"""\
import json, ray
{SCAN}
@ray.remote(num_cpus=0.1)
def work():
    return replaced()

ray.init()
print("replaced: " + json.dumps([replaced(), ray.get(work.remote())]))
"""


def test_the_functions_that_are_replaced_are_documented(cluster: Cluster, children: ExitStack, tmp_path: Path) -> None:
    """tests/inworker/test_replaced_functions.py checks the table without Ray."""
    (tmp_path / "replaced.py").write_text(REPLACED)
    command = [sys.executable, "-m", "raydap", "run", "replaced.py"]
    environment = {"RAY_ADDRESS": cluster.address}
    child = children.enter_context(Child(command, tmp_path / "replaced.log", environment, tmp_path))
    assert child.wait() == 0, child.output
    driver, worker = json.loads(child.output.partition("replaced: ")[2].partition("\n")[0])
    everywhere = documented("with an agent", "Ray")
    assert set(driver) <= everywhere | documented("driver")
    own = documented("launched worker", "old Python")
    assert set(worker) <= everywhere | own
    assert "ray.init" in driver
    assert "os.fork" in worker
