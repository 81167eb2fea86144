"""Forked children that wait in breakpoint(), where no debugger can attach to them (machine/outside_looks.py).

Ray and debugpy do not know these children, so no list of workers contains them. Only the answers to raydap/places and
raydap/waits do.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from raydap.analysis.thread_stacks import SampledStack, Stacks, ThreadFrame
from raydap.core.effects import FindForkedWaits
from raydap.core.events import ForkedWaitsFound
from raydap.core.flows import Flow, Future, gather
from raydap.core.model.state import State
from raydap.core.process_info import ForkedWait, ForkedWaits, ProcessInfo
from raydap.core.settings import AttachSettings
from raydap.core.translate import names, paths, snapshots
from raydap.errors import ProblemError
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.types import WorkerKey

WHAT_TO_DO = (
    "No debugger can attach to a forked child that waits in breakpoint(), and Ray aborts the child after about a "
    "minute; launch the program with `raydap debug PROGRAM.py`, or attach to its workers before they fork."
)


class ForkedChild(NamedTuple):
    """A forked child that waits in breakpoint()."""

    parent: WorkerKey
    """The key of the worker or driver from which the child descends."""
    pid: int
    """The child's process id, on the node of its parent."""
    threads: list[SampledStack]
    """The threads that wait in breakpoint(). The only frame of each is the caller's, with the client's path."""


def find(state: State, keys: Iterable[WorkerKey], busy: Collection[WorkerKey]) -> Flow[list[ForkedChild]]:
    """Return the forked children of these workers that wait in breakpoint().

    The relay is used only for nodes with a worker in `busy`.
    """
    nodes: dict[tuple[str, str], dict[int, WorkerKey]] = {}
    for key in keys:
        row = _row(state, key)
        if row is not None and row.pid:
            nodes.setdefault((row.host, row.node_id), {})[row.pid] = key
    may_relay = {node: any(key in busy for key in parents.values()) for node, parents in nodes.items()}
    answers = yield from gather({node: _ask(state, *node, parents, may_relay[node]) for node, parents in nodes.items()})
    settings = state.run.settings or AttachSettings()
    children: dict[tuple[WorkerKey, int], ForkedChild] = {}
    for node, waits in answers.items():
        for wait in () if isinstance(waits, ProblemError) else waits:
            parent = nodes[node].get(wait.parent)
            if parent is not None:
                child = children.setdefault((parent, wait.pid), ForkedChild(parent, wait.pid, []))
                child.threads.append(_stack(wait, settings))
    return list(children.values())


def _ask(state: State, host: str, node_id: str, pids: Iterable[int], may_relay: bool) -> Flow[tuple[ForkedWait, ...]]:
    number = state.next_question()
    answer = state.run.forked_searches[number] = Future()
    state.emit(FindForkedWaits(number, host, node_id, tuple(pids), may_relay))
    event = yield from answer
    found = ForkedWaits(problem=event.problem)
    if not event.problem:
        try:
            found = msgspec.json.decode(event.text, type=ForkedWaits)
        except msgspec.DecodeError as error:
            found = ForkedWaits(problem=str(error))
    if found.problem:
        state.log("info", f"Forked children on {host} cannot be read: {found.problem}")
    return found.waits


def found(state: State, event: ForkedWaitsFound) -> None:
    """Pass the answer of a node to the search that waits for it."""
    searching = state.run.forked_searches.pop(event.number, None)
    if searching is not None:
        searching.set_result(event)


def entry(parent: WorkerEntry, pid: int) -> WorkerEntry:
    """Return the entry of a forked child, like that of a worker that waits for a debugger."""
    # A worker without a task in Ray's list is called idle, but the list may lag.
    name = names.child(pid, f"worker {parent.pid}" if parent.label == "idle" else parent.title)
    where = f"{pid} · {parent.node}"
    return msgspec.structs.replace(
        parent,
        key=f"{parent.key}/{pid}",
        name=f"{name.label} · {where}",
        title=name.title,
        label=name.label,
        where=where,
        state="paused",
        age=0.0,
        type="child",
        pid=pid,
        actor="",
        actor_name="",
        rank=UNSET,
        task="",
        agent=False,
        threads=(),
        problem=WHAT_TO_DO,
    )


def _stack(wait: ForkedWait, settings: AttachSettings) -> SampledStack:
    frame = ThreadFrame(wait.function, wait.path, wait.line, owner=0)
    is_main = wait.thread == "MainThread"
    stack = SampledStack(wait.thread, is_main, "blocked", "", (frame,), 0, True)
    (mapped,) = snapshots.mapped(Stacks("", (stack,)), settings)
    path = paths.to_client(mapped.frames[0].path, paths.workspace(settings))
    return msgspec.structs.replace(mapped, frames=(msgspec.structs.replace(mapped.frames[0], path=path),))


def _row(state: State, key: WorkerKey) -> ProcessInfo | None:
    worker = state.workers.get(key)
    return state.run.processes[key].row if worker is None else worker.row
