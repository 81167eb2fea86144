"""Asking for all workers: each answer is reported, also after failures."""

import asyncio
from collections.abc import Mapping

from raydap.cluster.dashboard.alive_polling import AlivePolling
from raydap.cluster.dashboard.polls import Polls
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import PausedWorker, WorkerLabel, WorkersAlive
from raydap.protocol.types import WorkerKey
from support import virtual_time

WORKERS = {PausedWorker(WorkerKey("w1"), "10.0.0.7", 0): WorkerLabel(task="train")}
DOWN = ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))


def test_each_answer_is_reported_also_one_that_is_the_same() -> None:
    """A worker that was detached in the meantime is alive again, although Ray says nothing new."""
    events: list[WorkersAlive] = []
    answers: list[Mapping[PausedWorker, WorkerLabel] | Exception] = [WORKERS, DOWN, KeyError("worker_id"), WORKERS]

    async def ask() -> Mapping[PausedWorker, WorkerLabel]:
        if not answers:
            raise asyncio.CancelledError
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def main() -> None:
        await asyncio.wait([asyncio.ensure_future(AlivePolling(Polls(), ask, events.append).run())])

    virtual_time.run(main())
    assert events == [WorkersAlive(WORKERS)] * 2
