"""The messages about where code is: raydap/stack, raydap/stacks and raydap/places; a part of raydap_messages.py."""

from typing import Literal

from msgspec import UNSET, UnsetType

from raydap.protocol.message_base import Arguments, Message


class StackArguments(Arguments, frozen=True):
    """The arguments of `raydap/stack`. `worker` is a key; `select` is a set with one worker."""

    worker: str | None = None
    select: str | None = None


class StackVariable(Message, frozen=True):
    """`value` is short; values of types that are not Python's own have the type only."""

    name: str
    value: str
    type: str


class StackFrame(Message, frozen=True):
    """One frame. `path` is the client's, or a name like `<string>`. `isUsers`: it is neither Python's, Ray's nor an
    installed package's."""

    name: str
    path: str
    line: int
    is_users: bool
    variables: tuple[StackVariable, ...]


class ThreadStack(Message, frozen=True):
    """One thread, or a coroutine that waits. `place` says where it is; `frames` are innermost first. `isUsers`: it runs
    code of the user's."""

    name: str
    place: str
    is_users: bool
    frames: tuple[StackFrame, ...]
    coroutine: bool = False


class WorkerStack(Message, frozen=True):
    """The answer to `raydap/stack`: the threads with code of the user's first. `name` is the worker's, and `text` says
    all of this for people to read."""

    name: str
    threads: tuple[ThreadStack, ...]
    text: str


class StacksArguments(Arguments, frozen=True):
    """The arguments of `raydap/stacks`: `threads` are ids, `select` is a set. Without both, all stopped threads are
    meant. With `running` those of workers that run are among them, whose stacks are read without stopping them; with
    `outside` also those of workers without an agent that are not attached, such as paused ones. At most `max_members`
    threads are named in each node. With `locals` each node has the local variables of its frame. With `export` the tree
    is also given as text."""

    threads: tuple[int, ...] | None = None
    select: str | None = None
    running: bool = False
    outside: bool = False
    max_members: int = 100
    locals: bool = False
    export: Literal["folded", "svg"] | None = None


class Location(Message, frozen=True):
    """A place in the code. `path` is the client's."""

    name: str
    path: str
    line: int


class ValueGroup(Message, frozen=True):
    """`count` threads in which a variable has the same `value`, a short text, and `type`. `members` are the ids of the
    first of them, `running` the keys of the first workers that run, and `label` names the workers of all."""

    value: str
    type: str
    count: int
    members: tuple[int, ...]
    running: tuple[str, ...]
    label: str


class FoldedVariable(Message, frozen=True):
    """A local variable in many threads. `groups` are the largest ones, smallest first; `more` is how many other values
    there are."""

    name: str
    groups: tuple[ValueGroup, ...]
    more: int


class StackNode(Message, frozen=True):
    """`count` threads have this frame below the same outer frames. `frame` is None for the root. `members` are the ids
    of the first of them, `running` the keys of the first workers that run, and `label` names the workers of all.
    `children` are the frames that this one has called, those with few threads first. `locals` are the variables of the
    frame, if they were asked for."""

    frame: Location | None
    count: int
    members: tuple[int, ...]
    running: tuple[str, ...]
    label: str
    children: "tuple[StackNode, ...]"
    locals: tuple[FoldedVariable, ...] | UnsetType = UNSET


class MissingMembers(Message, frozen=True):
    """Actors that are not in `frame`, although `count` of the `of` actors of their class are."""

    frame: Location
    count: int
    of: int
    members: tuple[int, ...]
    running: tuple[str, ...]
    label: str


class MergedStacks(Message, frozen=True):
    """The answer to `raydap/stacks`. `silent` are the threads whose stack could not be read, and `unread` the keys of
    such workers that run. `export` is for flame graphs (folded), or a picture (svg)."""

    root: StackNode
    missing: tuple[MissingMembers, ...]
    silent: tuple[int, ...]
    unread: tuple[str, ...]
    export: str | UnsetType = UNSET


class PlacesArguments(Arguments, frozen=True):
    """The arguments of `raydap/places`: `select` is a set; without it, all workers are meant that the client knows of.
    `outside` is that of `raydap/stacks`."""

    select: str | None = None
    outside: bool = False


class WorkerPlace(Message, frozen=True):
    """Where one thread of a worker is: `worker` is a key, and `thread` the id of a stopped thread. `label` names the
    worker among those of its class, as in `Trainer{3}`, and `rank` is its number there. `text` is for people:
    `blocked in ray.get (train.py:41)`. `location` is None where no code of the user's runs. `started` is when the task
    that it runs began, or the driver's job, in seconds since 1970 by the clock of its node, if Ray says so."""

    worker: str
    label: str
    text: str
    location: Location | None
    thread: int | UnsetType = UNSET
    rank: int | UnsetType = UNSET
    started: float | UnsetType = UNSET


class WaitingChild(Message, frozen=True):
    """A forked child that waits in breakpoint(), where no debugger can attach to it. `parent` is the key of the worker
    or driver that it descends from. `location` is where it called breakpoint(), and `problem` is a sentence for the
    user that contains what to do."""

    parent: str
    pid: int
    location: Location
    problem: str


class Places(Message, frozen=True):
    """The answer to `raydap/places`, in the order of the list of workers. `unread` are the keys of those that do not
    say where they are. `children` are found with `outside` only."""

    places: tuple[WorkerPlace, ...]
    unread: tuple[str, ...]
    children: tuple[WaitingChild, ...] = ()
