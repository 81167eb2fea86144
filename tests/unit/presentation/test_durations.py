"""The format of durations."""

from raydap.presentation.durations import duration, whole_seconds


def test_durations_have_two_units_at_most() -> None:
    assert [duration(each) for each in (0.0381, 12.34, 312, 7500)] == ["38 ms", "12.3 s", "5m 12s", "2h 05m"]


def test_whole_seconds_are_empty_at_first() -> None:
    texts = [whole_seconds(each) for each in (-1, 0.9, 1, 59.9, 60, 3599, 3600, 90061)]
    assert texts == ["", "", "1 s", "59 s", "1m 00s", "59m 59s", "1h 00m", "25h 01m"]
