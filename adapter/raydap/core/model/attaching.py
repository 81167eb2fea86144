"""The workers whose attach is under way, and how many more attaches may begin."""

from collections.abc import Iterator

from raydap.protocol.types import WorkerKey

AT_ONCE = 128
"""The most attaches on one node that are under way and not slow.

24 attaches take 0.4 s on two cores (measured). In this time raydap and the debuggers of the node are busy.
"""

MAX_ATTACHING = 512
"""The most attaches that may be under way in the whole cluster. Each holds a connection."""

SLOW_S = 2.0
"""Seconds after which an attach no longer delays others: a worker that does not answer needs no processor."""


class Attaching:
    """A set of workers that counts its new members on each node."""

    def __init__(self) -> None:
        self._nodes: dict[WorkerKey, str] = {}
        self._new: dict[str, dict[WorkerKey, float]] = {}
        """The start times of the attaches that are not slow yet, by node."""

    def __iter__(self) -> Iterator[WorkerKey]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def begin(self, key: WorkerKey, node: str, now: float) -> None:
        """Add a worker whose attach begins now."""
        self._nodes[key] = node
        self._new.setdefault(node, {})[key] = now

    def end(self, key: WorkerKey) -> None:
        """Remove a worker, if it is in the set."""
        node = self._nodes.pop(key, None)
        if node is not None:
            self._forget(node, key)

    def has_room(self, node: str) -> bool:
        """Return whether another attach may begin on this node."""
        return len(self._new.get(node, ())) < AT_ONCE and len(self) < MAX_ATTACHING

    def pass_over_slow(self, now: float) -> None:
        """Stop counting the attaches that are slow. Called at every Tick."""
        for node, new in list(self._new.items()):
            for key in [key for key, begun in new.items() if now - begun >= SLOW_S]:
                self._forget(node, key)

    def _forget(self, node: str, key: WorkerKey) -> None:
        new = self._new.get(node, {})
        new.pop(key, None)
        if not new:
            self._new.pop(node, None)


class AttachQueue:
    """Workers that wait to be attached, each for its own reason. Some may have ended or been attached by now."""

    def __init__(self) -> None:
        self.to_examine: dict[WorkerKey, None] = {}
        """The workers to examine for the first time, or again after a change that concerns them."""
        self.without_room: dict[WorkerKey, None] = {}
        """The workers that wait until maxWorkers allows another one, oldest first."""
        self._chosen: dict[str, dict[WorkerKey, None]] = {}
        """The workers chosen by the user that wait until fewer are being attached on their node, by node."""
        self._others: dict[str, dict[WorkerKey, None]] = {}
        """The other workers that wait until fewer are being attached on their node, by node."""

    def __len__(self) -> int:
        """Return the number of workers that wait for anything but maxWorkers."""
        waiting = [waiting for nodes in (self._chosen, self._others) for waiting in nodes.values()]
        return len(self.to_examine) + sum(map(len, waiting))

    def await_node(self, key: WorkerKey, node: str, chosen: bool) -> None:
        """Queue a worker until its node has room. A worker that the user has `chosen` comes before others."""
        nodes = self._chosen if chosen else self._others
        nodes.setdefault(node, {})[key] = None

    def take(self, is_full: bool, attaching: Attaching) -> WorkerKey | None:
        """Remove the next worker to examine, and return it; None if no worker may be examined now.

        `is_full`: maxWorkers allows no other worker.
        """
        for waiting in (self.to_examine, {} if is_full else self.without_room):
            for key in waiting:
                del waiting[key]
                return key
        for nodes in (self._chosen, self._others):
            for node, waiting in nodes.items():
                if attaching.has_room(node):
                    key = next(iter(waiting))
                    del waiting[key]
                    if not waiting:
                        del nodes[node]
                    return key
        return None
