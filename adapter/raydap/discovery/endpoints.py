"""Explicit targets instead of discovery: plain debugpy processes, with or without Ray."""

from collections.abc import Iterable

from raydap.core.events import PausedWorker
from raydap.protocol.types import WorkerKey


def targets(workers: Iterable[str]) -> tuple[PausedWorker, ...]:
    """Each distinct `host:port` as a worker that waits. They are only named here, never dialled to look."""
    return tuple(_target(name) for name in dict.fromkeys(workers))


def _target(name: str) -> PausedWorker:
    host, _, port = name.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return PausedWorker(WorkerKey(name), host, int(port), node=host, worker_type="TARGET")
