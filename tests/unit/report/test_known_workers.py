"""The names of workers, and the counts of their pauses."""

import pytest

from raydap import steady_time
from raydap.report import known_workers
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import TimelineSpan
from support.report_records import entry


@pytest.fixture
def known() -> KnownWorkers:
    return KnownWorkers()


def test_workers_have_the_titles_of_the_session(known: KnownWorkers) -> None:
    known.take([entry("a", actor="Trainer", title="Trainer 0", rank=0), entry("t", title="prepare 9")])
    known.take([entry("b", actor="Trainer", title="Trainer 1", rank=1)])
    assert [known.label(key) for key in ("a", "t", "unknown")] == ["Trainer 0", "prepare 9", "worker"]
    assert (known.label("b"), known.labels(["a", "b", "unknown"])) == ("Trainer 1", "Trainer{0-1}")
    assert known.order("a") < known.order("b")


def test_a_worker_that_has_ended_keeps_its_name(known: KnownWorkers) -> None:
    known.take([entry("t", task="prepare", label="prepare")])
    known.take([entry("t", label="idle")])
    assert known.kind("t") == "prepare"
    known.take([entry("t", state="gone", problem="It was killed.")])
    known.used.add("t")
    (record,) = known.records(set())
    assert record.ended is not None
    assert record.problem == "It was killed."


def test_a_short_task_is_named_by_what_ray_says_later(known: KnownWorkers) -> None:
    known.take([entry("t", label="idle", pid=5)])
    known.take_tasks(
        [
            TimelineSpan(worker="t", name="prepare", start=1.0, end=2.0),
            TimelineSpan(worker="x", name="f", start=1.0, end=2.0),
        ]
    )
    assert (known.kind("t"), known.label("t"), known.kind("x")) == ("prepare", "prepare 5", "f")


def test_pauses_are_counted_and_kept(known: KnownWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(steady_time, "now", lambda: now[0])
    monkeypatch.setattr(known_workers, "MAX_SPANS", 2)
    known.take([entry("a", actor="Trainer", threads=[1001])])
    for _ in range(3):
        known.pause(1001, "breakpoint")
        assert [(each.worker, each.end) for each in known.open_pauses()] == [("a", None)]
        now[0] += 0.25
        assert known.resume(1001) == 0.25
        assert known.resume(1001) == 0.0
    (record,) = known.records(set())
    assert (record.pauses, record.paused) == (3, 0.75)
    assert (len(known.pauses), known.more) == (2, 1)


def test_only_workers_of_the_job_are_reported(known: KnownWorkers) -> None:
    known.take([entry("a", actor="Trainer"), entry("i", label="idle"), entry("o", actor="Other", job="02000000")])
    known.take([entry("d", type="driver", pid=77), entry("s", job="03000000", submission="raysubmit_x")])
    assert [each.key for each in known.records({"01000000"})] == ["a", "d"]
    assert known.jobs_of(None, 77) == {"01000000"}
    assert known.jobs_of("raysubmit_x", None) == {"03000000"}
    assert known.jobs_of("05000000", None) == set()
