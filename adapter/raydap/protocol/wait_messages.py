"""The messages about who waits for whom: raydap/waits; a part of raydap_messages.py."""

from typing import Literal

from raydap.protocol.message_base import Arguments, Message
from raydap.protocol.stack_messages import Location


class WaitsArguments(Arguments, frozen=True):
    """The arguments of `raydap/waits`: `select` is a set of workers to begin with; without it, drivers are, and then
    whoever nobody waits for."""

    select: str | None = None


WaitKind = Literal["task", "lock", "thread", "actor", "arguments", "resources", "owner", "event loop", "collective"]

WaitState = Literal["blocked", "busy", "running", "stopped", "paused", "idle", "pending", "resource", "unknown"]


class WaitEdge(Message, frozen=True):
    """A node waits for another one, the index of which is `node`. `certain` is false for what raydap concludes."""

    node: int
    kind: WaitKind
    certain: bool


class WaitNode(Message, frozen=True):
    """A thread or coroutine of the `worker` with this key; or with "" a task that has not begun, an actor that keeps
    resources, or a resource of which nothing is left. `label` names it, and `text` says where it is, or why it has not
    begun. `task` is Ray's hex id of the task that it is or runs, "" if that is not known. `needed` of those that it
    waits for suffice, all of them if it is 0. `stuck`: it can never go on."""

    worker: str
    label: str
    state: WaitState
    text: str
    location: Location | None
    task: str
    waits: tuple[WaitEdge, ...]
    needed: int
    stuck: bool


class Deadlock(Message, frozen=True):
    """`cycle` are nodes of which each waits for the next one, and the last one for the first; `nodes` are all that wait
    for each other. It is `certain` unless an edge of the cycle is not. `text` is for people."""

    cycle: tuple[int, ...]
    nodes: tuple[int, ...]
    certain: bool
    text: str


class CollectiveWait(Message, frozen=True):
    """`nodes` are in this function of a library for collective operations; `missing` are the nodes of their class that
    are in none."""

    library: str
    function: str
    nodes: tuple[int, ...]
    missing: tuple[int, ...]
    text: str


class WaitGraph(Message, frozen=True):
    """The answer to `raydap/waits`. `roots` are the nodes to begin with. `unread` are the keys of workers that do not
    say where they are, and `idle` is the number of those that run nothing. `problem` says why nothing is known of tasks
    that have not begun. `text` says all of this for people to read."""

    nodes: tuple[WaitNode, ...]
    roots: tuple[int, ...]
    deadlocks: tuple[Deadlock, ...]
    collectives: tuple[CollectiveWait, ...]
    unread: tuple[str, ...]
    idle: int
    problem: str
    text: str
