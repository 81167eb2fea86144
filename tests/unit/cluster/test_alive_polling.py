"""Polling for all workers and for the nodes: which answers are reported, also after failures."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from raydap.cluster.ray_cluster import RayCluster
from raydap.core.events import Event, NodesAlive, WorkersAlive
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.core.settings import AttachSettings
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey
from support import virtual_time

WORKERS = {ProcessInfo(WorkerKey("w1"), "10.0.0.7", 0): RayFacts(task="train")}
DOWN = ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))
ONE, TWO = {"n1": "10.0.0.1"}, {"n1": "10.0.0.1", "n2": "10.0.0.2"}


class Answers:
    """A dashboard that gives these answers in turn to any request."""

    def __init__(self, answers: Iterable[Any]) -> None:
        self.left = list(answers)

    async def alive(self) -> Any:
        if not self.left:
            raise asyncio.CancelledError
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    nodes = alive


def source_of(dashboard: Answers, emit: Callable[[Event], None]) -> RayCluster:
    source = RayCluster(AttachSettings(), emit, environ={})
    source._dashboard = dashboard  # type: ignore[assignment]
    source._jobs.listed.set()
    return source


def test_each_answer_is_reported_even_if_it_is_unchanged() -> None:
    """A worker that was detached in the meantime must become alive again, although Ray's answer has not changed."""
    events: list[Event] = []

    async def main() -> None:
        source = source_of(Answers([WORKERS, DOWN, KeyError("worker_id"), WORKERS]), events.append)
        await asyncio.wait([asyncio.ensure_future(source.watch_alive())])

    virtual_time.run(main())
    assert events == [WorkersAlive(WORKERS)] * 2


def test_only_changes_of_the_nodes_are_reported() -> None:
    events: list[Event] = []
    several: list[bool] = []
    answers: list[Mapping[str, str]] = [ONE, ONE, TWO, {}]

    async def main() -> None:
        source = source_of(dashboard := Answers(answers), events.append)
        while dashboard.left:
            await source._poll_nodes()
            several.append(source._several_nodes.is_set())

    asyncio.run(main())
    assert events == [NodesAlive(ONE), NodesAlive(TWO), NodesAlive({})]
    assert several == [False, False, True, False]
