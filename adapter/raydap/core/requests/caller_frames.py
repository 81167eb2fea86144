"""The frames of a task's callers, which the stack of a stopped thread shows below its own frames.

The process of the caller has recorded the frames of the call (inworker/call_sites.py). Its own task has a caller, too,
and so on, up to the driver. A label before the frames of each caller names its process.

A frame of a caller belongs to the stop of the thread that shows it. Requests about it go to the caller's process: to
the same frame there while the thread of the caller is stopped. While it runs, only its variables can be read.

The design is in docs/design/remote-steps.md.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from raydap.core.flows import Flow
from raydap.core.model.handles import HandleScope, HandleTarget
from raydap.core.model.recorded_call import RecordedCall
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.translate import breakpoint_paths, names, paths
from raydap.core.translate.local_files import make_readable
from raydap.core.translate.stacks import is_library_frame
from raydap.core.workers.replies import query
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import calls, task_calls
from raydap.presentation.short_text import file_name
from raydap.protocol.id_fields import Kind
from raydap.protocol.types import LocalId, WorkerKey

Frame = dict[str, object]

ANSWER_S = 5.0
"""Seconds for the answer of a process. A process that does not answer in time has no frames in the stack."""

SILENT_S = 60.0
"""Seconds for which a process that has not answered is not asked again, so that it delays one stack only."""

MAX_CALLERS = 16
"""The most callers that a stack shows."""

KEPT_CALLS = 1_000
"""The most calls that are kept after they were found; a new one replaces the oldest."""

_OWN_FILE = "<raydap agent>"
"""The path of raydap's own code in a process (inworker/loader.py)."""

MAX_FRAMES = 64
"""The most frames of one caller that a stack shows. A worker can report any number."""

_TASK = re.compile(r"[0-9a-f]{1,64}")
"""A task id of Ray as hex digits."""

_DIGITS = 10
"""The most digits of a frame's id in a worker."""

_LABEL = -1
"""The number of a label, among those of the frames of its caller."""


class CallerFrame(NamedTuple):
    """A frame of a caller, as its handle names it."""

    task: str
    """The hex id of the task that the caller has called."""
    number: int
    """The frame's number in the recorded call, or _LABEL."""

    def local(self) -> str:
        """Return the id behind the handle, which differs from all ids of workers."""
        return f"caller {self.task} {self.number}"


def caller_frame(target: HandleTarget) -> CallerFrame | None:
    """Return the frame of a caller behind a handle, None if the handle is for something else."""
    if not isinstance(target.local, str) or not target.local.startswith("caller "):
        return None
    _, task, number = target.local.split(" ")
    return CallerFrame(task, int(number))


def of_thread(state: State, thread: WorkerThread) -> Flow[list[Frame]]:
    """Return the labels and frames of all callers of a stopped thread, the nearest caller first; [] if none is known.

    A task whose caller is not known is not looked up again at the same stop. A BLOCKED thread has not reported
    its task.
    """
    scope, task = thread.stop, "" if thread.snapshot is not None else thread.task
    frames: list[Frame] = []
    shown: set[str] = set()
    while scope is not None and task and task not in shown | thread.uncalled and len(shown) < MAX_CALLERS:
        recorded = yield from _recorded(state, task)
        if recorded is None:
            thread.uncalled.add(task)
        elif not scope.closed:
            shown.add(task)
            frames += yield from _frames(state, scope, task, recorded)
        task = "" if recorded is None else recorded.task
    return frames


def _recorded(state: State, task: str) -> Flow[RecordedCall | None]:
    """Return the call that has submitted a task, None if no attached process has recorded it."""
    known = state.recorded_calls.get(task)
    if known is not None:
        return known
    asked = [worker for key in state.callers if (worker := state.workers.get(key)) is not None and worker.is_attached]
    state.callers = {each.key: state.callers[each.key] for each in asked}
    asked = [each for each in asked if state.callers[each.key] <= state.now]
    answers = yield from state.parts.gather({each.key: _ask(state, each, task) for each in asked})
    found = next((answer for answer in answers.values() if isinstance(answer, RecordedCall)), None)
    if found is not None:
        state.recorded_calls[task] = found
        if len(state.recorded_calls) > KEPT_CALLS:
            del state.recorded_calls[next(iter(state.recorded_calls))]
    return found


def _ask(state: State, worker: Worker, task: str) -> Flow[RecordedCall | None]:
    try:
        text = yield from query(worker, task_calls.recorded_call(task), ANSWER_S)
        if not text:
            return None
        recorded = msgspec.json.decode(text, type=RecordedCall)
    except (calls.ResultError, ProblemError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, ProblemError) and error.problem.code is Code.WORKER_SILENT:
            state.callers[worker.key] = state.now + SILENT_S
        state.log("warning", f"{worker} cannot report the call of a task: {error}")
        return None
    own = {"worker": worker.key, "name": names.title(worker), "task": task_id(recorded.task)}
    return msgspec.structs.replace(recorded, **own)


def task_id(text: object) -> str:
    """Return a task id that a worker has reported, "" if it is none: it becomes a part of handles and expressions."""
    return text if isinstance(text, str) and _TASK.fullmatch(text) else ""


def _frames(state: State, scope: HandleScope, task: str, recorded: RecordedCall) -> Flow[list[Frame]]:
    """Return a label and the frames of one caller. The frames of Ray around the user's are left out."""
    worker = state.workers.get(recorded.worker)
    frames: list[Frame] = []
    for number, each in enumerate(recorded.frames[:MAX_FRAMES]):
        if each.path == _OWN_FILE:
            continue
        path = each.path if worker is None else _clients_path(worker, each.path)
        name = {"name": file_name(path)}
        source = name if path.startswith("<") else {**name, "path": path}
        handle = scope.handle(Kind.FRAME, CallerFrame(task, number).local())
        shown = {"id": handle, "name": each.name, "line": each.line, "column": 1, "source": source}
        frames.append({**shown, "presentationHint": "subtle"})
    users = [number for number, frame in enumerate(frames) if not is_library_frame(frame)]
    frames = frames[users[0] : users[-1] + 1] if users else []
    if worker is not None and not worker.scope.closed:
        breakpoint_paths.apply(worker.run, {"stackFrames": frames})
        yield from make_readable(state, worker, {"stackFrames": frames})
    if scope.closed or not frames:
        return []
    label: Frame = {
        "id": scope.handle(Kind.FRAME, CallerFrame(task, _LABEL).local()),
        "name": f"called by {recorded.name if worker is None else names.title(worker)}",
    }
    return [{**label, "line": 0, "column": 0, "presentationHint": "label"}, *frames]


def _clients_path(worker: Worker, path: str) -> str:
    return paths.to_client(paths.mapped(path, worker.settings, ""), paths.workspace(worker.settings))


def add(body: dict[str, object], callers: list[Frame], arguments: Mapping[str, object]) -> None:
    """Add the frames of callers to a stackTrace answer, as far as the request reaches beyond the thread's own."""
    frames, total = body.get("stackFrames"), body.get("totalFrames")
    if not isinstance(frames, list):
        return
    start, levels = _count(arguments, "startFrame"), _count(arguments, "levels")
    own = total if type(total) is int and total >= 0 else start + len(frames)
    end = start + levels if levels else own + len(callers)
    frames += callers[max(start - own, 0) : max(end - own, 0)]
    body["totalFrames"] = own + len(callers)


def find(state: State, frame: CallerFrame) -> Flow[tuple[WorkerThread, LocalId] | Worker | None]:
    """Return where a frame of a caller is now.

    That is its thread, with the worker's own id of the frame, while the thread is stopped; the worker while it runs;
    None if the function has returned, if the process is gone, and for a label.
    """
    recorded = state.recorded_calls.get(frame.task)
    worker = None if recorded is None else state.workers.get(recorded.worker)
    if recorded is None or worker is None or not worker.is_attached or frame.number == _LABEL:
        return None
    local = yield from _query(worker, task_calls.running_frame(frame.task, frame.number))
    if not local.isdecimal() or len(local) > _DIGITS:
        return None
    thread = worker.threads.get(LocalId(recorded.thread))
    if thread is not None and thread.stop is not None and thread.snapshot is None:
        return thread, LocalId(int(local))
    return worker


def scopes(scope: HandleScope, frame: CallerFrame) -> dict[str, object]:
    """Return the answer to `scopes` for a frame of a running caller."""
    reference = scope.handle(Kind.VARIABLES, frame.local())
    local = {"name": "Locals", "presentationHint": "locals", "variablesReference": reference, "expensive": False}
    return {"scopes": [local]}


def variables(state: State, frame: CallerFrame) -> Flow[dict[str, object]]:
    """Return the answer to `variables` for a frame of a running caller, whose values are of this moment."""
    recorded = state.recorded_calls.get(frame.task)
    worker = None if recorded is None else state.workers.get(recorded.worker)
    text = ""
    if worker is not None and worker.is_attached:
        text = yield from _query(worker, task_calls.frame_values(frame.task, frame.number))
    try:
        read = msgspec.json.decode(text, type=list[dict[str, str]]) if text else []
    except (ValueError, RecursionError):
        read = []
    return {"variables": [{"name": "", "value": "", **each, "variablesReference": 0} for each in read]}


def _query(worker: Worker, expression: str) -> Flow[str]:
    try:
        text = yield from query(worker, expression, ANSWER_S)
    except (calls.ResultError, ProblemError):
        return ""
    return text if isinstance(text, str) else ""


def refusal(state: State, frame: CallerFrame, is_running: bool) -> ProblemError:
    """Return the error for a request that needs the thread of the caller to be stopped."""
    recorded = state.recorded_calls.get(frame.task)
    name = "the caller" if recorded is None else recorded.name
    text = (
        f"The frame belongs to {name}, which runs; pause it to do that there."
        if is_running
        else f"The frame belongs to {name}, and its function has returned, so only its source can be shown."
    )
    return ProblemError(Problem(Code.NOT_STOPPED, text))


def _count(arguments: Mapping[str, object], name: str) -> int:
    value = arguments.get(name)
    return value if type(value) is int and value > 0 else 0


def note_task(worker: Worker, body: Mapping[str, object]) -> None:
    """Note the task that a thread runs, as the worker reports it before a stop."""
    local = body.get("threadId")
    if type(local) is int:
        worker.thread(LocalId(local)).task = task_id(body.get("task"))


def note_caller(state: State, key: WorkerKey) -> None:
    """Note that a worker has submitted a call."""
    state.callers.setdefault(key, 0.0)
