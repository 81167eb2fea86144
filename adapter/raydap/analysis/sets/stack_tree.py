"""Many stacks merged into one tree of code locations.

The tree also shows which actors are missing where most of their class are.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from msgspec import UNSET

from raydap.analysis.sets.folding import Holder, group_name, smallest_first
from raydap.protocol.stack_messages import (
    CodeLocation,
    FoldedVariable,
    MissingMembers,
    StackNode,
    StackVariable,
    ValueGroup,
)

MAX_FRAMES = 200
"""The largest number of frames in a stack. A longer stack loses frames in its middle, where it usually recurses."""

MAX_VARIABLES = 50
"""The largest number of variables in a frame."""

MAX_GROUPS = 10
"""The largest number of groups of equal values of a variable."""

_MIN_CLASS = 3
"""The smallest class of actors in which some can be missing. In a smaller class, a majority means little."""


class Place(NamedTuple):
    """A frame of a stack."""

    name: str
    """The name of the frame's function."""
    path: str
    """The path on the client's machine, or a name such as `<string>`."""
    line: int
    """The line that the frame executes, counted from 1."""


@dataclass(slots=True)
class _Branch:
    holders: list[Holder] = field(default_factory=list)
    """One holder for each stack that contains the frame here; a running worker can have several stacks."""
    children: "dict[Place, _Branch]" = field(default_factory=dict)
    """The branches of the frames that this frame has called."""
    variables: "dict[str, dict[tuple[str, str], list[Holder]]]" = field(default_factory=dict)
    """The holders of each value, by the name of the variable and then by value and type."""


class StackTree:
    """A tree of stacks. The root stands for all threads, and has no frame."""

    def __init__(self, has_locals: bool = False) -> None:
        self._root = _Branch()
        self._has_locals = has_locals

    def add(self, frames: Sequence[Place], holder: Holder, variables: Sequence[Sequence[StackVariable]] = ()) -> None:
        """Add a stack, outermost frame first.

        `variables` are those of each frame, or empty.
        """
        stack = list(zip(frames, variables or repeat(()), strict=False))
        if len(stack) > MAX_FRAMES:
            stack = [*stack[: MAX_FRAMES // 2], *stack[-MAX_FRAMES // 2 :]]
        branch = self._root
        branch.holders.append(holder)
        for place, found in stack:
            branch = branch.children.setdefault(place, _Branch())
            branch.holders.append(holder)
            for each in found:
                values = branch.variables.setdefault(each.name, {})
                values.setdefault((each.value, each.type), []).append(holder)

    def root(self, max_members: int) -> StackNode:
        """Return the root of the tree; each node names at most `max_members` threads and as many running workers."""
        return _node(None, self._root, max_members, self._has_locals)

    def missing(self, max_members: int) -> tuple[MissingMembers, ...]:
        """Return the actors that are missing on the path that more than half of their class take.

        Each entry contains the actors that lack the same first frame of that path.
        """
        classes: dict[tuple[str, str], set[str]] = {}
        for holder in self._root.holders:
            entry = holder.member
            if entry.actor:
                classes.setdefault((entry.job, entry.actor), set()).add(holder.key)
        return tuple(
            found
            for actors in classes.values()
            if len(actors) >= _MIN_CLASS
            for found in self._missing_of(actors, max_members)
        )

    def _missing_of(self, actors: set[str], max_members: int) -> Iterator[MissingMembers]:
        """Yield the actors of one class that are missing, from the root down.

        An actor is in a frame if one of its threads is.
        """
        branch = self._root
        here = [holder for holder in branch.holders if holder.key in actors]
        while branch.children:
            counts = {
                place: len({holder.key for holder in child.holders} & actors)
                for place, child in branch.children.items()
            }
            place = max(counts, key=lambda each: counts[each])
            if 2 * counts[place] <= len(actors):
                return
            branch = branch.children[place]
            there = {holder.key for holder in branch.holders}
            left = [holder for holder in here if holder.key not in there]
            here = [holder for holder in here if holder.key in there]
            if left:
                yield MissingMembers(
                    frame=_location(place),
                    count=counts[place],
                    of=len(actors),
                    members=_threads(left, max_members),
                    running=_running(left, max_members),
                    label=group_name(holder.member for holder in left),
                )


class _Named(NamedTuple):
    """The holders of a branch, as its node names them."""

    size: int
    """The number of holders."""
    members: tuple[int, ...]
    """The ids of the first stopped threads among them."""
    running: tuple[str, ...]
    """The keys of the first running workers among them."""
    label: str
    """A short name for the workers of all holders, such as `Trainer{0-5,7}`."""


def _named(holders: Collection[Holder], max_members: int) -> _Named:
    text = group_name(holder.member for holder in holders)
    return _Named(len(holders), _threads(holders, max_members), _running(holders, max_members), text)


def _node(
    place: Place | None, branch: _Branch, max_members: int, has_locals: bool, parent: _Named | None = None
) -> StackNode:
    """Return the node of a branch; children with few members come first, because a user looks for what differs."""
    # Along large parts of a stack the holders stay the same. A child with as many holders as its parent has the same
    # ones, so reuse their names.
    named = parent
    if named is None or named.size != len(branch.holders):
        named = _named(branch.holders, max_members)
    children = [_node(each, child, max_members, has_locals, named) for each, child in branch.children.items()]
    return StackNode(
        frame=None if place is None else _location(place),
        count=named.size,
        members=named.members,
        running=named.running,
        label=named.label,
        children=tuple(sorted(children, key=lambda node: smallest_first(node.count, node.label))),
        locals=_locals(branch, max_members) if has_locals else UNSET,
    )


def _locals(branch: _Branch, max_members: int) -> tuple[FoldedVariable, ...]:
    """Return the variables of a branch, in the order in which the frames have them."""
    names = list(branch.variables)[:MAX_VARIABLES]
    return tuple(_folded(name, branch.variables[name], max_members) for name in names)


def _folded(variable: str, values: dict[tuple[str, str], list[Holder]], max_members: int) -> FoldedVariable:
    """Return a variable with its largest groups of equal values.

    A few groups are enough to see which workers differ: among many different values, each is as rare as the others.
    """
    named = [(len(holders), group_name(holder.member for holder in holders), each) for each, holders in values.items()]
    largest = sorted(named, key=lambda group: smallest_first(*group[:2]))[-MAX_GROUPS:]
    groups = [
        ValueGroup(
            value=value,
            type=kind,
            count=count,
            members=_threads(values[value, kind], max_members),
            running=_running(values[value, kind], max_members),
            label=name,
        )
        for count, name, (value, kind) in largest
    ]
    return FoldedVariable(name=variable, groups=tuple(groups), more=len(values) - len(groups))


def _threads(holders: Iterable[Holder], max_members: int) -> tuple[int, ...]:
    return tuple(sorted(holder.thread for holder in holders if holder.thread is not None)[:max_members])


def _running(holders: Iterable[Holder], max_members: int) -> tuple[str, ...]:
    return tuple(sorted({holder.key for holder in holders if holder.thread is None})[:max_members])


def _location(place: Place) -> CodeLocation:
    return CodeLocation(name=place.name, path=place.path, line=place.line)
