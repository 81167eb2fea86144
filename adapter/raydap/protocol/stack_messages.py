"""The messages of `raydap/stack`, `raydap/stacks` and `raydap/places`. A part of raydap_messages.py."""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Arguments, Message


class StackArguments(Arguments, frozen=True):
    """The arguments of `raydap/stack`: one of `worker` and `select`."""

    worker: str | None = None
    """The key of a worker."""
    select: str | None = None
    """A set (docs/usage/sets.md) that contains exactly one worker."""


class StackVariable(Message, frozen=True):
    """One local variable."""

    name: str
    """The name in the code."""
    value: str
    """A short text, written without running code of the user's. Values of types that are not Python's own have no more
    than their type."""
    type: str
    """The name of the value's type; "" if the stack was read from outside."""


class StackFrame(Message, frozen=True):
    """One frame."""

    name: str
    """The name of the function."""
    path: str
    """The path on the client's machine, or a name like `<string>`."""
    line: int
    """The line that the frame executes, counted from 1; 0 if it is not known."""
    is_users: bool
    """Whether the code is the user's: neither Python's, nor Ray's, nor an installed package's."""
    variables: tuple[StackVariable, ...]
    """The local variables; empty if the answer would become too long with them."""


class ThreadStack(Message, frozen=True):
    """One thread, or a coroutine that waits."""

    name: str
    """The name of the thread, or of the coroutine."""
    place: str
    """Where it is: `blocked in ray.get (train.py:41)`."""
    is_users: bool
    """Whether it executes code of the user's."""
    frames: tuple[StackFrame, ...]
    """The innermost first."""
    coroutine: bool = False
    """Whether this is a coroutine that waits, in no thread."""


class WorkerStack(Message, frozen=True):
    """The answer to `raydap/stack`."""

    name: str
    """The name of the worker."""
    threads: tuple[ThreadStack, ...]
    """The threads that execute code of the user's first."""
    text: str
    """All stacks as text, for people to read."""


class StacksArguments(Arguments, frozen=True):
    """The arguments of `raydap/stacks`. Without `threads` and `select`, all stopped threads are meant."""

    threads: tuple[int, ...] | None = None
    """The ids of stopped threads."""
    select: str | None = None
    """A set (docs/usage/sets.md)."""
    running: bool = False
    """Whether to include workers that run, and are attached or have an agent. Their stacks are read without stopping
    them."""
    outside: bool = False
    """Whether to include workers that are not attached and have no agent, such as paused ones. Their stacks are read
    from outside."""
    max_members: int = 100
    """The maximum number of thread ids, and of workers' keys, in each node."""
    locals: bool = False
    """Whether each node contains the local variables of its frame."""
    export: Literal["folded", "svg"] | None = None
    """The format in which the answer contains the tree as text, too."""


class CodeLocation(Message, frozen=True):
    """A place in the code."""

    name: str
    """The name of the function."""
    path: str
    """The path on the client's machine."""
    line: int
    """The line, counted from 1; 0 if it is not known."""


class ValueGroup(Message, frozen=True):
    """The threads in which a variable has the same value and type."""

    value: str
    """A short text."""
    type: str
    """The name of the value's type."""
    count: int
    """How many threads have the value."""
    members: tuple[int, ...]
    """The ids of the first of these threads that are stopped."""
    running: tuple[str, ...]
    """The keys of the first of their workers that run."""
    label: str
    """A short name for all of their workers: `Trainer{0-5,7}`."""


class FoldedVariable(Message, frozen=True):
    """A local variable in many threads."""

    name: str
    """The name in the code."""
    groups: tuple[ValueGroup, ...]
    """The largest groups of equal values, the smallest of these first."""
    more: int
    """How many other values there are."""


class StackNode(Message, frozen=True):
    """A frame that threads have in common, below the same outer frames."""

    frame: CodeLocation | None
    """None for the root."""
    count: int
    """How many threads have the frame."""
    members: tuple[int, ...]
    """The ids of the first of these threads that are stopped."""
    running: tuple[str, ...]
    """The keys of the first of their workers that run."""
    label: str
    """A short name for all of their workers: `Trainer{0-5,7}`."""
    children: "tuple[StackNode, ...]"
    """The frames that this frame has called, those with the fewest threads first."""
    locals: tuple[FoldedVariable, ...] | UnsetType = UNSET
    """The variables of the frame, if the request has `locals`."""


class MissingMembers(Message, frozen=True):
    """The actors that are not in a frame in which most actors of their class are."""

    frame: CodeLocation
    """The outermost of the class's frames that the missing actors lack."""
    count: int
    """How many actors of the class are in the frame."""
    of: int
    """How many actors the class has."""
    members: tuple[int, ...]
    """The ids of the stopped threads of the missing actors."""
    running: tuple[str, ...]
    """The keys of the missing actors that run."""
    label: str
    """A short name for all missing actors: `Trainer{0-5,7}`."""


class MergedStacks(Message, frozen=True):
    """The answer to `raydap/stacks`."""

    root: StackNode
    """The root of the tree, with all threads."""
    missing: tuple[MissingMembers, ...]
    """The actors that are not in a frame of most actors of their class."""
    silent: tuple[int, ...]
    """The ids of the stopped threads whose stack could not be read."""
    unread: tuple[str, ...]
    """The keys of the workers that run and whose stacks could not be read."""
    export: str | UnsetType = UNSET
    """The tree as text for flame graphs (`folded`), or as a picture (`svg`), if the request has `export`."""


class PlacesArguments(Arguments, frozen=True):
    """The arguments of `raydap/places`."""

    select: str | None = None
    """A set (docs/usage/sets.md); without it, all workers in the client's list of workers are meant."""
    outside: bool = False
    """As in `raydap/stacks`. Forked children are searched for with `outside` only."""


class WorkerPlace(Message, frozen=True):
    """Where one thread of a worker is."""

    worker: str
    """The key of the worker."""
    label: str
    """The title of the worker: `Trainer 3`."""
    text: str
    """The place as text, for people to read: `blocked in ray.get (train.py:41)`."""
    location: CodeLocation | None
    """The innermost frame of the user's code; None if the thread executes none."""
    thread: int | UnsetType = UNSET
    """The id of a stopped thread; absent for a thread that runs."""
    rank: int | UnsetType = UNSET
    """The number of an actor in its class; absent for other workers."""
    started: float | UnsetType = UNSET
    """When the worker's task began, or the driver's job, in seconds since 1970 by the clock of its node; absent if Ray
    has not reported it."""


class WaitingChild(Message, frozen=True):
    """A forked child that waits in `breakpoint()`, and to which no debugger can attach."""

    parent: str
    """The key of the worker or driver from which it descends."""
    pid: int
    """The child's process id, on its parent's node."""
    location: CodeLocation
    """Where it called `breakpoint()`."""
    problem: str
    """A sentence for the user with what to do."""


class Places(Message, frozen=True):
    """The answer to `raydap/places`."""

    places: tuple[WorkerPlace, ...]
    """The places of all threads, in the order of the list of workers."""
    unread: tuple[str, ...]
    """The keys of the workers whose stacks could not be read."""
    children: tuple[WaitingChild, ...] = ()
    """The forked children that were found; empty without `outside`."""
