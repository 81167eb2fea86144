"""Control of single threads of a debugged process; runs there.

debugpy's own `continue` and `pause` apply to all threads of the process, whatever `singleThread` is. `continue` also
loses the stop of another thread, and the resumed thread notices it only at its next poll, every 0.2 s.

A thread id here is DAP's: a number that is valid in this process only.

The design is in docs/design/threads.md.
"""

import threading
from typing import Any

from .delayed_signals import DelayedSignals, TracedAgain
from .frame_locals import drop_copy
from .replaced_functions import install
from .thread_identity import register
from .time_limits import TimeLimits

_STEP = (
    "pydev_original_step_cmd",
    "pydev_step_cmd",
    "pydev_step_stop",
    "pydev_use_scoped_step_frame",
    "step_in_initial_location",
    "suspend_type",
)
"""The attributes of a thread's step in pydevd (PyDBAdditionalThreadInfo): the command, and the frame where it was
given."""


_EVALUATING = ("handle_breakpoint_condition", "handle_breakpoint_expression")
"""The methods of pydevd that evaluate in a frame at each hit of a breakpoint. The frame is their last argument."""


def dropping(method: Any, debugger: Any) -> Any:
    """Return a function that calls a method of pydevd and then drops the copy of its frame's variables."""

    def evaluate(*args: Any, **named: Any) -> Any:
        try:
            return method(debugger, *args, **named)
        finally:
            drop_copy(named["new_frame"] if named else args[-1])

    return evaluate


class ThreadControl:
    """The threads of one debugger object of pydevd, four of whose methods are overridden.

    **Memory.** Before Python 3.13 reading a frame's variables keeps them alive (frame_locals.py). So the copies are
    dropped when a stop, or an evaluation at a breakpoint, is over. Before 3.12 pydevd's trace function is running then,
    and Python would write the empty copy back into the variables; so there the copies stay.

    **Steps.** A stop for an exception interrupts the step that is in progress. pydevd resumes the thread with a new
    command: "run" drops the step, and a new step starts at the frame of the exception. So each such stop keeps the
    interrupted step, and `resume_step` restores it. A pause that was requested during the stop is not lost either. (A
    pause that is due already makes pydevd ignore the exception.)

    **Reports.** debugpy before 1.8.6 has no message for the stop of a single thread, but one for all threads that names
    the thread. raydap sends that message for each thread, where the thread starts to wait. It contains the frames of an
    exception, and pydevd keeps them locked where it would make a message for a single thread.
    """

    def __init__(self, debugger: Any, limits: TimeLimits) -> None:
        self.debugger = debugger
        self.limits = limits
        """The time limits, which end a thread's calls of program code soon after the thread is resumed."""
        self.interrupted: dict[str, dict[str, Any]] = {}
        """The interrupted step of each thread that is stopped for an exception, by pydevd's id."""
        self.going_on: set[str] = set()
        """pydevd's ids of the threads that `resume_step` has resumed and that have not woken up yet."""
        self.waiting: dict[str, Any] = {}
        """All stopped threads, by pydevd's id."""
        self.raised = 0
        """The `id` of the exception that a signal handler of the program has raised at the end of the last stop, 0
        without one. A reference would keep alive what the frames of the exception hold."""

    def override(self) -> None:
        """Override the methods of pydevd's debugger object."""
        install("debugger:set_suspend", self._set_suspend, self.debugger)
        install("debugger:_do_wait_suspend", self._do_wait_suspend, self.debugger)
        for name in _EVALUATING:
            if hasattr(self.debugger, name):
                method = getattr(type(self.debugger), name)
                install(f"debugger:{name}", dropping(method, self.debugger), self.debugger)

    def resume(self, thread: int) -> None:
        """Resume one stopped thread, and wake it. Raises KeyError for an id that no thread has had."""
        key = self._key(thread)
        found = self._find(key)
        if found is not None:
            from _pydevd_bundle.pydevd_thread_lifecycle import internal_run_thread

            self.limits.hurry(key)
            internal_run_thread(found, self.debugger.set_additional_thread_info)
        self._wake(key)

    def resume_step(self, thread: int) -> None:
        """Resume a thread as if the exception had not stopped it, and continue the interrupted step.

        For any other stop, or without an interrupted step, do the same as `resume`.
        """
        key = self._key(thread)
        found = self._find(key)
        if key not in self.interrupted or found is None:
            self.resume(thread)
            return
        # Put the step back here, so that pydevd always sees one, and once more when the thread has woken up.
        self.going_on.add(key)
        self.limits.hurry(key)
        self._put_back(found, self.interrupted[key])
        self._wake(key)

    def resume_unseen(self, thread: int) -> None:
        """Resume a stopped thread unless debugpy shows a frame of it.

        A real stop may have followed the stop without frames.
        """
        key = self._key(thread)
        frames = self.debugger.suspended_frames_manager.get_frames_list(key) if key in self.waiting else None
        # Without a list of frames the thread is not stopped, or is just about to wait.
        if frames is not None and not any(
            True for _ in self.debugger.cmd_factory._iter_visible_frames_info(self.debugger, frames)
        ):
            self.resume(thread)

    def pause(self, thread: int) -> None:
        """Request a stop of one running thread, which then reports `stopped`.

        Raises KeyError for an id that no thread has had.
        """
        from _pydevd_bundle.pydevd_api import PyDevdAPI

        key = self._key(thread)
        PyDevdAPI().request_suspend_thread(self.debugger, key)
        found = self._find(key)
        if found is not None:
            self._keep_events(found)

    def _set_suspend(self, thread: Any, stop_reason: int, *args: Any, **kwargs: Any) -> None:
        """Decide that a thread stops, and why; overrides pydevd's method.

        Keep the step that a stop for an exception interrupts. Stop no other threads: a breakpoint of debugpy before
        1.8.6 would stop all threads, and report the others as paused.
        """
        from _pydevd_bundle.pydevd_comm_constants import (
            CMD_ADD_EXCEPTION_BREAK,
            CMD_STEP_CAUGHT_EXCEPTION,
            CMD_THREAD_SUSPEND,
        )
        from _pydevd_bundle.pydevd_constants import get_thread_id

        if stop_reason in (CMD_ADD_EXCEPTION_BREAK, CMD_STEP_CAUGHT_EXCEPTION):
            info = self.debugger.set_additional_thread_info(thread)
            self.interrupted[get_thread_id(thread)] = {
                name: getattr(info, name) for name in _STEP if hasattr(info, name)
            }
        if stop_reason != CMD_THREAD_SUSPEND:
            kwargs.pop("suspend_other_threads", None)
        type(self.debugger).set_suspend(self.debugger, thread, stop_reason, *args, **kwargs)

    def _do_wait_suspend(self, thread: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        """Hold a stopped thread until it is resumed, and prepare its next step; overrides pydevd's method."""
        from _pydevd_bundle.pydevd_comm_constants import CMD_THREAD_SUSPEND
        from _pydevd_bundle.pydevd_constants import get_thread_id
        from _pydevd_bundle.pydevd_thread_lifecycle import mark_thread_suspended

        key = get_thread_id(thread)
        if key in self.waiting:  # pydevd calls this method again after a `goto` that failed.
            return type(self.debugger)._do_wait_suspend(self.debugger, thread, frame, *args, **kwargs)
        register(thread)
        self.waiting[key] = thread
        try:
            self._report(key, thread)
            result = self._wait(key, thread, frame, args, kwargs)
        finally:
            self.waiting.pop(key, None)
            while frame is not None:
                drop_copy(frame)
                frame = frame.f_back
            step = self.interrupted.pop(key, {})
        if key in self.going_on:
            self.going_on.discard(key)
            self._put_back(thread, step)
            # A pause that was requested during the stop has changed the reason of the stop.
            if thread.stop_reason == CMD_THREAD_SUSPEND:
                mark_thread_suspended(thread, CMD_THREAD_SUSPEND)
        return result

    def _wait(self, key: str, thread: Any, frame: Any, args: Any, kwargs: Any) -> Any:
        """Call pydevd's method, and then the program's signal handlers that were delayed.

        If an exception interrupts the stop, resume the thread and report that, so that no stop remains half ended.
        """
        from _pydevd_bundle.pydevd_thread_lifecycle import internal_run_thread

        def resume() -> None:
            internal_run_thread(thread, self.debugger.set_additional_thread_info)

        if thread is threading.main_thread():
            self.raised = 0
        signals = DelayedSignals(resume)
        try:
            signals.begin()
            result = type(self.debugger)._do_wait_suspend(self.debugger, thread, frame, *args, **kwargs)
        except BaseException:
            resume()
            message = self.debugger.cmd_factory.make_thread_run_message(self.debugger, key, -1)
            self.debugger.writer.add_command(message)
            raise
        finally:
            signals.end()
        try:
            signals.run_handlers(frame)
        except BaseException as error:
            self.raised = id(error)
            traced_again = TracedAgain(self.debugger)  # noqa: F841
            raise
        return result

    def _keep_events(self, thread: Any) -> None:
        """Keep the events switched on at which this thread, which has just been asked to pause, would stop.

        From Python 3.12 on, events are switched on and off for all threads at once (sys.monitoring). A thread in which
        pydevd has nothing to do switches them off where it runs, unless any thread steps or is about to stop. For
        "about to stop", pydevd checks whether a thread is in its wait loop (pydevd_additional_thread_info_regular.py,
        _is_stepping). So mark this thread as being there until it is, and switch on the events that were switched off
        in between.
        """
        from _pydevd_bundle import pydevd_constants

        info = self.debugger.set_additional_thread_info(thread)
        # Older Pythons, and debugpy before 1.8.6, lack some of this.
        shared = getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False) and hasattr(info, "is_in_wait_loop")
        if not shared or info.pydev_state != pydevd_constants.STATE_SUSPEND:
            return
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        info.is_in_wait_loop = True
        info.update_stepping_info()
        pydevd_sys_monitoring.restart_events()

    def _report(self, key: str, thread: Any) -> None:
        """Report the stop of a thread to debugpy before 1.8.6; a newer pydevd has done that."""
        factory = self.debugger.cmd_factory
        if type(factory).make_thread_suspend_message.__code__.co_argcount > 1:
            return  # pydevd has sent a message for this thread.
        message = factory.make_thread_suspend_single_notification(self.debugger, key, thread, thread.stop_reason)
        self.debugger.writer.add_command(message)

    def _put_back(self, thread: Any, step: dict[str, Any]) -> None:
        from _pydevd_bundle.pydevd_constants import STATE_RUN

        info = self.debugger.set_additional_thread_info(thread)
        for name, value in step.items():
            setattr(info, name, value)
        info.pydev_state = STATE_RUN
        if hasattr(info, "update_stepping_info"):  # debugpy before 1.8.6 keeps no list of the threads that step.
            info.update_stepping_info()

    def _wake(self, key: str) -> None:
        # debugpy before 1.8.6 has no event for each thread: its stopped threads poll every 10 ms.
        if hasattr(self.debugger, "get_internal_queue_and_event"):
            self.debugger.get_internal_queue_and_event(key)[1].set()

    def _find(self, key: str) -> Any:
        """Return the thread with this id of pydevd, None if it has ended.

        Prefer the object of a stopped thread: the program may have replaced the object that pydevd finds.
        """
        from _pydevd_bundle.pydevd_thread_lifecycle import pydevd_find_thread_by_id

        return self.waiting.get(key) or pydevd_find_thread_by_id(key)

    def _key(self, thread: int) -> str:
        """Return pydevd's id of a thread. Raises KeyError for an id that no thread has had."""
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

        key: str = BaseSchema._dap_id_to_obj_id[thread]
        return key


def is_empty_pause(debugger: Any, thread: Any, frame: Any) -> bool:
    """Return whether a thread pauses where none of its frames is shown, as in the event loop of a coroutine.

    `justMyCode` and filters hide frames. From Python 3.12 on pydevd pauses at the end of any function (_return_event).
    """
    from _pydevd_bundle.pydevd_comm_constants import CMD_THREAD_SUSPEND

    if thread.stop_reason != CMD_THREAD_SUSPEND or not debugger.is_files_filter_enabled:
        return False
    while frame is not None and debugger.apply_files_filter(frame, frame.f_code.co_filename, False):
        frame = frame.f_back
    return frame is None
