"""`raydap doctor` on a cluster of two machines. The other one has processes and sockets of its own, behind a firewall,
and raydap is not installed there."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from local_cluster import Child, clean_environment

from support.two_machines import FAR, HEAD, TwoMachines

WAIT = 120.0

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1}, runtime_env={"env_vars": {"RAY_DEBUG": "yes"}})
class Trainer:
    def ready(self):
        return "ready"

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def collect():
    breakpoint()

ray.init()
trainer = Trainer.remote()
print(ray.get(trainer.ready.remote()), flush=True)
ray.get(collect.remote())
"""


def ask(machines: TwoMachines, *options: str) -> list[dict[str, Any]]:
    command = [*machines.head, sys.executable, "-m", "raydap", "doctor", "--json", *options]
    env = clean_environment({"TMPDIR": str(machines.private)})
    ended = subprocess.run(command, env=env, capture_output=True, timeout=WAIT, check=False)
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def test_a_far_machine_is_looked_at_through_ray(machines: TwoMachines, children: ExitStack, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [*machines.head, sys.executable, str(program)]
    driver = children.enter_context(Child(command, tmp_path / "driver.log", {"RAY_ADDRESS": machines.address}))
    driver.wait_for("ready")
    with machines.without_raydap():
        deadline = time.monotonic() + WAIT
        findings: list[dict[str, Any]] = []
        while not any(one["check"] == "dashboard" and "1 of all paused" in one["what"] for one in findings):
            assert time.monotonic() < deadline, findings
            findings = ask(machines, "--dashboard", machines.dashboard, "--break", f"{program}:10")
    by_check = {name: [one for one in findings if one["check"] == name] for name in {one["check"] for one in findings}}
    assert [one["what"] for one in by_check["nodes"]] == ["2 nodes said what is there."]
    (python,) = by_check["python-version"]
    assert HEAD in python["what"]
    assert FAR in python["what"]
    blocked = [one for one in by_check["route"] if one["severity"] == "note"]
    assert [one["subject"] for one in blocked] == [FAR]
    assert "over Ray" in blocked[0]["why"]
    (value,) = by_check["variables"]
    assert value["subject"] == "actor Trainer"
    # Its debug port is seen there, and nowhere else.
    assert [one["what"] for one in by_check["debug-port"]] == [
        "Something listens at the debug port of each worker that has one."
    ]
    reached = [one["what"] for one in by_check["breakpoints"] if one["severity"] == "ok"]
    assert any(f"on {FAR})" in what for what in reached)
