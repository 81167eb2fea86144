"""The errors that workers stopped for, grouped by type and place."""

from raydap.protocol.stack_messages import CodeLocation
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import ErrorRecord, LookRecord
from raydap.report.stop_looks import RaisedError
from raydap.report.watched_lines import Looks

PASSED_ON = ("RayTaskError", "RayActorError", "ActorDiedError")
"""Prefixes of the types that Ray raises where a result of a failed task or actor is awaited (ray/exceptions.py)."""


class _Error:
    def __init__(self, first: RaisedError, location: CodeLocation | None, time: float) -> None:
        self.first = first
        self.location = location
        self.time = time
        self.count = 0
        self.keys: set[str] = set()
        self.looks = Looks()


class SeenErrors:
    """The errors of one run. Errors of the same type that are raised at the same place are equal."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, CodeLocation | None], _Error] = {}

    def __len__(self) -> int:
        """Return the number of different errors."""
        return len(self._errors)

    def add(self, error: RaisedError, kind: str, look: LookRecord) -> bool:
        """Record a stop for an error in a worker of this kind; return whether no equal error was known before."""
        location = look.frames[-1].location if look.frames else None
        is_new = (error.type, location) not in self._errors
        seen = self._errors.setdefault((error.type, location), _Error(error, location, look.time))
        seen.count += 1
        seen.keys.add(look.worker)
        seen.looks.add(kind, look)
        return is_new

    def records(self, workers: KnownWorkers) -> list[ErrorRecord]:
        """Return the errors in the order of their first stops.

        Errors that Ray passed on come last, because they only repeat the error of a failed task or actor.
        """
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
