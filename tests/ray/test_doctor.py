"""`raydap doctor` on real clusters: a healthy one, and each kind of fault."""

import asyncio
import json
import os
import re
import signal
import socket
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster, clean_environment

from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.legacy import legacy_breakpoints
from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from support import processes
from support.bridge import Bridge
from support.look import go_on
from support.paused_workers import paused_workers
from support.raydap_command import run
from support.tries import tries

WAIT = 120.0

ONE_STOP = """\
import ray

@ray.remote(num_cpus=0.1)
def collect():
    breakpoint()
    return "done"

ray.init()
print(ray.get(collect.remote()), flush=True)
"""

TWO_STOPS = """\
import ray

@ray.remote(num_cpus=0.1)
def collect():
    breakpoint()

ray.init()
ray.get([collect.remote(), collect.remote()])
"""

LEGACY = """\
import sys, ray

@ray.remote(num_cpus=0.1)
def collect(wrong):
    if wrong:
        return {}["no such key"]  # fails
    breakpoint()  # waits
    return "went on"

ray.init(runtime_env={"env_vars": {"RAY_DEBUG": "legacy", "RAY_DEBUG_POST_MORTEM": sys.argv[1]}})
print(ray.get(collect.options(max_retries=0).remote(sys.argv[1] == "1")), flush=True)
"""

MODULE = """\
import time

def compute():
    while True:
        # Nothing.
        time.sleep(0.01)
"""

PACKED = """\
import ray
ray.init(runtime_env={"working_dir": "project"})

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self):
        import steps
        print("training", flush=True)
        steps.compute()

trainer = Trainer.remote()
ray.get(trainer.train.remote())
"""

PREPARED = """\
import os
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def pid(self):
        return os.getpid()

ray.init(runtime_env={"env_vars": {"RAY_DEBUG_POSTMORTEM": "1", "RAY_DEBUG": "true"}})
trainer = Trainer.remote()
free = Trainer.options(runtime_env={"env_vars": {"RAYDAP": "off"}}).remote()
pids = ray.get([trainer.pid.remote(), free.pid.remote()])
print(f"ready {pids[0]} {pids[1]}", flush=True)
open("fifo").read()
"""


def doctor(*options: str, env: dict[str, str] | None = None) -> tuple[int, list[dict[str, Any]]]:
    """Run the doctor, and return its exit code and its findings."""
    code, output, errors = run(["doctor", "--json", *options], clean_environment(env or {}))
    return code, json.loads(output or errors)


def of(findings: list[dict[str, Any]], check: str) -> list[tuple[str, str]]:
    return [(one["severity"], one["what"]) for one in findings if one["check"] == check]


def one_of(findings: list[dict[str, Any]], check: str, *severities: str) -> dict[str, Any]:
    (found,) = [one for one in findings if one["check"] == check and one["severity"] in severities]
    return found


def until(cluster: Cluster, done: Callable[[list[dict[str, Any]]], bool], *options: str) -> list[dict[str, Any]]:
    """Run the doctor until its findings are as expected, because Ray's lists lag."""
    for _ in tries(WAIT):
        found = doctor("--dashboard", cluster.dashboard, *options)[1]
        if done(found):
            return found
    raise AssertionError(found)


@pytest.fixture
def bridge(children: ExitStack, tmp_path: Path) -> Bridge:
    """Return a bridge with the command line by which the doctor recognises raydap."""
    started = Bridge.start_as_command(tmp_path / "bridge.log")
    children.callback(started.end)
    return started


@pytest.mark.core
def test_a_healthy_cluster_is_in_order_and_its_paused_worker_unharmed(
    cluster: Cluster, run_driver: Callable[..., Child], attach: Callable[..., Client], tmp_path: Path
) -> None:
    program = tmp_path / "one_stop.py"
    program.write_text(ONE_STOP)
    driver = run_driver(program)
    paused_workers(cluster, 1)
    code, findings = doctor("--dashboard", cluster.dashboard)
    faults = [one for one in findings if one["severity"] in ("warning", "error", "skipped")]
    assert (code, faults) == (0, [])
    assert "1 of them paused" in of(findings, "dashboard")[0][1]
    assert of(findings, "debug-port") == [("ok", "A process listens at the debug port of each worker that has one.")]
    assert of(findings, "other-debugger") == [("ok", "No debugger is connected to a worker.")]
    assert [severity for severity, _ in of(findings, "route")] == ["ok"]
    # If the doctor had connected to the debug port, a later attach would fail.
    client = attach()
    stop = client.wait_event("stopped")
    (tmp_path / "nobody.py").write_text("x = 1\n")
    client.request("setBreakpoints", source={"path": str(tmp_path / "nobody.py")}, breakpoints=[{"line": 1}])
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": 6}])
    _, findings = doctor("--dashboard", cluster.dashboard)
    assert ("ok", "one_stop.py:6 is set.") in of(findings, "breakpoints")
    assert [
        one for one in findings if one["severity"] in ("warning", "error") and one["subject"] != "nobody.py:1"
    ] == []
    assert any(what.startswith("raydap is attached to collect ") for _, what in of(findings, "other-debugger"))
    assert any("debugs this cluster" in what for _, what in of(findings, "other-debugger"))
    go_on(client, stop)
    go_on(client, client.wait_event("stopped"))
    driver.wait_for("done")


def test_nothing_is_started_on_nodes_if_that_is_not_wanted(cluster: Cluster) -> None:
    def surveys() -> int:
        url = (
            f"{cluster.dashboard}/api/v0/actors?filter_keys=class_name&filter_predicates=%3D&filter_values=RaydapSurvey"
        )
        with urllib.request.urlopen(url) as answer:
            return int(json.load(answer)["data"]["result"]["total"])

    before = surveys()
    code, findings = doctor("--dashboard", cluster.dashboard, "--no-nodes")
    assert code == 0
    assert surveys() == before
    # This machine is inspected without Ray.
    assert [severity for severity, _ in of(findings, "debugpy")] == ["ok"]


def test_a_dashboard_that_is_none_skips_the_rest() -> None:
    code, findings = doctor("--dashboard", "http://127.0.0.1:1")
    assert code == 1
    assert "[raydap" not in findings[0]["what"]
    assert one_of(findings, "dashboard", "error")["what"].startswith("The Ray dashboard at http://127.0.0.1:1 cannot")
    assert {one["severity"] for one in findings} == {"error", "skipped"}
    assert one_of(findings, "timeouts", "skipped")["why"] == "The cluster does not answer."


def test_a_cluster_that_wants_a_token(tmp_path: Path) -> None:
    right = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}
    home = {"HOME": str(tmp_path)}
    with Cluster(num_cpus=1, network="127.81", env=right) as wary:
        code, findings = doctor("--dashboard", wary.dashboard, env=home)
        assert code == 1
        assert "requires a token" in one_of(findings, "token", "error")["what"]
        code, findings = doctor("--dashboard", wary.dashboard, env={**home, "RAY_AUTH_TOKEN": "b" * 63})
        assert code == 1
        assert "refuses the token" in one_of(findings, "token", "error")["what"]
        # The nodes are queried with the token, although the environment does not state that the cluster requires one.
        code, findings = doctor("--dashboard", wary.dashboard, env={**home, "RAY_AUTH_TOKEN": "a" * 64})
        assert of(findings, "token") == [("ok", "The cluster accepts the token.")]
        assert code == 0, findings
        assert [severity for severity, _ in of(findings, "nodes")] == ["ok"]


@pytest.mark.core
def test_a_worker_with_a_dead_adapter_and_one_with_another_debugger(
    cluster: Cluster, run_driver: Callable[..., Child], children: ExitStack
) -> None:
    run_driver(TWO_STOPS)
    dead, held = paused_workers(cluster, 2)
    other = children.enter_context(Client.connect(held["ip"], held["debugger_port"]))
    other.start_session("attach", {"justMyCode": False})
    findings = until(cluster, lambda all: any(severity == "warning" for severity, _ in of(all, "other-debugger")))
    found = one_of(findings, "other-debugger", "warning")
    assert f"(pid {held['pid']} on {cluster.host})" in found["subject"]
    assert f"(pid {os.getpid()})" in found["what"]
    assert found["what_to_do"] == f"kill {os.getpid()}"
    os.kill(processes.listening_on(dead["debugger_port"]), signal.SIGKILL)
    findings = until(cluster, lambda all: any(severity == "error" for severity, _ in of(all, "debug-port")))
    found = one_of(findings, "debug-port", "error")
    assert found["subject"] == f"collect (pid {dead['pid']} on {cluster.host})"
    assert found["what_to_do"] == f"kill {dead['pid']}"


def test_a_breakpoint_in_a_file_that_the_job_runs_a_copy_of(
    cluster: Cluster, run_driver: Callable[..., Child], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    module = project / "steps.py"
    module.write_text(MODULE)
    program = tmp_path / "packed.py"
    program.write_text(PACKED)
    run_driver(program, cwd=tmp_path).wait_for("training")
    options = ["--dashboard", cluster.dashboard, "--break", f"{module}:6", "--break", f"{module}:5"]
    code, findings = doctor(*options)
    assert code == 1
    by_line = [one for one in findings if one["check"] == "breakpoints" and one["subject"] == "steps.py:6"]
    copy, unreached = by_line
    assert copy["what_to_do"] == f'"workspaceFolder": "{project}"'
    assert "working_dir_files/_ray_pkg_" in copy["what"]
    assert "The copy differs" not in copy["why"]
    assert "neither a debugger nor an agent" in unreached["what"]
    assert unreached["what_to_do"] == "raydap run packed.py"
    moved = [one["what"] for one in findings if one["subject"] == "steps.py:5" and one["severity"] == "note"]
    assert moved[0] == "Line 5 of steps.py has no code: debuggers stop at line 4 instead."
    module.write_text(f"# Changed.\n{MODULE}")
    _, findings = doctor(*options)
    assert any("The copy differs from your file" in one["why"] for one in findings)


def test_a_prepared_job_with_misspelt_variables(
    cluster: Cluster, run_program: Callable[..., Child], tmp_path: Path
) -> None:
    """Check which processes have an agent and why, and how the variables are spelt."""
    program = tmp_path / "prepared.py"
    program.write_text(PREPARED)
    os.mkfifo(tmp_path / "fifo")
    command = f"import os, sys; os.execv(sys.executable, [sys.executable, '-m', 'raydap', 'run', {str(program)!r}])"
    driver = run_program(command, env={"RAY_ADDRESS": cluster.address}, cwd=tmp_path)
    pids = [driver.pid, *driver.wait_for(r"ready (\d+) (\d+)").groups()]
    code, findings = doctor("--dashboard", cluster.dashboard)
    assert code == 1
    check_reasons(of(findings, "reach"), [f"(pid {pid} on {cluster.host})" for pid in pids])
    check_variables({one["what"]: one["what_to_do"] for one in findings if one["check"] == "variables"})
    (tmp_path / "fifo").write_text("")
    assert driver.wait() == 0, driver.output


def check_reasons(told: list[tuple[str, str]], processes: list[str]) -> None:
    """Check the reasons of the driver, of an actor, and of an actor with RAYDAP=off."""
    reasons = [[what.partition(":")[0] for _, what in told if process in what] for process in processes]
    assert reasons == [
        ["With an agent, because `raydap run` has started the program, or it has the variables of `raydap prepare`"],
        ["With an agent, because the program was launched by raydap, or by `raydap run`"],
        ["Without an agent, because RAYDAP=off is in the environment"],
    ]


def check_variables(told: dict[str, str]) -> None:
    (name,) = [what for what in told if "RAY_DEBUG_POSTMORTEM" in what]
    assert told[name] == '"runtime_env": {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}'
    (value,) = [what for what in told if '"true"' in what]
    assert told[value] == '"runtime_env": {"env_vars": {"RAY_DEBUG": "1"}}'


@pytest.fixture(scope="module")
def legacy_cluster() -> Iterator[Cluster]:
    env, options = {"RAY_DEBUG": "legacy"}, ["--ray-debugger-external"]
    with Cluster(num_cpus=1, network="127.82", env=env, options=options) as started:
        yield started


@pytest.mark.core
def test_breakpoints_of_rays_old_debugger(
    cluster: Cluster, legacy_cluster: Cluster, run_program: Callable[..., Child], tmp_path: Path
) -> None:
    for place, post_mortem, mark in ((cluster, "0", "# waits"), (legacy_cluster, "1", "# fails")):
        program = tmp_path / f"legacy{post_mortem}.py"
        program.write_text(LEGACY)
        driver = run_program(program, post_mortem, env={"RAY_ADDRESS": place.address})
        driver.wait_for("session open")
        findings = until(place, lambda all: any("breakpoint waits" in what for _, what in of(all, "legacy-debugger")))
        found = [one for one in findings if one["check"] == "legacy-debugger"]
        line = next(number for number, text in enumerate(LEGACY.splitlines(), 1) if mark in text)
        assert found[0]["what"].startswith("A breakpoint waits for Ray's old debugger: collect")
        assert f"{program}:{line}." in found[0]["what"]
        assert re.fullmatch(rf"raydap debug --dashboard {place.dashboard} pid:\d+", found[0]["what_to_do"])
        assert any(one["what"].startswith("RAY_DEBUG=legacy is set for ") for one in found)
        assert any("--ray-debugger-external" in one["what"] for one in found) == (place is legacy_cluster)
        (row,) = asyncio.run(waiting(place))
        assert (row.path, row.line) == (str(program), line)
        assert (row.host, row.external) == ((place.host, True) if place is legacy_cluster else ("127.0.0.1", False))
        assert ("KeyError" in row.traceback) == (mark == "# fails")
        # A client gets a prompt of pdb, and later the last output.
        with socket.create_connection((row.host, row.port), timeout=WAIT) as pdb:
            said = b""
            while not said.endswith(b"(Pdb) "):
                said += pdb.recv(4096)
            pdb.sendall(b"continue\n")
            while pdb.recv(4096):
                pass
        driver.wait()
        assert "went on" in driver.output or mark == "# fails"
        assert asyncio.run(waiting(place)) == []


async def waiting(cluster: Cluster) -> list[LegacyBreakpoint]:
    rest = Rest(cluster.dashboard, clean_environment({}))
    try:
        workers = {worker.key: worker for worker in await Dashboard(rest).listed()}
    finally:
        await rest.close()
    return await legacy_breakpoints.find(cluster.address, clean_environment({}), workers)
