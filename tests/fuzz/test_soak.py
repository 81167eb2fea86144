"""A few seconds of `python -m fuzz.soak`."""

from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.soak import GROWTH, Sample, growth, soak
from raydap.core.model import worker as workers


@pytest.mark.slow
def test_what_a_stop_takes_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "KEPT_SOURCES", 20)  # Each stack of the program has two new ones.
    samples = list(soak(tmp_path, stops=150, every=50))
    assert [sample.stops for sample in samples] == [50, 100, 150]
    assert growth(samples) == []
    assert samples[0].handles > 0


def test_growth_is_seen() -> None:
    sample = Sample(stops=1, resident=2**20, handles=5, requests=0, descriptors=10, tasks=3)
    assert growth([sample, replace(sample, stops=2)]) == []
    assert growth([sample, replace(sample, handles=6, resident=2**20 + GROWTH + 1)]) == ["handles", "memory"]
