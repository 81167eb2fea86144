"""Gives each forked child of a process with an agent an agent of its own; runs in the process, and in its children.

A forked child has its parent's descriptors and pydevd's state, but only one of its threads. So nobody would read the
connection in the child, and what the child wrote there would be taken for its parent's. The hooks that Python calls
around a fork take all of that away in the child. Only when the fork is over, and all other hooks are, too, the child's
own agent begins and calls raydap: until then the locks of other modules may be held (as logging's is).

A child that `subprocess` forks has no agent; it is about to become another program.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from .agent_lines import is_wanted
from .breakpoint_hooks import global_debugger, override_rays_breakpoint, report_no_stop, stop_at
from .fork_warnings import add_filter, remove_filter, warn_of_fork
from .light_start import CHANGE_TIMEOUT_S
from .python_commands import PythonCommands, replace_in_os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .replaced_functions import Prepare


class Forks:
    """Follows all forks of a process, and those of its children.

    `agent` is the one agent of the process (agent.py). `wanted`: children have agents, too. Otherwise they run on
    undebugged.
    """

    def __init__(self, agent: Any, wanted: bool) -> None:
        self.agent = agent
        self.wanted = wanted
        self._settled = False
        self._complained_in = 0
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
        """Raises nothing: Python would only print it."""
        self._calling = allocate_lock()  # A thread of the parent may hold the other.
        try:
            session = self.agent.leave_parent()
            if session is not None and "pydevd" in sys.modules:
                forget_debugger(session.started)
            if not has_debugger():
                override_rays_breakpoint(self._debugger, self._call_at_rays_breakpoint)
                self._replace_breakpoint()
        except Exception as error:
            self.wanted = False
            report(error)

    def _debugger(self) -> Any:
        return None if self.agent.session is None else self.agent.session.debugger

    def _call_at_rays_breakpoint(self) -> None:
        """Call raydap from a forked child without a debugger. Write once why its breakpoint() does nothing."""
        if not self._call_at_breakpoint() and self._complained_in != os.getpid():
            self._complained_in = os.getpid()
            report_no_stop("no raydap is attached to this forked child")

    def _call_at_breakpoint(self) -> bool:
        """Return whether raydap debugs this child. Another thread of the child may have called already."""
        with self._calling:
            if self._debugger() is not None:
                return True
            try:
                return self.wanted and self._settled and is_wanted() and bool(self.agent.call_at_breakpoint())
            except Exception as error:
                report(error)
                return False

    def _replace_breakpoint(self) -> None:
        """In a forked child of a launched driver: let breakpoint() stop, as it does in the driver.

        It does what it does without raydap if none attaches, and where the program has its own hook, as Ray's workers.
        """
        original = sys.breakpointhook
        if not self.agent.raydap or original is not sys.__breakpointhook__ or "PYTHONBREAKPOINT" in os.environ:
            return

        def stop_here(*args: Any, **kwargs: Any) -> Any:
            if self._debugger() is None and not self._call_at_breakpoint():
                return original(*args, **kwargs)
            return stop_at(self._debugger, sys._getframe(1))

        sys.breakpointhook = stop_here

    def _begin(self) -> None:
        """Begins the agent of this child. In a child whose parent has debugpy's adapter, pydevd does that its own
        way."""
        try:
            if self.wanted and self._settled and not has_debugger() and is_wanted() and has_real_threads():
                self.agent.begin(self.agent.raydap)
        except OSError:
            pass  # raydap has gone, and its folder.
        except Exception as error:
            report(error)


def followed(fork: Callable[[], Any], begin: Callable[[], None]) -> Prepare:
    """`fork` is os.fork or os.forkpty; `begin` is called in the child."""

    def new_fork() -> Any:
        filters = add_filter()
        try:
            result = fork()
        finally:
            remove_filter(filters)
        pid = result if isinstance(result, int) else result[0]
        if pid != 0:
            warn_of_fork(fork.__name__)
        # os.spawnv forks to become another program.
        elif sys._getframe(2).f_code.co_name != "_spawnvef":
            begin()
        return result

    return lambda: new_fork


def has_real_threads() -> bool:
    """Return whether threading starts threads of the system.

    gevent and eventlet let it start greenlets, and their subprocess modules fork in Python before they become another
    program. An agent would wait there for a greenlet that never runs.
    """
    gevent: Any = sys.modules.get("gevent.monkey")
    eventlet: Any = sys.modules.get("eventlet.patcher")
    return not (
        (gevent is not None and gevent.is_module_patched("threading"))
        or (eventlet is not None and eventlet.is_monkey_patched("thread"))
    )


def has_debugger() -> bool:
    return global_debugger() is not None


def forget_debugger(debugger: Any) -> None:
    """In a forked child: pydevd traces nothing any more, and knows nothing of its parent's session. `debugger` is
    its object in the parent, None if the session had none yet.

    Source: pydevd.py, settrace_forked, which does a part of this and then connects to the parent's adapter.
    """
    from .pydevd_lifetime import list_threads_as_before, put_tracers_back

    put_tracers_back(debugger)
    list_threads_as_before()
    from _pydev_bundle import pydev_monkey
    from _pydevd_bundle import pydevd_constants
    from _pydevd_frame_eval import pydevd_frame_eval_main

    pydev_monkey._on_forked_process(setup_tracing=False)
    pydev_monkey.undo_patch_thread_modules()
    if pydevd_frame_eval_main.clear_thread_local_info is not None:
        pydevd_frame_eval_main.clear_thread_local_info()
    if getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False):
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        pydevd_sys_monitoring.stop_monitoring(all_threads=True)
        pydevd_sys_monitoring.reset_thread_local_info()


def report(error: Exception) -> None:
    sys.stderr.write(f"raydap cannot debug the child {os.getpid()}: {error!r}\n")


CHILDREN = True
"""Whether the children of this process have agents. driver_setup.py and sitecustomize.py may change it."""

AT_START = ""
"""The folder of sitecustomize.py, from which a Python begins with an agent; "" if there is none. They set it."""

PACKED_START_FILES = ""
"""The files for such a folder, where that one does not exist, as on another machine (agent_code.py, child_settings)."""


def follow_children(agent: Any) -> None:
    """Called once in a process, before its agent begins. Raises nothing: a Python whose children cannot be followed is
    debugged without them."""
    try:
        Forks(agent, CHILDREN)
        if CHILDREN and (PACKED_START_FILES or os.path.isdir(AT_START)):
            PythonCommands(agent, lambda: at_start_folder(agent)).follow()
    except Exception as error:
        sys.stderr.write(f"raydap cannot debug the children of this process: {error!r}\n")


def at_start_folder(agent: Any) -> str:
    """Return AT_START, or a folder that is like it. Raises OSError."""
    if os.path.isdir(AT_START):
        return AT_START
    agent.load()
    from .start_files import unpack_once

    return unpack_once(PACKED_START_FILES)
