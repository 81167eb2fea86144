"""Steps that follow a call into the process that runs it; runs in the caller's process and in the others.

In the caller, Step Into at a line with `.remote` arms the thread: the next call that this line submits waits until
raydap's core is ready for it in all other processes, and then reports its task id. In the others, the condition of a
function breakpoint is met only by the task with this id. The results that the caller takes are watched until the call's
result is among them, because Step Out leads there (remote_results.py).

Every wait here is short: the program continues without the step if raydap does not answer.

The design is in docs/design/remote-steps.md.
"""

import ast
import inspect
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .call_sites import call_sites, current_task, task_of
from .own_stops import step_into, step_over
from .remote_results import RemoteResults, is_library, stopped_frame
from .submitting_lines import dap_id, send_event, submits
from .traced_files import LATE

READY_TIMEOUT_S = 20.0
"""Seconds for which a call waits until raydap can follow it."""

ID_TIMEOUT_S = 5.0
"""Seconds for which another process waits for the task id when the function is called there."""

CHECK_S = 0.05
"""Seconds between two checks whether the debugger is still there."""

COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""The names of functions whose code is part of a line. Before Python 3.12, each comprehension is a function."""


class _Step:
    """A step of a thread that will follow the next call of its line."""

    def __init__(self, number: int, key: str, frame: Any, is_call: Callable[[Any], bool]) -> None:
        self.number = number
        """raydap's number of the step."""
        self.key = key
        """pydevd's id of the thread."""
        self.frame = frame
        """The frame where the user has stepped."""
        self.is_call = is_call
        """Returns whether the frame that submits a call is at the call that the user has chosen."""


class FollowedCalls:
    """The steps that begin or end in this process, as long as one debugger object of pydevd exists."""

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.results = RemoteResults(debugger)
        self._armed: dict[int, _Step] = {}
        """The armed step of each thread, by the thread's ident."""
        self._ready: dict[int, bool] = {}
        """Whether to follow the call of a step, by the step's number, as soon as raydap has decided."""
        self._tasks: dict[int, str] = {}
        """The hex id of the task of a step, "" if there is none, as soon as raydap knows it."""
        self._reached: set[int] = set()
        self._submitters: set[int] = set()
        """The idents of threads that submit a followed call. If Ray calls a function of the same name then, such as
        `__init__`, such a thread would wait for itself."""
        self._changed = threading.Condition()

    def arm(self, number: int, thread: int, target: int) -> str:
        """Prepare the step with this number, of a thread that is stopped at a line with `.remote`.

        `thread` is DAP's id, and `target` that of the target that the user has chosen, -1 without one. Return "armed",
        or "" if there is no call of Ray to follow.
        """
        control = self.debugger.raydap.threads
        key = control._key(thread)
        found = control.waiting.get(key)
        frame = stopped_frame(self.debugger, key)
        is_call = self._chosen(found, target) if found is not None and frame is not None and submits(frame) else None
        sites = call_sites(self.debugger)
        if is_call is None or not sites.replace():
            return ""
        sites.follow = self._follow
        self.results.replace()
        self._armed[found.ident] = _Step(number, key, frame, is_call)
        return "armed"

    def disarm(self, number: int) -> None:
        """End a step whose line has submitted no call."""
        self._armed = {ident: step for ident, step in self._armed.items() if step.number != number}

    def decide(self, number: int, follow: bool) -> None:
        """Let the call that waits be submitted, and followed if `follow` is true."""
        with self._changed:
            self._ready[number] = follow
            self._changed.notify_all()

    def resolve(self, number: int, task: str) -> None:
        """Note the hex id of the task of a step, "" if the step is over."""
        with self._changed:
            self._tasks[number] = task
            self._changed.notify_all()

    def is_call(self, number: int, task: str) -> bool:
        """Return whether the calling thread has just begun the call of a step, and report it then.

        It is the condition of a breakpoint. `task` is "" if the task id was not known when the breakpoint was set.
        """
        if number in self._reached or threading.get_ident() in self._submitters:
            return False
        task = task or self._await(self._tasks, number, ID_TIMEOUT_S) or ""
        if not task:
            self._tasks.setdefault(number, "")  # The next call does not wait as long again.
        try:
            is_there = bool(task) and task == current_task()
        except Exception:
            is_there = False  # pydevd would stop at a condition that fails.
        if not is_there:
            return False
        self._reached.add(number)
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        key = get_current_thread_id(threading.current_thread())
        steps = self._begin_late()
        send_event(self.debugger, "raydapReached", {"threadId": dap_id(key), "number": number, "steps": steps})
        return True

    def _begin_late(self) -> bool:
        """Begin a step to the first line if the condition is that of a generator or coroutine which pydevd traces.

        pydevd ignores function breakpoints there (traced_files.py). Return whether a step has begun.
        """
        from _pydevd_bundle import pydevd_constants

        frame: Any = sys._getframe(2)
        while frame is not None and (is_library(frame) or frame.f_code.co_filename == "<string>"):
            frame = frame.f_back
        is_traced = not getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
        if frame is None or not is_traced or not frame.f_code.co_flags & LATE:
            return False
        step_into(self.debugger)
        return True

    def _chosen(self, thread: Any, target: int) -> "Callable[[Any], bool] | None":
        """Return the function that recognises the call of a target, None if the target is no call of Ray."""
        if target < 0:
            return lambda frame: True
        info = self.debugger.set_additional_thread_info(thread)
        variant = info.target_id_to_smart_step_into_variant.get(target)
        if variant is None or not calls_remote(variant.name):
            return None
        from _pydevd_bundle.pydevd_bytecode_utils import get_smart_step_into_variant_from_frame_offset

        parent = getattr(variant, "parent", None)
        variants = info.pydev_smart_step_into_variants if parent is None else parent.children_variants
        return lambda frame: get_smart_step_into_variant_from_frame_offset(frame.f_lasti, variants) is variant

    def _follow(self, kind: str, owner: Any, args: Any, frame: Any) -> "Callable[[Callable[[], Any]], Any] | None":
        """Return the function that makes this call in a step, None if no step follows it."""
        step = self._armed.get(threading.get_ident())
        try:
            description = describe(kind, owner, args) if step is not None and _is_at(step, frame) else None
        except Exception:
            description = None  # The call is submitted without a step.
        if step is None or description is None:
            return None
        del self._armed[threading.get_ident()]
        return lambda call: self._submit(step, description, call)

    def _submit(self, step: _Step, description: dict[str, Any], call: Callable[[], Any]) -> Any:
        """Submit a call when raydap is ready to follow it, and report its task. Raise only what the call raises."""
        where = {"threadId": dap_id(step.key), "number": step.number}
        send_event(self.debugger, "raydapCall", {**where, **description})
        if not self._await(self._ready, step.number, READY_TIMEOUT_S):
            return call()
        task, ident = "", threading.get_ident()
        self._submitters.add(ident)
        try:
            result = call()
            with suppress(Exception):  # Another version of Ray returns something else.
                task = task_of(result)
        finally:
            self._submitters.discard(ident)
            if task:
                self.results.watch(task, step.number)
                step_over(self.debugger, None)
            send_event(self.debugger, "raydapSubmitted", {**where, "task": task})
        return result

    def _await(self, answers: dict[int, Any], number: int, timeout_s: float) -> Any:
        """Return raydap's answer, None if there is none in time or if the debugger has left."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while number not in answers and time.monotonic() < until and hasattr(self.debugger, "raydap"):
                if self.debugger.pydb_disposed:
                    break
                self._changed.wait(CHECK_S)
            return answers.get(number)


def _is_at(step: _Step, frame: Any) -> bool:
    """Return whether a call comes from the line of a step. `frame` has called the replaced method."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ray":
        frame = frame.f_back
    caller = frame
    while frame is not None and frame is not step.frame and frame.f_code.co_name in COMPREHENSIONS:
        frame = frame.f_back
    return frame is step.frame and step.is_call(caller)


def describe(kind: str, owner: Any, args: Any) -> dict[str, Any]:
    """Describe a call for raydap's core: its kind, its function, and for a method the actor's worker.

    `code` is the name of the function in its code: "" if there is no code of Python to stop in.
    """
    if kind == "task":
        function = inspect.unwrap(owner._function)
        return {"kind": kind, "function": owner._function_name.rpartition(".")[2], "code": _code_name(function)}
    if kind == "actor":
        kind_of = owner.__ray_metadata__.modified_class
        name = kind_of.__ray_actor_class__.__name__ if hasattr(kind_of, "__ray_actor_class__") else kind_of.__name__
        return {"kind": kind, "function": name, "code": _code_name(inspect.unwrap(kind_of.__init__))}
    name = str(args[0]) if args else ""
    return {"kind": kind, "function": name, "code": name, **actor_process(owner)}


def _code_name(function: Any) -> str:
    return str(getattr(getattr(function, "__code__", None), "co_name", ""))


def actor_process(handle: Any) -> dict[str, Any]:
    """Return where the actor of a handle runs, as far as Ray knows it: the fields of a process, or nothing."""
    try:
        state: Any = sys.modules["ray._private.state"].state
        connect = getattr(state, "_connect_and_get_accessor", None)
        if connect is None:
            state._check_connected()  # Ray before 2.50.
        accessor = state.global_state_accessor if connect is None else connect()
        data = accessor.get_actor_info(handle._ray_actor_id)
        row = sys.modules["ray.core.generated.gcs_pb2"].ActorTableData.FromString(data) if data else None
        if row is None or not row.address.worker_id:
            return {}
        address = row.address
        where = {"worker": address.worker_id.hex(), "node": address.ip_address}
        node_id = address.node_id if hasattr(address, "node_id") else address.raylet_id
        return {**where, "nodeId": node_id.hex(), "pid": row.pid}
    except Exception:
        return {}  # Another version of Ray; raydap then relies on its own list.


def calls_remote(text: str) -> bool:
    """Return whether a target of pydevd is a call of `.remote`. Before Python 3.11 its text is only a name."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return text.rpartition(".")[2] == "remote"
    if isinstance(call, ast.Call):
        return isinstance(call.func, ast.Attribute) and call.func.attr == "remote"
    return text.rpartition(".")[2] == "remote"


def followed_calls(debugger: Any) -> FollowedCalls:
    """Return the FollowedCalls of this debugger object."""
    if "raydap_steps" not in vars(debugger):
        debugger.raydap_steps = FollowedCalls(debugger)
    return vars(debugger)["raydap_steps"]  # type: ignore[no-any-return]
