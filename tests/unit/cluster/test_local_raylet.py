"""What the command line of a raylet tells of its cluster."""

from pathlib import Path

import pytest

from raydap.cluster.machine import local_raylet
from raydap.cluster.machine.local_raylet import LocalRaylet
from support.made_up_proc import add_process


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    words = {
        1: ["/x/raylet", "--node_id=n1", "--session-name=s1", "--gcs-address=10.0.0.1:1"],
        2: ["/x/raylet", "--node_id=n2", "--session-name=s2", "--gcs-address=10.0.0.2:2"],
        3: ["/x/raylet", "--node_id=n3"],
        4: ["python", "--node_id=n4", "--session-name=s4", "--gcs-address=10.0.0.4:4"],
    }
    for pid, command in words.items():
        add_process(tmp_path, pid, *command)
    return tmp_path


def test_the_cluster_is_known_by_one_of_its_nodes(proc: Path) -> None:
    assert local_raylet.find({"n0", "n2"}, proc) == LocalRaylet("s2", "10.0.0.2:2")


@pytest.mark.parametrize("nodes", [set(), {"n0"}, {"n3"}, {"n4"}])
def test_a_cluster_without_a_node_here_is_not_known(proc: Path, nodes: set[str]) -> None:
    assert local_raylet.find(nodes, proc) is None


def test_where_there_is_no_proc(tmp_path: Path) -> None:
    assert local_raylet.find({"n1"}, tmp_path / "none") is None
