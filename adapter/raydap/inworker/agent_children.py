"""Agents for the forked children of a process with an agent; runs in the process and in its children.

A forked child has its parent's descriptors and pydevd's state, but only one of its threads. So no thread would read the
connection in the child, and raydap would take what the child writes there for messages of the parent. The hooks that
Python calls around a fork remove this state from the child. The child's own agent begins and calls raydap after the
fork and all other hooks are over, because the locks of other modules, such as logging's, may be held until then.

A child that `subprocess` forks gets no agent, because it is about to become another program.

The design is in docs/design/agent-children.md.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from .agent_lines import is_wanted
from .breakpoint_hooks import global_debugger, override_rays_breakpoint
from .fork_warnings import add_filter, remove_filter, warn_of_fork
from .light_start import CHANGE_TIMEOUT_S
from .own_stops import report_no_stop, stop_at
from .python_commands import PythonCommands, replace_in_os
from .replaced_functions import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .replaced_functions import Prepare


class Forks:
    """The hooks around all forks of a process and of its forked children."""

    def __init__(self, agent: Any, wanted: bool) -> None:
        self.agent = agent
        """The agent of the process (agent.py)."""
        self.wanted = wanted
        """Whether children get agents. Otherwise they run without a debugger."""
        self._settled = False
        """Whether no session was beginning or ending at the fork. False if one still was after CHANGE_TIMEOUT_S."""
        self._complained_in = 0
        """The pid of the process that has reported that its breakpoint() does nothing."""
        self._calling = allocate_lock()
        os.register_at_fork(before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child)
        for name in ("fork", "forkpty"):
            replace_in_os(name, followed(getattr(os, name), self._begin))

    def _before(self) -> None:
        self._settled = self.agent.changing.acquire(timeout=CHANGE_TIMEOUT_S)

    def _in_parent(self) -> None:
        if self._settled:
            self.agent.changing.release()

    def _in_child(self) -> None:
        """Remove the parent's session from this child, and override Ray's breakpoint() if it has no debugger.

        Raise nothing: Python would only print the exception.
        """
        self._calling = allocate_lock()  # A thread of the parent may hold the inherited lock.
        try:
            session = self.agent.leave_parent()
            if session is not None and "pydevd" in sys.modules:
                forget_debugger(session.started)
            if not has_debugger():
                self._replace_breakpoint()
                self.agent.after_session = self._replace_breakpoint
        except Exception as error:
            self.wanted = False
            report(error)

    def _debugger(self) -> Any:
        return None if self.agent.session is None else self.agent.session.debugger

    def _call_at_rays_breakpoint(self) -> None:
        """Call raydap from a forked child without a debugger; if none attaches, report that once."""
        if not self._call_at_breakpoint() and self._complained_in != os.getpid():
            self._complained_in = os.getpid()
            report_no_stop("no raydap is attached to this forked child")

    def _call_at_breakpoint(self) -> bool:
        """Call raydap, unless another thread of this child has done so; return whether it debugs the child."""
        with self._calling:
            if self._debugger() is not None:
                return True
            try:
                return self.wanted and self._settled and is_wanted() and bool(self.agent.call_at_breakpoint())
            except Exception as error:
                report(error)
                return False

    def _replace_breakpoint(self) -> None:
        """Let breakpoint() stop in a forked child of a launched driver, as in the driver, and Ray's in any child.

        Python's keeps its original effect if no raydap attaches, and if the program has a hook of its own, as in Ray's
        workers.
        """
        override_rays_breakpoint(self._debugger, self._call_at_rays_breakpoint)
        original = sys.breakpointhook
        if not self.agent.raydap or original is not sys.__breakpointhook__ or "PYTHONBREAKPOINT" in os.environ:
            return

        def stop_here(*args: Any, **kwargs: Any) -> Any:
            if self._debugger() is None and not self._call_at_breakpoint():
                return original(*args, **kwargs)
            return stop_at(self._debugger, sys._getframe(1))

        install("sys:breakpointhook", stop_here)

    def _begin(self) -> None:
        """Begin this child's agent. If the parent has debugpy's adapter, pydevd connects the child to that instead."""
        try:
            if self.wanted and self._settled and not has_debugger() and is_wanted() and has_real_threads():
                self.agent.begin(self.agent.raydap)
        except OSError:
            pass  # raydap has ended, and its folder is removed.
        except Exception as error:
            report(error)


def followed(fork: Callable[[], Any], begin: Callable[[], None]) -> Prepare:
    """Return a `Prepare` (replaced_functions.py) that calls `fork`, and then `begin` in the child.

    `fork` is os.fork or os.forkpty.
    """

    def new_fork() -> Any:
        filters = add_filter()
        try:
            result = fork()
        finally:
            remove_filter(filters)
        pid = result if isinstance(result, int) else result[0]
        if pid != 0:
            warn_of_fork(fork.__name__)
        # A child of os.spawnv is about to become another program.
        elif sys._getframe(2).f_code.co_name != "_spawnvef":
            begin()
        return result

    return lambda: new_fork


def has_real_threads() -> bool:
    """Return whether `threading` starts threads of the system.

    gevent and eventlet make it start greenlets, and their subprocess modules fork in Python before the child becomes
    another program. An agent in that child would wait for a greenlet that never runs.
    """
    gevent: Any = sys.modules.get("gevent.monkey")
    eventlet: Any = sys.modules.get("eventlet.patcher")
    return not (
        (gevent is not None and gevent.is_module_patched("threading"))
        or (eventlet is not None and eventlet.is_monkey_patched("thread"))
    )


def has_debugger() -> bool:
    """Return whether pydevd has a debugger object in this process, for raydap or another client."""
    return global_debugger() is not None


def forget_debugger(debugger: Any) -> None:
    """End pydevd's tracing in a forked child, and drop its data about the parent's session.

    `debugger` is pydevd's object in the parent, or None if the session had none yet.

    Source: pydevd.py, settrace_forked, which does part of this and then connects to the parent's adapter.
    """
    from .pydevd_lifetime import put_tracers_back, restore_all

    put_tracers_back(debugger)
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle import pydevd_constants
    from _pydevd_frame_eval import pydevd_frame_eval_main

    pydev_monkey._on_forked_process(setup_tracing=False)
    pydev_monkey.undo_patch_thread_modules()
    restore_all(debugger)
    if pydevd_frame_eval_main.clear_thread_local_info is not None:
        pydevd_frame_eval_main.clear_thread_local_info()
    if getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        pydevd_sys_monitoring.stop_monitoring(all_threads=True)
        pydevd_sys_monitoring.reset_thread_local_info()


def report(error: Exception) -> None:
    """Write to standard error that this child cannot be debugged."""
    sys.stderr.write(f"raydap cannot debug the child {os.getpid()}: {error!r}\n")


CHILDREN = True
"""Whether the children of this process have agents. `configure` may change it."""

AT_START = ""
"""The folder of sitecustomize.py, which gives a new Python its agent; "" if there is none. `configure`
sets it."""

PACKED_START_FILES = ""
"""The files of such a folder, for a machine where AT_START does not exist (bundle.py, child_settings)."""


def configure(settings: Mapping[str, Any]) -> None:
    """Set CHILDREN, AT_START and PACKED_START_FILES, where the settings contain them."""
    globals().update(settings)


def follow_children(agent: Any) -> None:
    """Give agents to the children of this process; called once, before its own agent begins.

    Raise nothing: a process whose children cannot get agents is debugged without them.
    """
    try:
        Forks(agent, CHILDREN)
        if CHILDREN and (PACKED_START_FILES or os.path.isdir(AT_START)):
            PythonCommands(agent, lambda: at_start_folder(agent)).follow()
    except Exception as error:
        sys.stderr.write(f"raydap cannot debug the children of this process: {error!r}\n")


def at_start_folder(agent: Any) -> str:
    """Return AT_START, or a folder with the same files if it does not exist. Raise OSError."""
    if os.path.isdir(AT_START):
        return AT_START
    agent.load()
    from .start_files import unpack_once

    return unpack_once(PACKED_START_FILES)
