"""Steps across `.remote()`: Step Into follows a call to the process that runs it, and Step Out leads back.

The caller's process reports the call before it submits it. raydap sets a hidden breakpoint for the function in all
processes that may run it, and then lets the call be submitted. The condition of the breakpoint is met only by the task
with the call's id (inworker/followed_calls.py). The breakpoint is removed when the call has begun, when the user gives
the step up, and when the caller has gone.

The design is in docs/design/remote-steps.md.
"""

from collections.abc import Iterable

from raydap.core.flows import Flow, Future
from raydap.core.model.client import ClientRole
from raydap.core.model.pending import WorkerRefusedError
from raydap.core.model.remote_step import RemoteStep, StepStage
from raydap.core.model.state import State
from raydap.core.model.worker import ANSWER_TIMEOUT_S, AttachStage, ThreadState, Worker, WorkerThread
from raydap.core.process_info import ProcessInfo
from raydap.core.translate.stacks import frames_of
from raydap.core.workers import attach, prepared, stops, unprepared
from raydap.core.workers.replies import load_body, query
from raydap.inworker import calls, task_calls
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import shortened
from raydap.protocol.types import LocalId, WorkerKey

READY_S = 10.0
"""Seconds until a call is submitted although some processes are still being attached. In the caller's process the limit
is twice as long (inworker/followed_calls.py, READY_TIMEOUT_S)."""

LONG_S = 3.0
"""Seconds until the user is notified that a step still waits."""

MAX_NAME = 80
"""The longest name of a function in a message, in characters."""

_PENDING = (StepStage.PREPARING, StepStage.WAITING)

_WAITS = {
    StepStage.WAITING: "Step Into waits until a worker begins {}",
    StepStage.RETURNING: "Step Out waits until the caller takes the result of {}",
}
"""The text about a long wait, by stage."""


def begin(state: State, thread: WorkerThread, target: object) -> Flow[bool]:
    """Let the step that begins now follow the next call of the thread's line; return whether the line may submit one.

    `target` is the worker's own id of the step-in target, or None.
    """
    number = state.next_question()
    wanted = target if type(target) is int else -1
    try:
        expression = task_calls.arm_step(number, thread.local, wanted)
        answer = yield from query(thread.worker, expression, ANSWER_TIMEOUT_S)
    except calls.ResultError as error:
        state.log("warning", f"{thread.worker} cannot follow a call: {error}")
        return False
    if answer != "armed":
        return False
    state.remote_steps[number] = RemoteStep(number, thread, state.now)
    return True


def submits(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Note that a thread has stopped at a line with `.remote`."""
    thread = _thread(worker, body)
    if thread is not None:
        thread.submits = True


def called(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Prepare to follow a call that a worker is about to submit."""
    step = _step(state, worker, body)
    if step is not None and step.stage is StepStage.ARMED:
        step.enter(StepStage.PREPARING, state.now)
        step.kind = str(body.get("kind"))
        step.function = shortened(one_line(str(body.get("function"))), MAX_NAME)
        step.code = str(body.get("code"))
        state.start(_prepare(state, step, _actor_row(body)))


def _actor_row(body: dict[str, object]) -> ProcessInfo | None:
    """Return the process of the method's actor, as the caller reports it."""
    pid, key = body.get("pid"), str(body.get("worker") or "")
    if type(pid) is not int or not key:
        return None
    node = str(body.get("node"))
    return ProcessInfo(WorkerKey(key), node, 0, pid, node, str(body.get("nodeId")))


def _prepare(state: State, step: RemoteStep, row: ProcessInfo | None) -> Flow[None]:
    """Set the breakpoint wherever the call may run, and then let the caller submit it."""
    reason = _obstacle(state, step, row)
    if not reason:
        yield from _set_breakpoint(state, step)
        if step.stage is not StepStage.PREPARING:
            return  # The user has given it up.
        if row is not None:
            _attach_actor(state, step, row)
        prepared.attach_needed(state)
        step.ready = Future()
        examine(state)
        yield from step.ready
        if step.process and not _is_ready(state, step):
            reason = f"raydap cannot attach to the process of its actor ({row.pid if row is not None else ''})"
    if step.stage is not StepStage.PREPARING:
        return
    if reason:
        end(state, step, f"Step Into cannot follow {step.function}: {reason}. It steps over the call.")
    else:
        _ask_caller(step, task_calls.decide_step(step.number, True))


def _obstacle(state: State, step: RemoteStep, row: ProcessInfo | None) -> str:
    """Return why a call cannot be followed, "" if it can."""
    if not step.code:
        return "it has no code of Python" if step.kind != "actor" else "its class has no __init__"
    if row is not None and row.key not in state.workers and state.run.settings is not None:
        is_unreached = state.run.settings.reach == "paused" and state.run.processes[row.key].row is None
        return 'its actor has no debugger, and this session has "reach": "paused"' if is_unreached else ""
    if row is None and not step.caller.worker.row.agent:
        if step.kind == "method":
            return "its actor is not running yet"
        return "a new process runs it, and this program is not prepared (raydap run, launch)"
    return ""


def _set_breakpoint(state: State, step: RemoteStep) -> Flow[None]:
    group = state.run.breakpoints.follow(step.number, _spec(step))
    workers = attach.configured_workers(state)
    yield from state.parts.gather({each.key: attach.set_group(state, each, group, "") for each in workers})


def _spec(step: RemoteStep) -> dict[str, object]:
    return {"name": step.code, "condition": task_calls.is_called(step.number, step.task)}


def _attach_actor(state: State, step: RemoteStep, row: ProcessInfo) -> None:
    """Attach to the process of an actor for the time of a step, with an agent that starts now if it has none."""
    processes, step.process = state.run.processes, row.key
    if row.key in state.workers:
        return
    process = processes[row.key]
    step.chooses, step.was_chosen = True, process.choice
    processes.choose([row.key], True)
    if process.row is None or (process.agent is None and process.paused is None):
        unprepared.inject(state, row)


def _is_ready(state: State, step: RemoteStep) -> bool:
    """Return whether all processes that may run the call are attached."""
    if step.process:
        worker = state.workers.get(step.process)
        return worker is not None and worker.is_attached
    return not state.attaching and not state.run.processes.queue


def examine(state: State) -> None:
    """Continue the steps for which all is ready, and end those whose caller has gone or has not submitted a call.

    Called after every event.
    """
    for step in list(state.remote_steps.values()):
        caller = step.caller
        is_due = step.stage is StepStage.PREPARING and (_is_ready(state, step) or state.now >= step.since + READY_S)
        if is_due and step.ready is not None:
            step.ready.set_result(None)
        if not caller.worker.is_attached or caller.worker.threads.get(caller.local) is not caller:
            end(state, step)
        elif step.stage is StepStage.ARMED and caller.state in (ThreadState.STOPPED, ThreadState.BLOCKED):
            _ask_caller(step, task_calls.disarm_step(step.number))
            end(state, step)


def submitted(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Note the task of a call that has been submitted."""
    step, task = _step(state, worker, body), body.get("task")
    if step is None or step.stage is not StepStage.PREPARING:
        return
    if not isinstance(task, str) or not task:
        end(state, step, f"Step Into cannot follow {step.function}: the call returns no reference.")
        return
    step.task = task
    step.caller.stepping = False
    step.enter(StepStage.WAITING, state.now)
    # Workers that are attached from now on get the id with the breakpoint.
    state.run.breakpoints.follow(step.number, _spec(step))
    _resolve(state, step)


def _resolve(state: State, step: RemoteStep) -> None:
    """Send the task id to all workers that may wait for it (inworker/followed_calls.py, ID_TIMEOUT_S)."""
    expression = {"expression": task_calls.resolve_step(step.number, step.task), "context": "clipboard"}

    def send(worker: Worker) -> None:
        if worker.stage is not AttachStage.GONE:
            worker.request_logged("evaluate", expression)

    state.start(state.parts.for_each(attach.configured_workers(state), send))


def reached(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Note which thread has begun the call of a step. Its stop at the breakpoint follows."""
    number = body.get("number")
    step = state.remote_steps.get(number) if type(number) is int else None
    local = body.get("threadId")
    if step is not None and step.stage is StepStage.WAITING and type(local) is int:
        step.callee = worker.thread(LocalId(local))
        # A generator or coroutine can stop at its first line without a stop at the breakpoint.
        step.callee.arriving = body.get("steps") is not True
        if not step.callee.arriving:
            _note_reached(state, step, step.callee)


def stopped(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Handle a worker's `stopped` event: a stop at the breakpoint of a step leads to the function's first line."""
    local = body.get("threadId")
    thread = worker.threads.get(LocalId(local)) if type(local) is int else None
    if thread is not None and thread.arriving:
        state.start(_arrive(state, thread))
    else:
        stops.stopped(state, worker, body)


def _arrive(state: State, thread: WorkerThread) -> Flow[None]:
    """Step from the breakpoint to the first line of the function. The stop there is shown to the user."""
    thread.arriving = False
    for step in [each for each in state.remote_steps.values() if each.callee is thread]:
        if step.stage is StepStage.WAITING:
            _note_reached(state, step, thread)
    yield from thread.worker.ask("next", {"threadId": thread.local, "singleThread": True})


def _note_reached(state: State, step: RemoteStep, thread: WorkerThread) -> None:
    step.enter(StepStage.REACHED, state.now)
    _end_progress(state, step)
    thread.call, thread.stepped_from = step, step.caller
    thread.state, thread.stepping = ThreadState.RUNNING, True
    _remove_breakpoint(state, step)


def leave(state: State, thread: WorkerThread) -> Flow[bool]:
    """Make the caller stop where it takes the result of the call that the user steps out of.

    Return whether it will: the thread is in the outermost function of its call, and the result is not taken yet.
    """
    step = thread.call
    if not isinstance(step, RemoteStep) or step.number not in state.remote_steps or step.kind == "actor":
        return False
    try:
        if (yield from _current_task(thread)) != step.task:
            thread.call = None  # The thread has ended the call, and runs another one.
            return False
        if (yield from query(thread.worker, task_calls.is_outermost(thread.local), ANSWER_TIMEOUT_S)) != "yes":
            return False
        expression = task_calls.stop_at_result(step.task)
        if (yield from query(step.caller.worker, expression, ANSWER_TIMEOUT_S)) != "watched":
            return False
    except (calls.ResultError, WorkerRefusedError):
        return False
    step.enter(StepStage.RETURNING, state.now)
    return True


def _current_task(thread: WorkerThread) -> Flow[str]:
    """Return the hex id of the task that a stopped thread runs. Raises ResultError and ProblemError."""
    stack = load_body((yield from thread.worker.ask("stackTrace", {"threadId": thread.local, "levels": 1})))
    frame = next(iter(frames_of(stack)), {}).get("id")
    arguments = {"expression": task_calls.current_task(), "frameId": frame, "context": "watch"}
    return calls.read_summary(load_body((yield from thread.worker.ask("evaluate", arguments))).get("result"))


def taken(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Note that the caller has taken the result of a call. If the user has stepped out of it, its stop follows."""
    step = _step(state, worker, body)
    if step is None:
        return
    if step.stage in _PENDING:
        end(state, step, f"{step.function} has ended without a stop in its function.")
        return
    thread = _thread(worker, body)
    if step.stage is StepStage.RETURNING and body.get("stops") is True and thread is not None:
        thread.stepped_from = step.callee
    is_lost = step.stage is StepStage.RETURNING and body.get("stops") is not True
    end(state, step, f"A library has taken the result of {step.function}, so the caller does not stop." * is_lost)


def give_up(state: State, threads: Iterable[WorkerThread] | None = None) -> None:
    """End the steps that still wait, of these threads or of all, because the user pauses or steps again."""
    wanted = None if threads is None else set(threads)
    for step in list(state.remote_steps.values()):
        concerned = wanted is None or not wanted.isdisjoint({step.caller, step.callee})
        if not concerned or step.stage is StepStage.REACHED:
            continue
        if step.stage is StepStage.RETURNING:
            _ask_caller(step, task_calls.forget_result(step.task))
            end(state, step, f"raydap no longer waits for the result of {step.function}.")
        elif step.stage is StepStage.ARMED:
            _ask_caller(step, task_calls.disarm_step(step.number))
            end(state, step)
        else:
            end(state, step, f"raydap no longer waits for the call of {step.function}; it runs without a stop.")


def report_long(state: State) -> None:
    """Notify the user of steps that have waited for a while. Called at every Tick."""
    for step in state.remote_steps.values():
        text = _WAITS.get(step.stage)
        if text is not None and not step.progress and state.now >= step.since + LONG_S:
            title = text.format(step.function)
            step.progress = f"step {state.handles.new()}"
            clients = [client for client in state.ready_clients() if client.role is not ClientRole.CHILD]
            step.clients = [client.id for client in clients if "supportsProgressReporting" in client.supports]
            _send(state, step, "progressStart", {"title": title, "cancellable": True})
            state.print_to_console(f"{title}; a pause gives it up.")


def cancel(state: State, progress: object) -> None:
    """Give up the step whose wait has this `progressId`."""
    for step in [each for each in state.remote_steps.values() if each.progress and each.progress == progress]:
        give_up(state, [step.caller])


def _end_progress(state: State, step: RemoteStep) -> None:
    if step.progress:
        _send(state, step, "progressEnd", {})
        step.progress = ""


def _send(state: State, step: RemoteStep, event: str, body: dict[str, object]) -> None:
    for key in step.clients:
        client = state.clients.get(key)
        if client is not None and client.is_ready:
            client.event(event, {"progressId": step.progress, **body})


def end(state: State, step: RemoteStep, text: str = "") -> None:
    """End a step, and notify the user with `text`. A call that waits is submitted without being followed."""
    state.remote_steps.pop(step.number, None)
    _end_progress(state, step)
    stage = step.stage
    if stage is StepStage.PREPARING:
        _ask_caller(step, task_calls.decide_step(step.number, False))
    if stage in _PENDING:
        step.enter(StepStage.REACHED, state.now)
        if step.ready is not None:
            step.ready.set_result(None)
        _remove_breakpoint(state, step)
        step.task = ""
        _resolve(state, step)
    if text:
        state.print_to_console(text)


def _remove_breakpoint(state: State, step: RemoteStep) -> None:
    group = state.run.breakpoints.follow(step.number, None)
    state.start(attach.set_breakpoints_everywhere(state, group))
    if step.chooses:
        step.chooses = False
        state.run.processes.choose([step.process], step.was_chosen)


def _ask_caller(step: RemoteStep, expression: str) -> None:
    if step.caller.worker.stage is not AttachStage.GONE:
        step.caller.worker.request_logged("evaluate", {"expression": expression, "context": "clipboard"})


def _step(state: State, worker: Worker, body: dict[str, object]) -> RemoteStep | None:
    """Return the step that an event of its caller's process names."""
    number = body.get("number")
    step = state.remote_steps.get(number) if type(number) is int else None
    return step if step is not None and step.caller.worker is worker else None


def _thread(worker: Worker, body: dict[str, object]) -> WorkerThread | None:
    local = body.get("threadId")
    return worker.thread(LocalId(local)) if type(local) is int else None
