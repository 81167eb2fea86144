"""How often the table of all actors is read."""

import threading

import pytest

from raydap.cluster.injection import actor_calls
from raydap.cluster.injection.actor_calls import ActorTable


class Reading:
    """A stand-in that returns a table of this many workers, and counts how often it is read."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.count = 0

    def __call__(self) -> list[tuple[str, int]]:
        self.count += 1
        return [(f"w{number}", number) for number in range(self.workers)]


def test_one_reading_serves_many_workers() -> None:
    reading = Reading(100)
    table = ActorTable(reading)
    found: list[object] = []
    threads = [threading.Thread(target=lambda at=at: found.append(table.find(f"w{at}"))) for at in range(200)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert reading.count == 1
    assert sorted(one for one in found if isinstance(one, int)) == list(range(100))


def test_a_new_actor_is_read_later(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(1)
    table = ActorTable(reading)
    assert (table.find("w0"), table.find("w1")) == (0, None)
    reading.workers = 2
    monkeypatch.setattr(actor_calls, "TABLE_AGE_S", 0.0)
    assert (table.find("w0"), reading.count) == (0, 1)
    assert (table.find("w1"), reading.count) == (1, 2)
