"""Asking for all workers: again and again, through failures, and never faster than the dashboard can bear."""

import asyncio
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import pytest

from raydap.cluster import alive_polling
from raydap.cluster.alive_polling import AlivePolling
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import PausedWorker, WorkerLabel, WorkersAlive
from raydap.protocol.types import WorkerKey

WORKERS = {PausedWorker(WorkerKey("w1"), "10.0.0.7", 0): WorkerLabel(task="train")}
DOWN = ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "The dashboard does not answer."))


class Asked:
    """Answers with these, each after so many seconds, or at once; then polling is cancelled. `pauses` are those between
    answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: object, seconds: Sequence[float] = ()) -> None:
        self.events: list[WorkersAlive] = []
        self.pauses: list[float] = []
        self._answers = list(answers)
        self._seconds = list(seconds)
        self._now = 0.0
        monkeypatch.setattr(alive_polling, "time", SimpleNamespace(monotonic=lambda: self._now))
        monkeypatch.setattr(alive_polling, "asyncio", SimpleNamespace(sleep=self._sleep))

    async def _ask(self) -> Mapping[PausedWorker, WorkerLabel] | None:
        if not self._answers:
            raise asyncio.CancelledError
        self._now += self._seconds.pop(0) if self._seconds else 0.0
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def run(self) -> None:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(AlivePolling(self._ask, self.events.append, 2.0).run())


def test_each_answer_is_told_also_one_that_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was let go meanwhile is alive again, although Ray says nothing new."""
    asked = Asked(monkeypatch, WORKERS, WORKERS)
    asked.run()
    assert asked.events == [WorkersAlive(WORKERS)] * 2


def test_a_failure_is_no_answer_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = Asked(monkeypatch, None, DOWN, KeyError("worker_id"), WORKERS)
    asked.run()
    assert asked.events == [WorkersAlive(WORKERS)]
    assert [record.getMessage() for record in caplog.records] == ["asking for all workers failed"]


@pytest.mark.parametrize(
    ("seconds", "pauses"),
    [
        ([0.0, 0.0, 0.0], [2.0, 2.0, 2.0]),
        ([0.1, 0.1, 0.1], [2.0, 2.0, 2.0]),
        ([0.5, 0.6, 0.7], [2.0, 5.0, 6.0]),
        ([9.0, 0.1, 9.0], [2.0, 2.0, 2.0]),
    ],
)
def test_the_pause_is_long_enough_for_a_dashboard_that_is_always_slow(
    monkeypatch: pytest.MonkeyPatch, seconds: list[float], pauses: list[float]
) -> None:
    asked = Asked(monkeypatch, WORKERS, DOWN, WORKERS, seconds=seconds)
    asked.run()
    assert asked.pauses == pytest.approx(pauses)
