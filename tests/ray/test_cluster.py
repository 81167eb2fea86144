"""The fixtures of this directory do what the tests rely on."""

import json
import urllib.request
from collections.abc import Callable

from local_cluster import Child, Cluster

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
