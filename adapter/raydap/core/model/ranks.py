"""The numbers of the actors of a class."""

import heapq
import re
from collections.abc import Iterable

from raydap.presentation.numbers import natural_order
from raydap.protocol.raydap_messages import WorkerEntry

_OWN = re.compile(r"#(\d{1,9})$")


class Ranks:
    """An actor's own rank if it is known, else its place among the actors of its class, which it keeps while it lives.
    A later actor, such as a restarted one, gets the lowest free place.

    `own` are the ranks that workers report (RANK, torch.distributed), by their keys.
    """

    ASK_PAUSE_S = 10.0
    """Seconds for which a worker is not asked again that had no rank: it may get one later."""

    def __init__(self) -> None:
        self.own: dict[str, int] = {}
        self._asked: dict[str, float] = {}
        self._order: dict[tuple[str, str], dict[str, int]] = {}
        self._free: dict[tuple[str, str], list[int]] = {}
        """Heaps of the places of those that have ended."""
        self._classes: dict[str, tuple[str, str]] = {}

    def may_ask(self, key: str, now: float) -> bool:
        """Whether to ask a worker for its rank now; then it counts as asked."""
        if key in self.own or now < self._asked.get(key, float("-inf")) + self.ASK_PAUSE_S:
            return False
        self._asked[key] = now
        return True

    def count(self, entries: Iterable[WorkerEntry]) -> None:
        """Gives places to actors that have none. Those that come at once are in the order of names, nodes and pids."""
        for entry in sorted(entries, key=_order):
            if entry.actor and entry.type != "child":
                of = (entry.job, entry.actor)
                order, free = self._order.setdefault(of, {}), self._free.setdefault(of, [])
                if entry.key not in order:
                    order[entry.key] = heapq.heappop(free) if free else len(order)
                    self._classes[entry.key] = of

    def forget(self, key: str) -> None:
        """The worker has ended."""
        self.own.pop(key, None)
        self._asked.pop(key, None)
        of = self._classes.pop(key, None)
        if of is not None:
            heapq.heappush(self._free[of], self._order[of].pop(key))

    def of(self, entry: WorkerEntry) -> int | None:
        """None for what is no actor and has no rank of its own."""
        if entry.key in self.own:
            return self.own[entry.key]
        # Ray's list of actors says RANK of the env_vars of an actor (cluster/dashboard/labels.py).
        told = _OWN.search(entry.label.partition(" · ")[0]) if entry.actor else None
        if told is not None:
            return int(told[1])
        return self._order.get((entry.job, entry.actor), {}).get(entry.key)


def _order(entry: WorkerEntry) -> tuple[list[tuple[bool, int, str]], str, int]:
    return natural_order(entry.actor_name), entry.node, entry.pid
