"""The counts and reports of a watched line in a worker, without a debugger."""

import json
import math
import threading
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import line_hits
from raydap.inworker.line_hits import LineHits

MARK = "@mark@"


@pytest.fixture
def sent() -> list[str]:
    return []


@pytest.fixture
def hits(sent: list[str], monkeypatch: pytest.MonkeyPatch) -> LineHits:
    """Return a LineHits that sends to `sent`. In a worker, `value_text` is in the same module."""
    monkeypatch.setattr(line_hits, "value_text", repr)
    monkeypatch.setattr(LineHits, "_flush_later", lambda self: None)
    return LineHits(sent.append)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(line_hits, "_hit_time", lambda: now[0])
    return now


def told(text: str) -> dict[str, Any]:
    assert text.startswith(MARK)
    assert text.endswith(MARK)
    found: dict[str, Any] = json.loads(text.removeprefix(MARK).removesuffix(MARK))
    return found


def test_few_of_many_hits_stop_and_all_are_counted(hits: LineHits, sent: list[str], clock: list[float]) -> None:
    stops = [number for number in range(1, 2001) if hits.stops(7, MARK, "", {}, {})]
    assert stops == [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    assert [told(each)["hits"] for each in sent] == stops
    clock[0] += line_hits.PAUSE_S
    assert not hits.stops(7, MARK, "", {}, {})
    assert (told(sent[-1])["line"], told(sent[-1])["hits"]) == (7, 2001)


def test_messages_come_after_the_machines_clock_was_set_back(
    hits: LineHits, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    day, since_start = [1e9], [100.0]
    clocks = SimpleNamespace(time=lambda: day[0], monotonic=lambda: since_start[0])
    monkeypatch.setattr(line_hits, "time", clocks)
    for _ in range(9):
        hits.message(1, MARK, "x", {}, {"x": 1})
    day[0] -= 3600
    since_start[0] += 2 * line_hits.PAUSE_S
    assert told(hits.message(1, MARK, "x", {}, {"x": 2}))["hits"] == 10


def test_a_condition_is_the_users(hits: LineHits, sent: list[str]) -> None:
    limit = {"limit": 2}
    assert [hits.stops(1, MARK, "n > limit", limit, {"n": n}) for n in range(4)] == [False, False, False, True]
    assert told(sent[-1])["hits"] == 1


def test_a_condition_that_fails_is_reported_and_stops_no_thread(hits: LineHits, sent: list[str]) -> None:
    assert not any(hits.stops(1, MARK, "missing > 1", {}, {}) for _ in range(5))
    assert told(sent[0])["error"] == "NameError: name 'missing' is not defined"
    assert (told(sent[0])["hits"], told(sent[0])["failed"]) == (0, 1)


def test_values_between_two_messages_are_sent_together(hits: LineHits, clock: list[float]) -> None:
    first = told(hits.message(1, MARK, "x", {}, {"x": 1}))
    assert (first["count"], first["low"], first["high"], first["last"]) == (1, 1.0, 1.0, 1.0)
    for value in (5, -2.5, math.nan, math.inf, True):
        assert hits.message(1, MARK, "x", {}, {"x": value}) == ""
    clock[0] += line_hits.PAUSE_S
    second = told(hits.message(1, MARK, "x", {}, {"x": 3}))
    assert second == {
        "line": 1,
        "hits": 7,
        "failed": 0,
        "count": 6,
        "nan": 1,
        "inf": 1,
        "low": -2.5,
        "high": 5.0,
        "last": 3.0,
        "text": "",
        "error": "",
    }


def test_pending_values_of_a_quiet_line_are_sent(hits: LineHits, sent: list[str], clock: list[float]) -> None:
    assert hits.message(1, MARK, "x", {}, {"x": 1})
    assert not hits.message(1, MARK, "x", {}, {"x": 2})
    assert [hits.stops(2, MARK, "", {}, {}) for _ in range(5)] == [True, True, True, True, False]
    sent.clear()
    assert hits.flush_idle()
    assert sent == []
    clock[0] += line_hits.QUIET_S
    assert not hits.flush_idle()
    assert [(told(each)["line"], told(each)["hits"]) for each in sent] == [(1, 2), (2, 5)]
    clock[0] += line_hits.QUIET_S
    assert not hits.flush_idle()
    assert len(sent) == 2


def test_a_thread_sends_them_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: Queue[str] = Queue()
    monkeypatch.setattr(line_hits, "value_text", repr)
    hits = LineHits(sent.put)
    for number in range(100):
        hits.message(1, MARK, "x", {}, {"x": number})
    assert told(sent.get(timeout=30))["hits"] == 100
    for thread in threading.enumerate():
        if thread.name == "raydap":
            thread.join(30)
    assert not [thread for thread in threading.enumerate() if thread.name == "raydap"]


def test_a_line_that_is_hit_for_long_reports_less_often(hits: LineHits, clock: list[float]) -> None:
    messages = 0
    for _ in range(100_000):
        clock[0] += 0.5
        messages += hits.message(1, MARK, "1", {}, {}) != ""
    assert 500 < messages < 4000


class Scalar:
    shape = ()

    def __float__(self) -> float:
        return 2.5


class Broken(Scalar):
    def __float__(self) -> float:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "last", "text"),
    [(Scalar(), 2.5, ""), ("a", None, "'a'"), ([1], None, "[1]"), (10**400, None, ""), (None, None, "None")],
)
def test_what_is_a_number(hits: LineHits, value: object, last: float | None, text: str) -> None:
    found = told(hits.message(1, MARK, "x", {}, {"x": value}))
    assert found["last"] == last
    assert found["text"] == text or isinstance(value, int)


def test_an_expression_that_fails_is_reported(hits: LineHits) -> None:
    found = told(hits.message(1, MARK, "1 /\n 0", {}, {}))
    assert (found["error"], found["failed"], found["count"]) == ("ZeroDivisionError: division by zero", 1, 0)
    assert told(hits.message(2, MARK, "float(x)", {}, {"x": Broken()}))["error"].startswith("RuntimeError")
