"""A series never has more points than a chart can show."""

import math

from raydap.report.records import Point
from raydap.report.watched_lines import MAX_POINTS, MAX_TEXTS, TraceSeries


def point(number: int, **more: float | int | None) -> Point:
    values = {"time": float(number), "count": 1, "low": float(number), "high": float(number), "last": float(number)}
    return Point(**{**values, "nan": 0, "inf": 0, **more})  # type: ignore[arg-type]


def test_neighbours_become_one_and_nothing_is_lost() -> None:
    series = TraceSeries()
    for number in range(5000):
        series.add(point(number, nan=number % 2), "")
    assert len(series.points) < MAX_POINTS
    assert sum(each.count for each in series.points) == 5000
    assert sum(each.nan for each in series.points) == 2500
    assert series.points[0].low == 0.0
    assert (series.points[-1].high, series.points[-1].time) == (4999.0, 4999.0)
    times = [each.time for each in series.points]
    assert times == sorted(times)


def test_points_without_numbers_stay_without() -> None:
    series = TraceSeries()
    for number in range(MAX_POINTS):
        series.add(point(number, low=None, high=None, last=None, nan=1), "")
    assert {each.low for each in series.points} == {None}
    assert isinstance(series.last, float)
    assert math.isnan(series.last)


def test_only_new_texts_are_kept() -> None:
    series = TraceSeries()
    for number in range(100):
        series.add(point(number), f"'{number // 2}'")
    assert len(series.texts) == MAX_TEXTS
    assert series.texts[-1] == (98.0, "'49'")
    assert series.last == "'49'"
