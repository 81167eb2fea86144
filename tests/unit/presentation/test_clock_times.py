"""The format of times."""

import time
from collections.abc import Iterator

import pytest

from raydap.presentation.clock_times import clock, date


@pytest.fixture(autouse=True)
def _zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XYZ-02:00")
        time.tzset()
        yield
    time.tzset()


def test_times_are_those_of_this_machine() -> None:
    assert clock(60.0) == "02:01:00"
    assert date(60.0) == "1970-01-01 02:01:00 +0200"
