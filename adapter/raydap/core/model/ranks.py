"""The ranks of workers, and which classes of actors are numbered."""

from raydap.core.process_info import RayFacts
from raydap.protocol.types import WorkerKey


class Ranks:
    """The ranks that workers report, and the classes of which a job has created several actors.

    Only the actors of such a class have their rank in their name: the only actor of a class is called by the class.
    """

    ASK_PAUSE_S = 10.0
    """Seconds until a worker without a rank is asked again: it may get one later."""

    def __init__(self) -> None:
        self.own: dict[WorkerKey, int] = {}
        """The ranks that workers report (RANK, torch.distributed), by the workers' keys."""
        self.asking: set[WorkerKey] = set()
        """The workers that have not answered yet which rank they have."""
        self._asked: dict[WorkerKey, float] = {}
        self._numbered: set[tuple[str, str]] = set()
        """The classes with several actors, by job and class."""

    def may_ask(self, key: WorkerKey, now: float) -> bool:
        """Return whether to ask a worker for its rank now. If so, the worker counts as asked."""
        if key in self.own or now < self._asked.get(key, float("-inf")) + self.ASK_PAUSE_S:
            return False
        self._asked[key] = now
        return True

    def number_class(self, facts: RayFacts) -> bool:
        """Return whether these facts are the first that show that a class has several actors."""
        kind = facts.job, facts.actor
        if not facts.actor or kind in self._numbered or not _show_several(facts):
            return False
        self._numbered.add(kind)
        return True

    def forget(self, key: WorkerKey) -> None:
        """Forget a worker that has ended."""
        self.own.pop(key, None)
        self._asked.pop(key, None)

    def of(self, key: WorkerKey, facts: RayFacts) -> int | None:
        """Return the rank of a worker: the one that it reports, else the one in its facts; None without both."""
        return self.own.get(key, facts.rank)

    def is_numbered(self, facts: RayFacts) -> bool:
        """Return whether the names of a class's actors contain their ranks."""
        return (facts.job, facts.actor) in self._numbered or _show_several(facts)


def _show_several(facts: RayFacts) -> bool:
    return facts.created > 1 or bool(facts.rank)
