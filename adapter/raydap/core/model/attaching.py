"""The workers whose attach is under way, and how many more attaches may begin."""

from collections.abc import Callable, Iterator

from raydap.protocol.types import WorkerKey

AT_ONCE = 128
"""Attaches that may begin on one node in two seconds, beside those that are over. 24 take 0.4 s on two cores
(measured), in which raydap and the debuggers of the node are busy."""

MAX_ATTACHING = 512
"""Attaches that may be under way in the whole cluster. Each holds a connection."""

SLOW_S = 2.0
"""Seconds after which an attach delays no other one: the worker does not answer, so it needs no processor."""


class Attaching:
    """A set of workers that counts the new ones on each node."""

    def __init__(self) -> None:
        self._nodes: dict[WorkerKey, str] = {}
        self._new: dict[str, dict[WorkerKey, float]] = {}
        """When the attaches began that are not slow yet, by node."""

    def __iter__(self) -> Iterator[WorkerKey]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def begin(self, key: WorkerKey, node: str, now: float) -> None:
        self._nodes[key] = node
        self._new.setdefault(node, {})[key] = now

    def end(self, key: WorkerKey) -> None:
        node = self._nodes.pop(key, None)
        if node is not None:
            self._forget(node, key)

    def has_room(self, node: str) -> bool:
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


class NodeQueue:
    """Workers that wait until their node has room for another attach. Each node has its own order, in which those that
    the user has chosen come first."""

    def __init__(self) -> None:
        self._chosen: dict[str, dict[WorkerKey, None]] = {}
        self._others: dict[str, dict[WorkerKey, None]] = {}

    def __len__(self) -> int:
        return sum(len(waiting) for nodes in (self._chosen, self._others) for waiting in nodes.values())

    def add(self, key: WorkerKey, node: str, chosen: bool) -> None:
        nodes = self._chosen if chosen else self._others
        nodes.setdefault(node, {})[key] = None

    def take(self, has_room: Callable[[str], bool]) -> WorkerKey | None:
        """Remove the first worker of a node that has room, and return it."""
        for nodes in (self._chosen, self._others):
            for node, waiting in nodes.items():
                if has_room(node):
                    key = next(iter(waiting))
                    del waiting[key]
                    if not waiting:
                        del nodes[node]
                    return key
        return None
