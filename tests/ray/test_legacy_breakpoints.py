"""Clusters that run with RAY_DEBUG=legacy: `raydap ps` lists what waits in Ray's old pdb, `raydap debug` joins it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from local_cluster import RAY, Child, Cluster

from support.raydap_command import environment
from support.terminal import Terminal
from support.two_machines import TwoMachines

RAYDAP = [sys.executable, "-m", "raydap"]

PROGRAM = """\
import os
import sys
import threading
import time
import ray

@ray.remote(num_cpus=0.1, max_retries=0)
def child(number):
    return number * 2  # in the child

@ray.remote(num_cpus=0.1, max_retries=0)
def collect(number):
    total = number
    breakpoint()
    total += 1  # behind breakpoint()
    total += 1  # the second line
    return ray.get(child.remote(total))

@ray.remote(num_cpus=0.1, max_retries=0)
def divide(number):
    return number / 0  # fails

def wait(name, work):
    try:
        print(f"{name} gives {ray.get(work)}", flush=True)
    except Exception as error:
        print(f"{name} fails: {type(error).__name__}", flush=True)

ray.init(runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1", "RAY_DEBUG": "legacy"}})
tasks = {"collect": collect, "divide": divide}
# A file in this folder, such as `3.collect.far`, starts a task where that resource is.
folder, known = sys.argv[1], set()
while True:
    for name in sorted(set(os.listdir(folder)) - known):
        known.add(name)
        number, task, resource = name.split(".")
        resources = {resource: 0.1} if resource else {}
        work = tasks[task].options(resources=resources).remote(int(number))
        threading.Thread(target=wait, args=(f"{task} {number}", work), daemon=True).start()
    time.sleep(0.02)
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


class Job:
    """PROGRAM on a cluster. `output` has what it and its tasks print."""

    def __init__(self, folder: Path, address: str, where: Sequence[str] = (), **env: str) -> None:
        self.path = folder / "legacy.py"
        self.path.write_text(PROGRAM)
        self._files = folder / "tasks"
        self._files.mkdir()
        self._count = self._waiting = 0
        # Ray would print equal lines of several workers once.
        environment = {"RAY_ADDRESS": address, "RAY_DEDUP_LOGS": "0", **env}
        command = [*where, sys.executable, str(self.path), str(self._files)]
        self.child = Child(command, folder / "driver.log", environment)

    def start(self, *tasks: str, resource: str = "") -> list[str]:
        """Returns when all of them wait in pdb: what the job calls each, such as `collect 0`."""
        names = []
        for task in tasks:
            (self._files / f"{self._count}.{task}.{resource}").touch()
            names.append(f"{task} {self._count}")
            self._count += 1
        self.wait_for_more(len(tasks))
        return names

    def wait_for_more(self, count: int) -> None:
        """Until so many more than before have said that they wait."""
        self._waiting += count
        self.wait_until(lambda: self.child.output.count("session open") >= self._waiting)

    def wait_for_results(self, names: Sequence[str], count: int) -> None:
        """Until so many of these tasks have given a result."""
        self.wait_until(lambda: sum(f"{name} gives " in self.child.output for name in names) >= count)

    def wait_until(self, is_so: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert self.child.process.poll() is None, self.child.output
            assert time.monotonic() < deadline, self.child.output
            time.sleep(0.02)


@pytest.fixture(scope="module")
def legacy() -> Iterator[Cluster]:
    with Cluster(num_cpus=2, network="127.83", env={"RAY_DEBUG": "legacy"}) as started:
        yield started


@pytest.fixture
def job(legacy: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """What still waits ends with it, so that a test that fails spoils no other."""
    job = Job(tmp_path_factory.mktemp("job"), legacy.address)
    with job.child:
        yield job


def waiting(cluster: Cluster, count: int) -> list[dict[str, Any]]:
    """The rows of those that wait in pdb, as soon as there are so many: Ray lists new nodes and tasks a little late."""
    deadline = time.monotonic() + 60
    while len(rows := [row for row in listed(cluster) if row["state"] == "pdb" and row["task"]]) != count:
        assert cluster.child.process.poll() is None, rows
        assert time.monotonic() < deadline, rows
    return rows


def listed(cluster: Cluster, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(raydap("ps", cluster.dashboard, "--json", *arguments))
    return rows


def raydap(command: str, dashboard: str, *arguments: str, said: str = "", where: Sequence[str] = ()) -> str:
    """What a command writes, whose standard input is `said`."""
    done = subprocess.run(
        [*where, *RAYDAP, command, "--dashboard", dashboard, *arguments],
        input=said,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if not arguments or arguments[0] != "--json" else None,
        timeout=120,
        env=environment(),
        check=True,
    )
    return done.stdout


@contextmanager
def debugger(cluster: Cluster, tmp_path: Path, *arguments: str) -> Iterator[Terminal]:
    """`raydap debug` in a terminal."""
    env: Mapping[str, str] = {"XDG_STATE_HOME": str(tmp_path)}
    command = [*RAYDAP, "debug", "--dashboard", cluster.dashboard, *arguments]
    with Terminal(command, env, columns=160) as terminal:
        yield terminal


@pytest.mark.core
def test_ps_lists_them_and_the_debugger_joins_them(legacy: Cluster, job: Job) -> None:
    collect, divide = job.start("collect", "divide")
    waiting(legacy, 2)
    table = raydap("ps", legacy.dashboard)
    stops, fails = line_of("breakpoint()"), line_of("# fails")
    assert re.search(rf"^pdb +collect .*{legacy.host} .* at breakpoint\(\) \(legacy.py:{stops}\)", table, re.M)
    assert re.search(rf"^pdb +divide .* post mortem \(legacy.py:{fails}\) ZeroDivisionError: ", table, re.M)
    assert "2 wait for Ray's old debugger; `pdb` in `raydap debug` joins them." in table
    rows = {row["task"]: row for row in waiting(legacy, 2)}
    assert (rows["collect"]["file"], rows["collect"]["line"]) == (str(job.path), stops)
    assert rows["collect"]["age"] > 0
    assert rows["collect"]["pdb"]["error"] == ""
    assert rows["divide"]["pdb"]["error"] == "ZeroDivisionError: division by zero"
    assert rows["divide"]["pdb"]["external"] is False

    # The breakpoints of pdb's own are hit, and `q` harms nothing.
    pids = {name: row["pid"] for name, row in rows.items()}
    lines = ["p total", f"b {line_of('# the second line')}", "c", "p total", "q", "restart", "cl 1", "continue"]
    said = raydap("debug", legacy.dashboard, f"pid:{pids['collect']}", said="\n".join(lines))
    assert f"legacy.py({line_of('# behind')})collect()" in said
    assert re.search(r"^0\nBreakpoint 1 at .*\n> .*\n-> .*\n1\n`quit` would end the task", said, re.M), said
    assert said.rstrip().endswith("The task runs on.\n0 workers run on.")
    job.child.wait_for(f"{collect} gives 4")

    # A post mortem shows the frame that failed; it ends with the task's own exception in any case.
    said = raydap("debug", legacy.dashboard, said="pdb\np number\nq\n")
    assert f"divide (pid {pids['divide']}) waits for Ray's old debugger post mortem" in said
    assert re.search(r"^1\nThe task ends with its exception\.$", said, re.M)
    job.child.wait_for(f"{divide} fails: RayTaskError.ZeroDivisionError.")


def test_whoever_leaves_lets_the_task_run_on(legacy: Cluster, job: Job, tmp_path: Path) -> None:
    names = job.start("collect", "collect", "collect", "collect")
    with debugger(legacy, tmp_path) as terminal:
        # By Ctrl-D.
        terminal.wait_for("4 workers wait for Ray's old debugger; `pdb` lists them.")
        terminal.ask("pdb", "`pdb NUMBER` joins one of them.")
        terminal.ask("pdb 1", r"^\(pdb collect\) $|^\(pdb collect\)$")
        terminal.ask("p 40 + 2", "^42$")
        terminal.press("\x04")
        terminal.wait_for("^collect runs on.$")
        job.wait_for_results(names, 1)
        # By Ctrl-C, twice, while pdb is busy.
        begun, done = tmp_path / "begun", tmp_path / "done"
        terminal.ask("pdb 2", "This is the pdb of collect.")
        until_done = f"any(0 for _ in iter(lambda: __import__('os').path.exists({str(done)!r}), True))"
        terminal.line(f"!open({str(begun)!r}, 'w').close() or {until_done}")
        job.wait_until(begun.exists)
        terminal.send("\x03")
        terminal.wait_for("pdb answers when this line is done")
        terminal.send("\x03")
        terminal.wait_for("Cancelled.")
        done.touch()
        job.wait_for_results(names, 2)
        # By the end of raydap, which has no time to say anything.
        terminal.ask("pdb 3", "This is the pdb of collect.")
        os.kill(terminal.process.pid, signal.SIGKILL)
        job.wait_for_results(names, 3)
    # Because the input is over.
    assert "collect runs on." in raydap("debug", legacy.dashboard, said="pdb\nn\n")
    job.wait_for_results(names, 4)


def test_a_task_is_ended_on_purpose_only(legacy: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    said = raydap("debug", legacy.dashboard, said="pdb\nquit\nquit!\n")
    assert "`quit!` ends it" in said
    assert "The task ends with bdb.BdbQuit." in said
    # Ray's post mortem is on, so that the end waits in pdb, too.
    job.wait_for_more(1)
    waiting(legacy, 1)
    said = raydap("debug", legacy.dashboard, "collect", said="c\n")
    assert "*** bdb.BdbQuit" in said
    job.child.wait_for(f"{name} fails: RayTaskError.BdbQuit.")


def test_a_worker_that_is_killed_meanwhile(legacy: Cluster, job: Job, tmp_path: Path) -> None:
    (name,) = job.start("collect")
    waiting(legacy, 1)
    with debugger(legacy, tmp_path, "collect") as terminal:
        terminal.wait_for("This is the pdb of collect.")
        pid = int(terminal.ask("p __import__('os').getpid()", r"^(\d+)$")[1])
        os.kill(pid, signal.SIGKILL)
        terminal.ask("p 1", "The connection to collect is gone: its process, or its node, has died.")
        terminal.wait_for(r"^\(raydap\)")
    job.child.wait_for(f"{name} fails: WorkerCrashedError")


def test_remote_and_get_lead_on(legacy: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    # From collect into child, from its end to the ray.get of collect, and from there to that of the driver.
    said = raydap("debug", legacy.dashboard, said="pdb\nremote\nn\np number\nget\nw\nget\nw\nc\n")
    assert re.search(r"^--Call--\n> .*child\(\)$", said, re.M), said
    assert re.search(r"^-> return number \* 2  # in the child\n\d+$", said, re.M), said
    assert re.search(r"^-> return ray.get\(child.remote\(total\)\)$", said, re.M), said
    assert re.search(r"wait\(\).*\n-> print\(f", said), said
    job.child.wait_for(f"{name} gives ")
    job.wait_for_more(3)


def test_remote_where_no_call_comes(legacy: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    said = raydap("debug", legacy.dashboard, said="pdb\nremote\nn\nremote\n")
    assert "It has ended without such a call." in said
    job.child.wait_for(f"{name} gives ")
    job.wait_for_more(1)


def test_a_watched_list_follows(legacy: Cluster, job: Job) -> None:
    (name,) = job.start("collect")
    with Terminal([*RAYDAP, "ps", "--watch", "--dashboard", legacy.dashboard], columns=140) as terminal:
        terminal.wait_for(r"^pdb +collect ")
        raydap("debug", legacy.dashboard, said="pdb\ncontinue\n")
        job.child.wait_for(f"{name} gives ")
        while "pdb  " in terminal.text:
            assert terminal.process.poll() is None, terminal.text


def test_a_pdb_that_other_machines_reach(legacy: Cluster, job: Job, children: ExitStack, tmp_path: Path) -> None:
    host = legacy.host.replace("127.83", "127.84")
    command = [sys.executable, "-c", RAY, "start", "--block", "--disable-usage-stats"]
    command += [f"--address={legacy.address}", f"--node-ip-address={host}", "--num-cpus=1", '--resources={"open": 1}']
    command += ["--dashboard-agent-listen-port=0", "--ray-debugger-external"]
    children.enter_context(Child(command, tmp_path / "node.log", {"RAY_DEBUG": "legacy"}))
    (name,) = job.start("collect", resource="open")
    (row,) = waiting(legacy, 1)
    assert (row["node"], row["pdb"]["host"], row["pdb"]["external"]) == (host, host, True)
    assert "The task runs on." in raydap("debug", legacy.dashboard, "collect", said="c\n")
    job.child.wait_for(f"{name} gives ")


def test_a_pdb_of_another_machine_is_reached_over_the_relay(
    machines: TwoMachines, children: ExitStack, tmp_path: Path
) -> None:
    job = Job(tmp_path, machines.address, machines.head, TMPDIR=str(machines.private))
    children.enter_context(job.child)
    (name,) = job.start("collect", resource="far")
    said = raydap("debug", machines.dashboard, said="pdb\np total\nn\nc\n", where=machines.head)
    assert f"legacy.py({line_of('# the second line')})collect()" in said
    assert "The task runs on." in said
    job.child.wait_for(f"{name} gives 4")
