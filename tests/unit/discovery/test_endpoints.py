"""Explicit targets."""

from raydap.core.events import PausedWorker
from raydap.discovery.endpoints import targets
from raydap.protocol.types import WorkerKey


def test_each_target_is_named_once_in_order() -> None:
    assert targets(["b:2", "a:1", "b:2"]) == (
        PausedWorker(WorkerKey("b:2"), "b", 2, node="b", worker_type="TARGET"),
        PausedWorker(WorkerKey("a:1"), "a", 1, node="a", worker_type="TARGET"),
    )


def test_ipv6_brackets_are_not_part_of_the_host() -> None:
    (target,) = targets(["[::1]:5678"])
    assert (target.key, target.host, target.port) == ("[::1]:5678", "::1", 5678)
