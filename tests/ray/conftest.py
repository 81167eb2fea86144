"""One Ray cluster for the whole test session; jobs on it are per test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.look import attach_to

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this directory needs Ray."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.ray)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A head node on loopback with 8 nominal CPUs: tests ask for 0.1 per actor or task."""
    with Cluster(num_cpus=8) as started:
        yield started


@pytest.fixture
def run_driver(cluster: Cluster, run_program: Callable[..., Child]) -> Callable[..., Child]:
    """Like `run_program`, with the cluster's address in the environment."""

    def run(program: Path | str, *args: str, env: dict[str, str] | None = None, **more: object) -> Child:
        return run_program(program, *args, env={"RAY_ADDRESS": cluster.address, **(env or {})}, **more)

    return run


@pytest.fixture
def attach(client: Client, cluster: Cluster) -> Callable[..., Client]:
    """`attach(**arguments)` starts the session of `client` on the cluster, as an editor does, and returns `client`."""

    def start(**arguments: object) -> Client:
        return attach_to(client, cluster, **arguments)

    return start
