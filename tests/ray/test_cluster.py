"""The fixtures of this directory do what the tests rely on."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from local_cluster import Child, Cluster

from support import light_setup_worker

_PROGRAM = """
import ray

ray.init()
print("result: " + str(ray.get(ray.remote(num_cpus=0.1)(lambda: 6 * 7).remote())))
"""


def test_a_driver_runs_on_the_cluster_of_the_session(run_driver: Callable[..., Child]) -> None:
    driver = run_driver(_PROGRAM)
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output


def test_the_dashboard_knows_the_head_node_by_its_loopback_address(cluster: Cluster) -> None:
    """Other tests add nodes to the cluster, and Ray lists these even after they have ended."""
    with urllib.request.urlopen(f"{cluster.dashboard}/api/v0/nodes") as answer:
        nodes = json.load(answer)["data"]["result"]["result"]
    assert [node["node_ip"] for node in nodes if node["is_head_node"]] == [cluster.host]


_WORKER = """
import json
import os
import sys

print(json.dumps([sys.argv, dict(os.environ)]))
"""


def test_a_worker_with_a_runtime_env_starts_as_by_rays_own_file(tmp_path: Path) -> None:
    package = find_spec("ray")
    assert package is not None
    assert package.origin is not None
    rays = Path(package.origin).parent / "_private" / "workers" / "setup_worker.py"
    worker = tmp_path / "worker.py"
    worker.write_text(_WORKER)
    variables = {"PLAIN": "it's $HOME", "LONGER": "${PLAIN}:more", "EMPTY": "<${NO_SUCH_VARIABLE}>"}
    context = {
        "command_prefix": ["cd", str(tmp_path), "&&"],
        "env_vars": variables,
        "py_executable": f"{sys.executable} -s",
        "override_worker_entrypoint": None,
        "java_jars": [],
    }
    words = [str(worker), "--a=it's", "--language=PYTHON", f"--serialized-runtime-env-context={json.dumps(context)}"]
    light, full = (
        json.loads(
            subprocess.run([sys.executable, file, *words, "--b", "two words"], capture_output=True, check=True).stdout
        )
        for file in (light_setup_worker.__file__, rays)
    )
    # Each import of Ray sets this variable: that of Ray's file, that of the worker, and one in this process.
    for _, environment in (light, full):
        environment.pop("RAY_CLIENT_MODE", None)
    assert light == full
    assert full[0] == [str(worker), "--a=it's", "--b", "two words"]
    assert full[1]["LONGER"] == f"it's {os.environ['HOME']}:more"
