"""Handles: the ids that clients see, and how long each one lives.

Every worker numbers its threads, frames and variables from 1, so a worker's own ids are ambiguous in a merged session.
Clients get handles instead, all from one counter. A handle belongs to a Scope. Scopes nest (worker > thread > stop),
and closing a scope frees everything in it. A freed handle is never used again, so an editor that requests an old one
gets an error instead of another worker's data.
"""

from typing import NamedTuple

from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.id_fields import Kind
from raydap.protocol.types import Handle, LocalId, WorkerKey

FIRST = 1000
"""Handles begin here, well away from 0 (which clients mistake for "none") and from debugpy's own small ids."""

LAST = 2**31 - 1
"""The last handle: DAP numbers are 32 bits (spec: Variable.variablesReference and its like)."""


_Key = tuple[Kind, LocalId | str]


class HandleTarget(NamedTuple):
    """The object behind a handle."""

    kind: Kind
    """The kind of the object, such as a frame."""
    worker: WorkerKey
    """The worker in which the object is."""
    local: LocalId | str
    """The worker's own id. Only that of a module can be a string (spec: Module.id)."""
    scope: "HandleScope"
    """The scope whose end makes the handle invalid."""


class Handles:
    """All handles of the bridge."""

    def __init__(self) -> None:
        self._next = FIRST
        # Plain tuples instead of Targets, because clients use only few of the handles that they get.
        self._bound: dict[int, tuple[_Key, HandleScope]] = {}

    def __len__(self) -> int:
        return len(self._bound)

    def new(self) -> Handle:
        """Return a new handle that belongs to no worker, as for breakpoints. Raises OverflowError after 2^31."""
        handle = self._next
        if handle > LAST:
            raise OverflowError("all 2^31 handles are used; start the session again")
        self._next += 1
        return Handle(handle)

    def scope(self, worker: WorkerKey) -> "HandleScope":
        """Return a new scope for handles of this worker."""
        return HandleScope(self, worker)

    def resolve(self, kind: Kind, handle: object) -> HandleTarget:
        """Return the object behind `handle`. Raises ProblemError (STALE_ID) unless it is a live handle of that kind."""
        bound = self._bound.get(handle) if type(handle) is int else None
        if bound is not None and bound[0][0] is kind:
            (_, local), scope = bound
            return HandleTarget(kind, scope.worker, local, scope)
        if bound is None and type(handle) is int and FIRST <= handle < self._next:
            end = "the thread or its worker has ended" if kind is Kind.THREAD else "its worker has resumed"
            text = f"The {_what(kind, handle)} is no longer valid because {end}; refresh the view."
            raise ProblemError(Problem(Code.STALE_ID, text))
        raise self.unknown(kind, handle)

    def unknown(self, kind: Kind, handle: object) -> ProblemError:
        """Return the error for a handle that its client has never received."""
        text = f"The {_what(kind, handle)} is not one of raydap's; refresh the view."
        return ProblemError(Problem(Code.STALE_ID, text))

    def _bind(self, key: "_Key", scope: "HandleScope") -> Handle:
        handle = self.new()
        self._bound[handle] = key, scope
        return handle

    def _free(self, handles: "dict[_Key, Handle]") -> None:
        for handle in handles.values():
            del self._bound[handle]


class HandleScope:
    """Handles of one worker that end together. While the scope is open, a local id always gets the same handle."""

    __slots__ = ("_all", "_handles", "_inner", "closed", "worker")

    def __init__(self, handles: Handles, worker: WorkerKey) -> None:
        self._all = handles
        self._handles: dict[_Key, Handle] = {}
        self._inner: list[HandleScope] = []
        self.worker = worker
        self.closed = False

    def open(self) -> "HandleScope":
        """Return a new scope that is closed with this one, if not before."""
        self._inner = [scope for scope in self._inner if not scope.closed]
        scope = HandleScope(self._all, self.worker)
        self._inner.append(scope)
        return scope

    def handle(self, kind: Kind, local: LocalId | str) -> Handle:
        """Return the handle for a worker's own id. The scope must be open."""
        key = kind, local
        handle = self._handles.get(key)
        if handle is None:
            handle = self._handles[key] = self._all._bind(key, self)
        return handle

    def close(self) -> None:
        """End all handles of the scope and of its inner scopes."""
        self.closed = True
        for scope in self._inner:
            scope.close()
        self._inner.clear()
        self._all._free(self._handles)
        self._handles.clear()


def _what(kind: Kind, handle: object) -> str:
    return f"{kind.name.lower().replace('_', ' ')} id {handle!r}"
