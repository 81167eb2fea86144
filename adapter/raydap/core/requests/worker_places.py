"""The request `raydap/places`: where each worker is, in one line (docs/requests.md)."""

import msgspec
from msgspec import UNSET

from raydap.core.flows import Flow, gather, start
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.model.worker import WorkerThread
from raydap.core.requests import selecting, top_frames
from raydap.core.translate import paths
from raydap.core.translate.stacks import location
from raydap.core.workers import forked_waits, worker_entries, worker_stack
from raydap.core.workers.forked_waits import ForkedChild
from raydap.errors import ProblemError
from raydap.presentation.short_text import function_line
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import CodeLocation, Places, PlacesArguments, ThreadStack, WaitingChild, WorkerPlace
from raydap.protocol.types import WorkerKey


def places(state: State, request: Request, arguments: PlacesArguments) -> Flow[Places]:
    """Return where each worker is. The stacks of workers that run are read without stopping them.

    The answer does not contain a worker to which raydap is attaching at that moment.
    """
    chosen = yield from selecting.workers(state, request.client, None, arguments.select or "", running=True)
    members = worker_entries.members(state)
    keys = [key for key in chosen or () if key in members]
    stopped: dict[WorkerKey, list[WorkerThread]] = {}
    for thread in state.stopped_threads(request.client):
        stopped.setdefault(thread.worker.key, []).append(thread)
    readable = set(selecting.readable(state, keys, True, arguments.outside))
    children = start(forked_waits.find(state, keys if arguments.outside else (), readable | stopped.keys()))
    keys = [key for key in keys if key in stopped or key in readable]
    flows = {key: _of_stopped(stopped[key], members[key]) for key in keys if key in stopped}
    flows |= {key: _of_running(state, key, members[key]) for key in keys if key not in stopped}
    found = yield from state.parts.gather(flows, request.client)
    listed: list[WorkerPlace] = []
    unread: list[str] = []
    for key in keys:
        answer = found[key]
        if isinstance(answer, ProblemError):
            state.log("info", f"the place of {key} cannot be read: {answer.problem}")
            unread.append(key)
        else:
            started = worker_entries.facts(state, key).started or UNSET
            listed += [msgspec.structs.replace(place, started=started) for place in answer]
    waiting = tuple(_waiting_child(each) for each in (yield from children))
    return Places(places=tuple(listed), unread=tuple(unread), children=waiting)


def _waiting_child(child: ForkedChild) -> WaitingChild:
    where = _in_thread(worker_stack.as_thread(child.threads[0], None))
    assert where is not None
    return WaitingChild(parent=child.parent, pid=child.pid, location=where, problem=forked_waits.WHAT_TO_DO)


def _of_stopped(threads: list[WorkerThread], member: WorkerEntry) -> Flow[list[WorkerPlace]]:
    frames = yield from gather({thread: top_frames.of(thread) for thread in threads if thread.snapshot is None})
    found = []
    for thread in threads:
        frame = frames.get(thread)
        if thread.snapshot is not None:
            where = _in_thread(worker_stack.as_thread(thread.snapshot, paths.workspace(thread.worker.settings)))
            found.append(_place(member, thread.snapshot.place, where, thread))
        elif not frame or isinstance(frame, ProblemError):
            found.append(_place(member, "stopped", None, thread))
        else:
            name, path, line = location(frame)
            path = paths.to_client(path, paths.workspace(thread.worker.settings))
            path = thread.worker.run.paths_of_breakpoints.get(path, path)
            text = f"stopped in {function_line(name, path, line)}"
            found.append(_place(member, text, CodeLocation(name=name, path=path, line=line), thread))
    return found


def _of_running(state: State, key: WorkerKey, member: WorkerEntry) -> Flow[list[WorkerPlace]]:
    """Return a place for each thread that executes the user's code, else for each coroutine, else the place `idle`."""
    stack = yield from worker_stack.of_worker(state, key)
    users = [thread for thread in stack.threads if thread.is_users]
    shown = [thread for thread in users if not thread.coroutine] or users
    return [_place(member, thread.place, _in_thread(thread)) for thread in shown] or [_place(member, "idle", None)]


def _in_thread(thread: ThreadStack) -> CodeLocation | None:
    frame = next((frame for frame in thread.frames if frame.is_users), None)
    return None if frame is None else CodeLocation(name=frame.name, path=frame.path, line=frame.line)


def _place(
    member: WorkerEntry, text: str, where: CodeLocation | None, thread: WorkerThread | None = None
) -> WorkerPlace:
    return WorkerPlace(
        worker=member.key,
        label=member.title,
        text=text,
        location=where,
        thread=UNSET if thread is None else thread.handle,
        rank=member.rank,
    )
