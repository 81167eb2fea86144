"""Errors for which workers have stopped, equal ones together."""

from raydap.protocol.stack_messages import Location
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import ErrorRecord, LookRecord
from raydap.report.stop_looks import RaisedError
from raydap.report.watched_lines import Looks

PASSED_ON = ("RayTaskError", "RayActorError", "ActorDiedError")
"""Begin the types of errors that Ray passes on from a task or an actor to whoever waits for it (ray/exceptions.py)."""


class _Error:
    def __init__(self, first: RaisedError, location: Location | None, time: float) -> None:
        self.first = first
        self.location = location
        self.time = time
        self.count = 0
        self.keys: set[str] = set()
        self.looks = Looks()


class SeenErrors:
    def __init__(self) -> None:
        self._errors: dict[tuple[str, Location | None], _Error] = {}

    def __len__(self) -> int:
        """How many different ones there are."""
        return len(self._errors)

    def add(self, error: RaisedError, kind: str, look: LookRecord) -> bool:
        """Returns whether it is the first of its kind."""
        location = look.frames[-1].location if look.frames else None
        is_new = (error.type, location) not in self._errors
        seen = self._errors.setdefault((error.type, location), _Error(error, location, look.time))
        seen.count += 1
        seen.keys.add(look.worker)
        seen.looks.add(kind, look)
        return is_new

    def records(self, workers: KnownWorkers) -> list[ErrorRecord]:
        """Those that were passed on come last: they are others' errors."""
        found = [_record(each, workers) for each in self._errors.values()]
        return sorted(found, key=lambda record: (record.passed, record.first))


def _record(error: _Error, workers: KnownWorkers) -> ErrorRecord:
    return ErrorRecord(
        type=error.first.type,
        text=error.first.text,
        traceback=error.first.traceback,
        location=error.location,
        passed=error.first.type.startswith(PASSED_ON),
        count=error.count,
        label=workers.labels(error.keys),
        first=error.time,
        tree=error.looks.tree(workers),
        looks=error.looks.kept(workers),
    )
