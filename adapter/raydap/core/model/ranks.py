"""The ranks of the actors of a class."""

import heapq
import re
from collections.abc import Iterable

from raydap.presentation.numbers import natural_order
from raydap.protocol.raydap_messages import WorkerEntry

_OWN = re.compile(r"#(\d{1,9})$")


class Ranks:
    """The ranks of actors: an actor's own rank if it is known, else its place among the actors of its class.

    An actor keeps its place while it lives. A later actor, such as a restarted one, gets the lowest free place.
    """

    ASK_PAUSE_S = 10.0
    """Seconds until a worker without a rank is asked again: it may get one later."""

    def __init__(self) -> None:
        self.own: dict[str, int] = {}
        """The ranks that workers report (RANK, torch.distributed), by the workers' keys."""
        self._asked: dict[str, float] = {}
        self._order: dict[tuple[str, str], dict[str, int]] = {}
        """The places of actors, by job and class."""
        self._free: dict[tuple[str, str], list[int]] = {}
        """Heaps of the places of actors that have ended, by job and class."""
        self._classes: dict[str, tuple[str, str]] = {}

    def may_ask(self, key: str, now: float) -> bool:
        """Return whether to ask a worker for its rank now. If so, the worker counts as asked."""
        if key in self.own or now < self._asked.get(key, float("-inf")) + self.ASK_PAUSE_S:
            return False
        self._asked[key] = now
        return True

    def count(self, entries: Iterable[WorkerEntry]) -> None:
        """Assign places to actors that have none. New actors are ordered by name, node and pid."""
        for entry in sorted(entries, key=_order):
            if entry.actor and entry.type != "child":
                of = (entry.job, entry.actor)
                order, free = self._order.setdefault(of, {}), self._free.setdefault(of, [])
                if entry.key not in order:
                    order[entry.key] = heapq.heappop(free) if free else len(order)
                    self._classes[entry.key] = of

    def forget(self, key: str) -> None:
        """Free the place of a worker that has ended."""
        self.own.pop(key, None)
        self._asked.pop(key, None)
        of = self._classes.pop(key, None)
        if of is not None:
            heapq.heappush(self._free[of], self._order[of].pop(key))

    def of(self, entry: WorkerEntry) -> int | None:
        """Return the rank of a worker; None if it is no actor and has no rank of its own."""
        if entry.key in self.own:
            return self.own[entry.key]
        # The label ends with RANK if the actor's env_vars contain it (cluster/dashboard/ray_facts.py).
        found = _OWN.search(entry.label.partition(" · ")[0]) if entry.actor else None
        if found is not None:
            return int(found[1])
        return self._order.get((entry.job, entry.actor), {}).get(entry.key)


def _order(entry: WorkerEntry) -> tuple[list[tuple[bool, int, str]], str, int]:
    return natural_order(entry.actor_name), entry.node, entry.pid
