"""Programs on a cluster of two machines: the far one has its own sockets, which only the relay reaches."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, clean_environment

from support import legacy_job
from support.everybody import Everybody
from support.far_programs import DOCTORED, KEEPS, KILLED, PAUSED, PROGRAM, RUNNING, UNPREPARED
from support.gdb import need_gdb
from support.launched import STARTS_PYTHONS, ended, line_of, stopped_line
from support.legacy_job import Job
from support.look import go_on, problems
from support.raydap_command import environment
from support.two_machines import FAR, HEAD, TwoMachines

WAIT_S = 120.0


PLACES = ["# in a task", "# in __init__", "# in a method", "# beside raydap", "# in a forked child", "# in the driver"]


@pytest.fixture
def bridge_log(tmp_path: Path) -> Path:
    return tmp_path / "raydap.log"


@pytest.fixture
def far_client(machines: TwoMachines, children: ExitStack, bridge_log: Path) -> Client:
    """Return a client of a bridge on the head."""
    command = [*machines.head, sys.executable, "-m", "raydap", "adapter", "-v", "--log-file", str(bridge_log)]
    environment = clean_environment({"TMPDIR": str(machines.private)})
    return children.enter_context(Client.spawn(command, timeout=60, env=environment))


def launch(client: Client, machines: TwoMachines, folder: Path, source: str, *texts: str, **more: object) -> None:
    program = folder / "program.py"
    program.write_text(source)
    where = {"dashboard": machines.dashboard, "program": str(program), "cwd": str(folder)}
    environment = {"RAY_ADDRESS": machines.address}
    breakpoints = {str(program): [line_of(source, text) for text in texts]}
    arguments = {**where, "env": environment, **more}
    client.start_session("launch", arguments, breakpoints=breakpoints, filters=["uncaught"])


@pytest.mark.parametrize("submit", [False, True])
def test_the_first_line_that_runs_there_stops(
    far_client: Client, machines: TwoMachines, tmp_path: Path, bridge_log: Path, submit: bool
) -> None:
    launch(far_client, machines, tmp_path, PROGRAM, *PLACES, submit=submit, python=sys.executable)
    seen = []
    for _ in range(6):
        stop = far_client.wait_event("stopped")
        seen.append(stopped_line(far_client, stop).partition("# ")[2])
        go_on(far_client, stop)
    assert sorted(seen) == sorted(text[2:] for text in PLACES)
    assert "result: ['done', 7, 'near']" in ended(far_client)
    assert problems(far_client) == []
    assert bridge_log.read_text().count("connected to the agents on node ") == 1, "the head needs no relay"


@pytest.mark.parametrize("submit", [False, True])
def test_pythons_that_workers_start_there_stop_though_raydap_is_not_installed_there(
    far_client: Client, machines: TwoMachines, tmp_path: Path, submit: bool
) -> None:
    with machines.without_raydap():
        source = STARTS_PYTHONS.replace("num_cpus=0.1", 'num_cpus=0.1, resources={"far": 0.1}')
        # A single task is enough here.
        source = source.replace("(2, 3)", "(2,)")
        launch(far_client, machines, tmp_path, source, "# in a child", submit=submit, python=sys.executable)
        for parents in ("child of driver", ("child of run", "child of worker")):
            stop = far_client.wait_event("stopped")
            assert stopped_line(far_client, stop).endswith("# in a child")
            (name,) = (
                each["name"] for each in far_client.request("threads")["threads"] if each["id"] == stop["threadId"]
            )
            assert name.startswith(parents)
            go_on(far_client, stop)
        assert "result: [2, 4]" in ended(far_client)
    assert problems(far_client) == []


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGKILL)


def test_workers_of_both_machines_continue_when_raydap_is_killed(
    far_client: Client, machines: TwoMachines, tmp_path: Path, children: ExitStack
) -> None:
    launch(far_client, machines, tmp_path, KILLED, "# in a worker", python=sys.executable)
    pid = far_client.wait_event("process")["systemProcessId"]
    program = os.pidfd_open(pid)
    children.callback(os.close, program)
    children.callback(kill, program)
    nodes = set()
    for _ in range(2):
        far_client.wait_event("stopped")
    for row in far_client.request("raydap/workers")["workers"]:
        nodes |= {row["node"]} if row["state"] == "stopped" else set()
    assert nodes == {HEAD, FAR}
    raydap = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(raydap, signal.SIGKILL)
    assert select.select([program], [], [], 60)[0], "the program hangs"
    assert (tmp_path / "done").read_text() == "[2, 2]"


def test_a_driver_on_the_other_machine_is_reached(
    far_client: Client, machines: TwoMachines, tmp_path: Path, children: ExitStack
) -> None:
    program = tmp_path / "program.py"
    program.write_text(RUNNING)
    children.callback((tmp_path / "stop").touch)
    command = [*machines.far, sys.executable, "-m", "raydap", "run", str(program)]
    environment = {"RAY_ADDRESS": machines.address, "TMPDIR": str(machines.private)}
    driver = children.enter_context(Child(command, tmp_path / "driver.log", environment))
    driver.wait_for("running")
    breakpoints = {str(program): [line_of(RUNNING, text) for text in ("# in the driver", "# in a worker")]}
    far_client.start_session("attach", {"dashboard": machines.dashboard}, breakpoints=breakpoints)
    stop = far_client.wait_event("stopped")
    assert stopped_line(far_client, stop).endswith("# in the driver")
    (listed,) = (row for row in far_client.request("raydap/workers")["workers"] if row["state"] == "stopped")
    assert listed["node"] == FAR
    line = {"line": line_of(RUNNING, "# in a worker")}
    far_client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[line])
    (tmp_path / "stop").touch()
    go_on(far_client, stop)
    stop = far_client.wait_event("stopped")
    assert stopped_line(far_client, stop).endswith("# in a worker")
    go_on(far_client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output
    assert problems(far_client) == []


def test_the_other_machine_has_an_actor_as_soon_as_a_program_is_prepared(
    far_client: Client, machines: TwoMachines, tmp_path: Path, bridge_log: Path, children: ExitStack
) -> None:
    program, paused = tmp_path / "program.py", tmp_path / "paused.py"
    program.write_text(PROGRAM)
    paused.write_text(PAUSED)
    environment = {"RAY_ADDRESS": machines.address}
    before = relays(machines)
    wait_for(lambda: not machines.agents())  # Those of an earlier test would be a prepared program.
    with machines.without_firewall():
        plain = children.enter_context(
            Child([*machines.head, sys.executable, str(paused)], tmp_path / "1", environment)
        )
        breakpoints = {str(program): [line_of(PROGRAM, text) for text in ("# in a task", "# in __init__")]}
        far_client.start_session("attach", {"dashboard": machines.dashboard}, breakpoints=breakpoints)
        stop = far_client.wait_event("stopped")
        (listed,) = (row for row in far_client.request("raydap/workers")["workers"] if row["state"] == "stopped")
        assert listed["node"] == FAR
        wait_for(lambda: "no prepared program in this cluster" in bridge_log.read_text())
        go_on(far_client, stop)
        assert plain.wait() == 0, plain.output
    assert relays(machines) == before
    command = [*machines.head, sys.executable, "-m", "raydap", "run", str(program)]
    driver = children.enter_context(Child(command, tmp_path / "2", environment))
    seen = []
    for _ in range(2):
        stop = far_client.wait_event("stopped")
        seen.append(stopped_line(far_client, stop).partition("# ")[2])
        go_on(far_client, stop)
    assert sorted(seen) == ["in __init__", "in a task"]
    assert driver.wait() == 0, driver.output
    assert relays(machines) == before + 1
    assert problems(far_client) == []


def relays(machines: TwoMachines) -> int:
    """Return how many actors of raydap the cluster has had."""
    return sum(actor["class_name"] == "RaydapRelay" for actor in machines.actors())


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_gdb_reaches_all_workers_there_and_the_pythons_that_they_start(
    far_client: Client, machines: TwoMachines, tmp_path: Path, bridge_log: Path, children: ExitStack
) -> None:
    """Ray may run the tasks with gdb in the very workers that are to be reached, or in workers of each other."""
    need_gdb()
    program = tmp_path / "program.py"
    child = tmp_path / "child.py"
    child.write_text("code = 7\nexit(code)\n")
    program.write_text(UNPREPARED.replace("END", repr(str(tmp_path / "end"))).replace("CHILD", repr(str(child))))
    command = [*machines.head, sys.executable, str(program)]
    driver = children.enter_context(Child(command, tmp_path / "driver.log", {"RAY_ADDRESS": machines.address}))
    breakpoints = {str(program): [line_of(UNPREPARED, "# loop")], str(child): [2]}
    arguments = {"dashboard": machines.dashboard, "reach": "any"}
    far_client.start_session("attach", arguments, breakpoints=breakpoints, filters=["uncaught"])
    stop = far_client.wait_event("stopped")
    assert "# loop" in stopped_line(far_client, stop)
    everybody = Everybody(far_client)
    # A task that runs gdb may end, with its worker, before it has an agent.
    everybody.wait(
        lambda it: all(
            worker["agent"] or worker["state"] == "gone" for worker in it.workers.values() if worker["node"] == FAR
        )
    )
    (tmp_path / "end").touch()
    far_client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    with machines.without_raydap():
        go_on(far_client, stop)
        stop = far_client.wait_event("stopped")
        assert stopped_line(far_client, stop) == "exit(code)"
        go_on(far_client, stop)
        assert driver.wait() == 0, driver.output
    assert "result: 7" in driver.output
    assert problems(far_client) == []
    assert len(re.findall("started an agent in .* by gdb on its node", bridge_log.read_text())) > 1


def test_native_code_there_is_shown_from_outside(
    far_client: Client, machines: TwoMachines, tmp_path: Path, children: ExitStack
) -> None:
    program, fifo = tmp_path / "program.py", tmp_path / "fifo"
    program.write_text(KEEPS.replace("FIFO", repr(str(fifo))))
    os.mkfifo(fifo)
    command = [*machines.head, sys.executable, str(program)]
    driver = children.enter_context(Child(command, tmp_path / "driver.log", {"RAY_ADDRESS": machines.address}))
    with fifo.open("wb", buffering=0) as end:  # Opening returns when the task has opened the FIFO, too.
        far_client.start_session("attach", {"dashboard": machines.dashboard})
        worker = Everybody(far_client).one("keep")
        assert worker["node"] == FAR
        place = "blocked in native code below keep (program.py:9)"
        threads: list[dict[str, Any]] = []

        def is_there() -> bool:
            threads[:] = far_client.request("raydap/stack", worker=worker["key"])["threads"]
            return any(thread["place"] == place for thread in threads)

        wait_for(is_there)
        (thread,) = (thread for thread in threads if thread["place"] == place)
        frame = next(each for each in thread["frames"] if each["isUsers"])
        assert {each["name"]: each["value"] for each in frame["variables"]}["words"] == '["kept"]'
        end.write(b"12345")
    assert driver.wait() == 0, driver.output
    assert "result: kept" in driver.output
    assert problems(far_client) == []


def doctor(machines: TwoMachines, *options: str) -> list[dict[str, Any]]:
    command = [*machines.head, sys.executable, "-m", "raydap", "doctor", "--json", *options]
    env = clean_environment({"TMPDIR": str(machines.private)})
    done = subprocess.run(command, env=env, capture_output=True, timeout=WAIT_S, check=False)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_doctor_looks_at_the_other_machine_through_ray_though_raydap_is_not_installed_there(
    machines: TwoMachines, children: ExitStack, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(DOCTORED)
    command = [*machines.head, sys.executable, str(program)]
    driver = children.enter_context(Child(command, tmp_path / "driver.log", {"RAY_ADDRESS": machines.address}))
    driver.wait_for("ready")
    # Otherwise the doctor would have to be run repeatedly.
    wait_for(lambda: len(machines.paused_workers()) == 1)
    with machines.without_raydap():
        findings = doctor(machines, "--dashboard", machines.dashboard, "--break", f"{program}:10")
    assert any(one["check"] == "dashboard" and "1 of them paused" in one["what"] for one in findings)
    by_check = {name: [one for one in findings if one["check"] == name] for name in {one["check"] for one in findings}}
    assert [one["what"] for one in by_check["nodes"]] == ["2 nodes reported processes and versions."]
    (python,) = by_check["python-version"]
    assert HEAD in python["what"]
    assert FAR in python["what"]
    blocked = [one for one in by_check["route"] if one["severity"] == "note"]
    assert [one["subject"] for one in blocked] == [FAR]
    assert "through Ray" in blocked[0]["why"]
    (value,) = by_check["variables"]
    assert value["subject"] == "actor Trainer"
    # The debug port can be seen only on that machine.
    assert [one["what"] for one in by_check["debug-port"]] == [
        "A process listens at the debug port of each worker that has one."
    ]
    reached = [one["what"] for one in by_check["breakpoints"] if one["severity"] == "ok"]
    assert any(f"on {FAR})" in what for what in reached)


def test_a_pdb_of_rays_old_debugger_there_is_reached_over_the_relay(
    machines: TwoMachines, children: ExitStack, tmp_path: Path
) -> None:
    job = Job(tmp_path, machines.address, machines.head, TMPDIR=str(machines.private))
    children.enter_context(job.child)
    (name,) = job.start("collect", resource="far")
    command = [*machines.head, sys.executable, "-m", "raydap", "debug", "--dashboard", machines.dashboard]
    done = subprocess.run(
        command,
        input="pdb\np total\nn\nc\n",
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=WAIT_S,
        env=environment(),
        check=True,
    )
    assert f"legacy.py({legacy_job.line_of('# the second line')})collect()" in done.stdout
    assert "The task continues." in done.stdout
    job.child.wait_for(f"{name} gives 4")
