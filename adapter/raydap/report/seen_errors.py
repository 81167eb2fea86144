"""The errors that workers stopped for, grouped by type and place."""

from raydap.protocol.stack_messages import CodeLocation
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import ErrorRecord, LookRecord
from raydap.report.stop_looks import RaisedError
from raydap.report.watched_lines import Looks

PASSED_ON = ("RayTaskError", "RayActorError", "ActorDiedError")
"""Prefixes of the types that Ray raises where a result of a failed task or actor is awaited (ray/exceptions.py)."""


class SeenErrors:
    """The errors of one run. Errors of the same type that are raised at the same place are equal."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, CodeLocation | None], tuple[RaisedError, float, Looks]] = {}
        """The first of equal errors, the time of its stop, and the stops for all of them, by type and place."""

    def add(self, error: RaisedError, kind: str, look: LookRecord) -> bool:
        """Record a stop for an error in a worker of this kind; return whether no equal error was known before."""
        key = error.type, look.frames[-1].location if look.frames else None
        is_new = key not in self._errors
        _, _, looks = self._errors.setdefault(key, (error, look.time, Looks()))
        looks.add(kind, look)
        return is_new

    def records(self, workers: KnownWorkers) -> list[ErrorRecord]:
        """Return the errors in the order of their first stops.

        Errors that Ray passed on come last, because they only repeat the error of a failed task or actor.
        """
        found = [
            ErrorRecord(
                type=error.type,
                text=error.text,
                traceback=error.traceback,
                location=location,
                passed=error.type.startswith(PASSED_ON),
                count=sum(looks.counts.values()),
                label=workers.labels(looks.counts),
                first=time,
                tree=looks.tree(workers),
                looks=looks.kept(workers),
            )
            for (_, location), (error, time, looks) in self._errors.items()
        ]
        return sorted(found, key=lambda record: (record.passed, record.first))
