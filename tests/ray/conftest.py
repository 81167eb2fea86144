"""Fixtures of the tests on a Ray cluster. Each test runs its own jobs; the cluster is shared."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support import two_machines
from support.look import attach_to
from support.two_machines import TwoMachines

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this directory as one that needs Ray."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.ray)


@pytest.fixture
def run_driver(cluster: Cluster, run_program: Callable[..., Child]) -> Callable[..., Child]:
    """Return `run_program` with the cluster's address in the environment."""

    def run(program: Path | str, *args: str, env: dict[str, str] | None = None, **more: object) -> Child:
        return run_program(program, *args, env={"RAY_ADDRESS": cluster.address, **(env or {})}, **more)

    return run


@pytest.fixture
def attach(client: Client, cluster: Cluster) -> Callable[..., Client]:
    """Return `attach(**arguments)`, which starts the session of `client` on the cluster and returns `client`."""

    def start(**arguments: object) -> Client:
        return attach_to(client, cluster, **arguments)

    return start


@pytest.fixture(scope="module")
def machines() -> Iterator[TwoMachines]:
    """Yield a cluster of two machines, a new one for each file because sessions leave their workers there."""
    if lacking := two_machines.missing():
        pytest.skip(lacking)
    with ExitStack() as stack:
        yield TwoMachines(stack)
