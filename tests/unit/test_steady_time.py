"""Durations stay correct when the machine's clock jumps."""

import time

import pytest

from raydap import steady_time


def test_it_is_the_time_of_day() -> None:
    assert abs(steady_time.now() - time.time()) < 60


def test_a_clock_that_is_set_back_does_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = steady_time.now()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert 0 <= steady_time.now() - before < 60
