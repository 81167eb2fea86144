"""Jobs with RAY_DEBUG=legacy: `raydap ps` lists tasks that wait in Ray's old pdb, and `raydap debug` joins them."""

import json
import os
import re
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from local_cluster import RAY, Child, Cluster

from support.legacy_job import Job, line_of
from support.raydap_command import RAYDAP, environment, run
from support.terminal import Terminal
from support.tries import tries


@pytest.fixture
def job(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Yield a job. Its waiting tasks end with it, so that a failed test does not affect others."""
    job = Job(tmp_path_factory.mktemp("job"), cluster.address)
    with job.child:
        yield job


def waiting(cluster: Cluster, count: int) -> list[dict[str, Any]]:
    """Return the rows of the tasks in pdb, once there are this many: Ray lists new nodes and tasks a little late."""
    for _ in tries(60):
        rows = [row for row in listed(cluster) if row["state"] == "pdb" and row["task"]]
        if len(rows) == count:
            return rows
        assert cluster.child.process.poll() is None, rows
    raise AssertionError(rows)


def listed(cluster: Cluster, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(raydap("ps", cluster.dashboard, "--json", *arguments))
    return rows


def raydap(command: str, dashboard: str, *arguments: str, said: str = "") -> str:
    """Return the output of a command that gets `said` as its standard input."""
    is_merged = "--json" not in arguments
    code, output, errors = run([command, "--dashboard", dashboard, *arguments], environment(), said, is_merged)
    assert code == 0, output + errors
    return output


@contextmanager
def debugger(cluster: Cluster, tmp_path: Path, *arguments: str) -> Iterator[Terminal]:
    """Run `raydap debug` in a terminal."""
    env: Mapping[str, str] = {"XDG_STATE_HOME": str(tmp_path)}
    command = [*RAYDAP, "debug", "--dashboard", cluster.dashboard, *arguments]
    with Terminal(command, env, columns=160) as terminal:
        yield terminal


@pytest.mark.core
def test_ps_lists_them_and_the_debugger_joins_them(cluster: Cluster, job: Job) -> None:
    collect, divide = job.start("collect", "divide")
    rows = {row["task"]: row for row in waiting(cluster, 2)}
    table = raydap("ps", cluster.dashboard)
    stops, fails = line_of("breakpoint()"), line_of("# fails")
    assert re.search(rf"^pdb +collect .*{cluster.host} .* at breakpoint\(\) \(legacy.py:{stops}\)", table, re.M)
    assert re.search(rf"^pdb +divide .* post mortem \(legacy.py:{fails}\) ZeroDivisionError: ", table, re.M)
    assert "2 workers wait for Ray's old debugger; `pdb` in `raydap debug` joins a breakpoint." in table
    assert (rows["collect"]["file"], rows["collect"]["line"]) == (str(job.path), stops)
    assert rows["collect"]["age"] > 0
    assert rows["collect"]["pdb"]["error"] == ""
    assert rows["divide"]["pdb"]["error"] == "ZeroDivisionError: division by zero"
    assert rows["divide"]["pdb"]["external"] is False

    # pdb's own breakpoints are hit, and `q` has no effect.
    pids = {name: row["pid"] for name, row in rows.items()}
    lines = ["p total", f"b {line_of('# the second line')}", "c", "p total", "q", "restart", "cl 1", "continue"]
    said = raydap("debug", cluster.dashboard, f"pid:{pids['collect']}", said="\n".join(lines))
    assert f"legacy.py({line_of('# behind')})collect()" in said
    assert re.search(r"^0\nBreakpoint 1 at .*\n> .*\n-> .*\n1\n`quit` would end the task", said, re.M), said
    assert said.rstrip().endswith("The task continues.\nNo worker is attached.")
    job.child.wait_for(f"{collect} gives 4")

    # A post mortem shows the frame that failed. The task always ends with its own exception.
    said = raydap("debug", cluster.dashboard, said="pdb\np number\nq\n")
    assert f"divide {pids['divide']} waits for Ray's old debugger post mortem" in said
    assert re.search(r"^1\nThe task ends with its exception\.$", said, re.M)
    job.child.wait_for(f"{divide} fails: RayTaskError.ZeroDivisionError.")


def test_the_task_continues_whichever_way_the_client_leaves(cluster: Cluster, job: Job, tmp_path: Path) -> None:
    names = job.start("collect", "collect", "collect", "collect")
    with debugger(cluster, tmp_path) as terminal:
        # By Ctrl-D.
        terminal.wait_for("4 workers wait for Ray's old debugger; `pdb` lists them.")
        terminal.ask("pdb", "`pdb NUMBER` joins one of them.")
        terminal.ask("pdb 1", r"^\(pdb collect\) $|^\(pdb collect\)$")
        terminal.ask("p 40 + 2", "^42$")
        terminal.press("\x04")
        terminal.wait_for(r"^collect \d+ keeps running\.$")
        job.wait_for_results(names, 1)
        # By Ctrl-C, twice, while pdb is busy.
        begun, done = tmp_path / "begun", tmp_path / "done"
        terminal.ask("pdb 2", r"This is the pdb of collect \d+\.")
        until_done = f"any(0 for _ in iter(lambda: __import__('os').path.exists({str(done)!r}), True))"
        terminal.line(f"!open({str(begun)!r}, 'w').close() or {until_done}")
        job.wait_until(begun.exists)
        terminal.send("\x03")
        terminal.wait_for("pdb is still executing this line")
        terminal.send("\x03")
        terminal.wait_for("Cancelled.")
        done.touch()
        job.wait_for_results(names, 2)
        # By a killed raydap, which cannot detach.
        terminal.ask("pdb 3", r"This is the pdb of collect \d+\.")
        os.kill(terminal.process.pid, signal.SIGKILL)
        job.wait_for_results(names, 3)
    # By the end of the input.
    assert re.search(r"collect \d+ keeps running\.", raydap("debug", cluster.dashboard, said="pdb\nn\n"))
    job.wait_for_results(names, 4)


def test_a_task_is_ended_on_purpose_only(cluster: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    said = raydap("debug", cluster.dashboard, said="pdb\nquit\nquit!\n")
    assert "`quit!` to end it" in said
    assert "The task ends with bdb.BdbQuit." in said
    # Ray's post mortem is on, so the exception waits in pdb, too.
    job.wait_for_more(1)
    waiting(cluster, 1)
    said = raydap("debug", cluster.dashboard, "collect", said="c\n")
    assert "*** bdb.BdbQuit" in said
    job.child.wait_for(f"{name} fails: RayTaskError.BdbQuit.")


def test_a_worker_that_is_killed_while_it_is_joined(cluster: Cluster, job: Job, tmp_path: Path) -> None:
    (name,) = job.start("collect")
    waiting(cluster, 1)
    with debugger(cluster, tmp_path, "collect") as terminal:
        terminal.wait_for(r"This is the pdb of collect \d+\.")
        pid = int(terminal.ask("p __import__('os').getpid()", r"^(\d+)$")[1])
        os.kill(pid, signal.SIGKILL)
        terminal.ask("p 1", r"The connection to collect \d+ is lost: its process or its node has died\.")
        terminal.wait_for(r"^\(raydap\)")
    job.child.wait_for(f"{name} fails: WorkerCrashedError")


def test_remote_and_get_lead_on(cluster: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    # From collect into child, from the end of child to the ray.get of collect, and from there to the driver's.
    said = raydap("debug", cluster.dashboard, said="pdb\nremote\nn\np number\nget\nw\nget\nw\nc\n")
    assert re.search(r"^--Call--\n> .*child\(\)$", said, re.M), said
    assert re.search(r"^-> return number \* 2  # in the child\n\d+$", said, re.M), said
    assert re.search(r"^-> return ray.get\(child.remote\(total\)\)$", said, re.M), said
    assert re.search(r"wait\(\).*\n-> print\(f", said), said
    job.child.wait_for(f"{name} gives ")
    job.wait_for_more(3)


def test_remote_where_no_call_comes(cluster: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    said = raydap("debug", cluster.dashboard, said="pdb\nremote\nn\nremote\n")
    assert "The task has ended without such a call." in said
    job.child.wait_for(f"{name} gives ")
    job.wait_for_more(1)


def test_a_watched_list_follows(cluster: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    with Terminal([*RAYDAP, "ps", "--watch", "--dashboard", cluster.dashboard], columns=140) as terminal:
        terminal.wait_for(r"^pdb +collect ")
        raydap("debug", cluster.dashboard, said="pdb\ncontinue\n")
        job.child.wait_for(f"{name} gives ")
        while "pdb  " in terminal.text:
            assert terminal.process.poll() is None, terminal.text


def test_a_pdb_that_other_machines_reach(cluster: Cluster, job: Job, tmp_path: Path) -> None:
    host = cluster.host.replace("127.77.", "127.84.")
    command = [sys.executable, "-c", RAY, "start", "--block", "--disable-usage-stats"]
    command += [f"--address={cluster.address}", f"--node-ip-address={host}", "--num-cpus=1", '--resources={"open": 1}']
    command += ["--dashboard-agent-listen-port=0", "--ray-debugger-external"]
    with Child(command, tmp_path / "node.log", {"RAY_DEBUG": "legacy"}):
        (name,) = job.start("collect", resource="open")
        (row,) = waiting(cluster, 1)
        assert (row["node"], row["pdb"]["host"], row["pdb"]["external"]) == (host, host, True)
        assert "The task continues." in raydap("debug", cluster.dashboard, "collect", said="c\n")
        job.child.wait_for(f"{name} gives ")
    # Otherwise Ray could connect the driver of the next test to a dead node.
    wait_for_end_of_node(cluster, host)


def wait_for_end_of_node(cluster: Cluster, host: str) -> None:
    """Wait until Ray lists the node as dead (ray/util/state/common.py, NodeState)."""
    deadline = time.monotonic() + 60
    while True:
        with urllib.request.urlopen(f"{cluster.dashboard}/api/v0/nodes", timeout=30) as answer:
            nodes = json.load(answer)["data"]["result"]["result"]
        if all(node["state"] == "DEAD" for node in nodes if node["node_ip"] == host):
            return
        assert time.monotonic() < deadline, nodes
        time.sleep(0.05)
