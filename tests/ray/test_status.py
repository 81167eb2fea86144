"""`raydap status` on a real cluster, with a hub, a session and a worker whose debugger has died."""

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dap_client import Client
from local_cluster import Child, Cluster, clean_environment

from support import processes
from support.forked_command import forked_command
from support.raydap_command import run
from support.tries import tries

TWO_STOPS = """\
import ray

@ray.remote(num_cpus=0.1)
def collect():
    breakpoint()

ray.init()
ray.get([collect.remote(), collect.remote()])
"""

RAYDAP = [sys.executable, "-m", "raydap"]
WAIT = 60.0


def test_hubs_sessions_and_paused_and_stuck_workers_are_shown(
    cluster: Cluster, run_driver: Callable[..., Child], children: ExitStack, tmp_path: Path
) -> None:
    env = clean_environment({"XDG_RUNTIME_DIR": str(tmp_path)})

    def status(*options: str) -> str:
        code, output, errors = run(["status", *options], env)
        assert code == 0, errors
        return output

    def here() -> dict[str, Any]:
        """Return this cluster's status, or {} if `problem` reports that the machine was too busy to list processes."""
        _, text = forked_command(["status", "--json"], tmp_path / "status.log", {"XDG_RUNTIME_DIR": str(tmp_path)})
        answer = json.loads(text)
        found = [one for one in answer["clusters"] if one["dashboard"] == cluster.dashboard]
        assert len(found) == 1 or answer["problem"], answer
        return dict(found[0]) if found else {}

    def when(done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Repeat the command until the result is as expected, because Ray's lists lag."""
        for _ in tries(WAIT):
            found = here()
            if found and done(found):
                return found
        raise AssertionError(found)

    command = [*RAYDAP, "serve", "--dashboard", cluster.dashboard]
    hub = children.enter_context(Child(command, tmp_path / "hub.log", {"XDG_RUNTIME_DIR": str(tmp_path)}))
    url = hub.wait_for(r"raydap connect (\S+)")[1]
    editor = children.enter_context(Client.spawn([*RAYDAP, "connect"], env=env))
    # The filter matches no worker.
    editor.start_session("attach", {"actor": "Nobody"})
    program = tmp_path / "collecting.py"
    program.write_text(TWO_STOPS)
    run_driver(program)

    found = when(lambda one: [worker["name"] for worker in one["paused"]] == ["collect", "collect"])
    assert found["ours"]
    assert found["jobs"] == ["collecting.py"]
    assert [worker["stuck"] for worker in found["paused"]] == [False, False]
    dead, alive = found["paused"]
    os.kill(processes.listening_on(dead["port"]), signal.SIGKILL)
    found = when(lambda one: any(worker["stuck"] for worker in one["paused"]))
    assert {worker["worker"]: worker["stuck"] for worker in found["paused"]} == {
        dead["worker"]: True,
        alive["worker"]: False,
    }

    everything = json.loads(status("--json"))
    (known,) = [one for one in everything["hubs"] if one["url"] == url]
    assert (known["pid"], known["clients"], known["debugs"]) == (hub.pid, 1, [cluster.dashboard])
    (session,) = [one for one in everything["sessions"] if url in one["debugs"]]
    assert session["command"] == "connect"

    lines = status().splitlines()
    assert any(line.startswith(f"  {url}  pid {hub.pid}, since ") for line in lines)
    assert any(line.startswith(f"    collect  pid {dead['pid']} on {cluster.host}, stuck: ") for line in lines)
    assert f"    collect  pid {alive['pid']} on {cluster.host}" in lines
    editor.request("disconnect")
