"""The hits of each worker at a watched line, and the values seen there."""

from typing import Any

import pytest
from msgspec import UNSET

from raydap.report.known_workers import KnownWorkers
from raydap.report.records import RaisedError
from raydap.report.watch_arguments import WatchedLine
from raydap.report.watched_lines import FIRST_LOOKS, LAST_LOOKS, HitMessage, SeenErrors, WatchedLines
from support.report_records import entry, frame, look

BREAK = WatchedLine("/app/train.py", 4, "x > 1")
TRACE = WatchedLine("/app/train.py", 5, "", "loss")


def told(**more: Any) -> HitMessage:
    values = {
        "line": 0,
        "hits": 1,
        "failed": 0,
        "count": 0,
        "nan": 0,
        "inf": 0,
        "low": None,
        "high": None,
        "last": None,
    }
    return HitMessage(**{**values, "text": "", "error": "", **more})


@pytest.fixture
def workers() -> KnownWorkers:
    known = KnownWorkers()
    known.take(
        [
            entry(f"w{number}", actor="Trainer", title=f"Trainer {number}", rank=number, pid=number)
            for number in range(4)
        ]
    )
    known.take([entry("d", type="driver", title="driver train.py", label="driver train.py")])
    return known


def test_breakpoints_of_one_line_are_one() -> None:
    lines = WatchedLines([BREAK, TRACE, WatchedLine("/app/train.py", 5, "", "rate")], "@m@")
    ((file, specs),) = lines.breakpoints().items()
    assert (file, [spec["line"] for spec in specs]) == ("/app/train.py", [4, 5])
    assert "x > 1" in specs[0]["condition"]
    assert "logMessage" not in specs[0]
    assert specs[1]["logMessage"].count("'loss'") == specs[1]["logMessage"].count("'rate'") == 1
    assert "condition" not in specs[1]


def test_a_stop_is_found_by_the_breakpoint_or_by_its_place() -> None:
    lines = WatchedLines([BREAK, TRACE], "@m@")
    (specs,) = lines.breakpoints().values()
    lines.take_answers("/app/train.py", specs, [{"id": 0, "verified": False, "message": "No code."}, {"id": 7}])
    first = lines.at_stop({"hitBreakpointIds": [0]}, None)
    assert first is lines.lines[0] is lines.at_stop({}, ("/app/train.py", 4))
    assert (first.verified, first.message) == (False, "No code.")
    lines.take_breakpoint({"id": 0, "verified": True})
    assert first.verified
    call = lines.at_stop({}, ("/app/other.py", 9))
    assert call is not None
    assert call.call
    assert call is lines.at_stop({}, ("/app/other.py", 9))
    assert lines.at_stop({}, None) is None


def test_hits_are_counted_by_kind(workers: KnownWorkers) -> None:
    seen = WatchedLines([BREAK], "@m@").lines[0]
    seen.count_hits("w0", told(hits=5), 1.0)
    seen.count_hits("w1", told(hits=7), 1.0)
    # Another debugger in the same process starts its count at zero.
    seen.count_hits("w1", told(hits=2, failed=3, error="NameError: x"), 1.0)
    seen.stop("d")
    found = {each.kind: each for each in seen.record(workers).counts}
    assert (found["Trainer"].workers, found["Trainer"].hits) == (2, 14)
    assert (found["Trainer"].failed, found["Trainer"].error) == (3, "NameError: x")
    assert (found["driver"].hits, seen.hits) == (1, 15)


def test_the_last_looks_of_all_workers_are_compared(workers: KnownWorkers) -> None:
    seen = WatchedLines([BREAK], "@m@").lines[0]
    for number in range(4):
        for turn in range(8):
            rate = 0.2 if number == 3 else 0.1
            shown = look(f"w{number}", frame("main", 1), frame(turn=turn, rate=rate, loss=float(number)))
            seen.looks.add("Trainer", shown)
    record = seen.record(workers)
    assert len(record.looks) == FIRST_LOOKS + LAST_LOOKS
    (main,) = record.tree.children
    (step,) = main.children
    assert isinstance(step.locals, tuple)
    folded = {each.name: [(group.value, group.label) for group in each.groups] for each in step.locals}
    assert folded["turn"] == [("7", "Trainer{0-3}")]
    assert folded["rate"] == [("0.2", "Trainer 3"), ("0.1", "Trainer{0-2}")]
    assert (record.statistics["loss"].min, record.statistics["loss"].max) == (0.0, 3.0)


def test_values_of_a_trace(workers: KnownWorkers) -> None:
    seen = WatchedLines([TRACE], "@m@").lines[0]
    for number in range(3):
        seen.count_hits(f"w{number}", told(hits=2, count=2, low=0.5, high=1.0 + number, last=1.0 + number), 10.0)
    seen.count_hits("w3", told(count=1, nan=1), 10.0)
    seen.count_hits("d", told(count=1, text="'warm up'"), 10.0)
    record = seen.trace_record(workers)
    assert record.statistics is not UNSET
    assert (record.statistics.min, record.statistics.max, record.statistics.nan) == (1.0, 3.0, 1)
    assert (record.lowest, record.highest) == ("Trainer 0", "Trainer 2")
    assert [(each.text, each.label) for each in record.texts] == [("'warm up'", "driver train.py")]
    assert {each.label: each.hits for each in record.series}["Trainer 1"] == 2


def test_a_trace_that_no_worker_reached(workers: KnownWorkers) -> None:
    record = WatchedLines([TRACE], "@m@").lines[0].trace_record(workers)
    assert (record.statistics, record.series, record.counts) == (UNSET, (), ())


def test_equal_errors_are_one(workers: KnownWorkers) -> None:
    errors = SeenErrors()

    def error(kind: str, text: str) -> RaisedError:
        return RaisedError(type=kind, text=text, traceback="Traceback")

    first = error("ValueError", "3 is odd")
    assert errors.add(first, "Trainer", look("w1", frame(number=3)))
    assert not errors.add(error("ValueError", "5 is odd"), "Trainer", look("w2", frame(number=5)))
    assert errors.add(first, "Trainer", look("w1", frame(line=9)))
    assert errors.add(error("RayTaskError(ValueError)", ""), "driver", look("d", frame("main", 20), time=1.0))
    found = errors.records(workers)
    assert [(each.type, each.count, each.label, each.passed) for each in found] == [
        ("ValueError", 2, "Trainer{1-2}", False),
        ("ValueError", 1, "Trainer 1", False),
        ("RayTaskError(ValueError)", 1, "driver train.py", True),
    ]


def test_numbers_that_are_not_finite_have_no_lowest(workers: KnownWorkers) -> None:
    seen = WatchedLines([TRACE], "@m@").lines[0]
    seen.count_hits("w0", told(count=1, inf=1), 1.0)
    record = seen.trace_record(workers)
    assert record.statistics is not UNSET
    assert (record.statistics.inf, record.lowest, record.highest) == (1, "", "")
