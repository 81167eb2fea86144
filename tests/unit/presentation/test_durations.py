"""The format of durations."""

import pytest

from raydap.presentation.durations import duration, seconds_in, whole_seconds


def test_durations_have_two_units_at_most() -> None:
    assert [duration(each) for each in (0.0381, 12.34, 312, 7500)] == ["38 ms", "12.3 s", "5m 12s", "2h 05m"]


def test_whole_seconds_are_empty_at_first() -> None:
    texts = [whole_seconds(each) for each in (-1, 0.9, 1, 59.9, 60, 3599, 3600, 90061)]
    assert texts == ["", "", "1 s", "59 s", "1m 00s", "59m 59s", "1h 00m", "25h 01m"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30.0), ("5m", 300.0), ("1.5h", 5400.0), ("2d", 172800.0), ("45", 45.0), ("250ms", 0.25)],
)
def test_written_durations(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "5 m", "-5m", "0", "0s", "5min", "1e3", "nan", "\N{ARABIC-INDIC DIGIT FIVE}m"]
)
def test_wrong_durations(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration. Write 30s, 5m or 1h"):
        seconds_in(text)
