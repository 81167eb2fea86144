"""The changes to pydevd's debugger object can be undone. The object is a stand-in."""

import socket
import struct
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker.changes import Changes
from raydap.inworker.stuck_adapter import SEND_TIMEOUT_S

HITS = ("handle_breakpoint_condition", "handle_breakpoint_expression")
FILES = {"_internal_get_file_type", "get_file_type", "apply_files_filter", "in_project_scope"}
FILES |= {"exclude_exception_by_filter"}
"""The functions that traced_files.py replaces."""


class Factory:
    def make_thread_suspend_message(self, *args: Any) -> None:
        pass


class Debugger:
    def __init__(self) -> None:
        self.multi_threads_single_notification = True
        self.cmd_factory = Factory()
        self.stop_on_unhandled_exception = "pydevd's function"
        self.options: list[tuple[object, ...]] = []
        sock = SimpleNamespace(family=socket.AF_INET, setsockopt=lambda *option: self.options.append(option))
        self.writer = SimpleNamespace(sock=sock, ident=None)
        self.reader = SimpleNamespace(process_net_command_json="pydevd's method")

    def get_arg_ppid(self) -> int:
        return 0

    def get_internal_queue_and_event(self, thread_id: str) -> None:
        pass

    def handle_breakpoint_condition(self, *args: object) -> bool:
        return False

    def handle_breakpoint_expression(self, *args: object) -> None:
        pass


def try_import_debugpy() -> str:
    """Stand in for the function of Ray that is overridden."""
    return "debugpy"


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the modules that are imported in a Ray worker whose debug port is open."""
    ray: Any = SimpleNamespace(_private=SimpleNamespace(worker=SimpleNamespace(global_worker=SimpleNamespace())))
    ray.util = SimpleNamespace(debugpy=SimpleNamespace(debugger_port_lock=None, _try_import_debugpy=try_import_debugpy))
    for name, names in {
        "pydevd": (),
        "_pydevd_bundle": (),
        "_pydevd_bundle.pydevd_api": (),
        "_pydevd_bundle.pydevd_breakpoints": ("stop_on_unhandled_exception",),
        "_pydevd_bundle.pydevd_comm": ("resume_threads",),
        "_pydevd_bundle.pydevd_constants": (),
        "_pydevd_bundle.pydevd_io": ("IORedirector",),
        "_pydevd_bundle.pydevd_resolver": (),
        "_pydevd_bundle.pydevd_suspended_frames": ("get_variable_details",),
        "_pydevd_bundle.pydevd_thread_lifecycle": ("internal_run_thread",),
    }.items():
        module = ModuleType(name)
        vars(module).update(dict.fromkeys(names, "pydevd's function"))
        monkeypatch.setitem(sys.modules, name, module)
    vars(sys.modules["pydevd"]).update(__file__="/pydevd/pydevd.py", _CACHE_FILE_TYPE={})
    monkeypatch.setitem(sys.modules, "ray", ray)
    # Another test may have imported the real module, which expects the real worker (actor_threads.py).
    monkeypatch.delitem(sys.modules, "ray._private.function_manager", raising=False)
    monkeypatch.setitem(sys.modules, "ray.util.debugpy", ray.util.debugpy)


@pytest.mark.usefixtures("ray")
def test_all_is_undone_but_for_stops_without_a_client() -> None:
    debugger: Any = Debugger()
    before = dict(vars(debugger))
    Changes(debugger).enter(True)
    Changes(debugger).enter(True)  # This happens in a worker that was lost and is attached again.
    assert debugger.stop_on_unhandled_exception.func == debugger.raydap.post_mortem._stop
    always = {"raydap", "set_suspend", "_do_wait_suspend", "post_method_as_internal_command", *HITS}
    always |= {"do_stop_on_unhandled_exception", *FILES}
    tuned = {"do_wait_suspend", "dispose_and_kill_all_pydevd_threads"}
    assert vars(debugger).keys() - before == always | tuned
    assert "add_command" in vars(debugger.writer)
    assert debugger.multi_threads_single_notification is False
    redirections: Any = sys.modules["_pydevd_bundle.pydevd_io"]
    assert callable(redirections.IORedirector)
    debugger.raydap.leave(True)
    assert redirections.IORedirector == "pydevd's function"
    assert debugger.reader.process_net_command_json == "pydevd's method"
    del debugger.do_wait_suspend
    assert vars(debugger) == before
    assert "add_command" not in vars(debugger.writer)
    nodelay = (socket.IPPROTO_TCP, socket.TCP_NODELAY)
    timeout = (socket.SOL_SOCKET, socket.SO_SNDTIMEO)
    entered = [(*nodelay, 1), (*timeout, struct.pack("ll", SEND_TIMEOUT_S, 0))]
    assert debugger.options == [*entered, *entered, (*nodelay, 0), (*timeout, struct.pack("ll", 0, 0))]


@pytest.mark.usefixtures("ray")
def test_a_worker_that_is_not_to_be_tuned_is_changed_less() -> None:
    debugger: Any = Debugger()
    before = set(vars(debugger))
    Changes(debugger).enter(False)
    always = {"raydap", "set_suspend", "_do_wait_suspend", "post_method_as_internal_command", *HITS}
    always |= {"do_stop_on_unhandled_exception", *FILES}
    assert set(vars(debugger)) - before == always
    debugger.raydap.leave(False)
    assert set(vars(debugger)) == before
    assert debugger.options == []


@pytest.mark.usefixtures("ray")
def test_files_are_filtered_as_before_after_a_post_mortem_in_a_library() -> None:
    class FilteringDebugger(Debugger):
        def in_project_scope(self, frame: Any) -> bool:
            return False

    debugger: Any = FilteringDebugger()
    Changes(debugger).enter(False)
    filters = {name: vars(debugger)[name] for name in FILES}
    try:
        raise LookupError
    except LookupError:
        error = sys.exc_info()
    with debugger.raydap.post_mortem._libraries_shown(error):
        assert debugger.in_project_scope(sys._getframe()) is True
    assert debugger.in_project_scope(sys._getframe()) is False
    assert {name: vars(debugger)[name] for name in FILES} == filters


def test_single_threads_can_be_resumed_even_if_the_rest_fails() -> None:
    debugger: Any = Debugger()
    debugger.writer = None
    with pytest.raises(AttributeError):
        Changes(debugger).enter(True)
    assert debugger.raydap.threads.debugger is debugger


@pytest.mark.usefixtures("ray")
def test_the_function_of_ray_is_overridden_once_and_does_what_it_did_in_the_worker() -> None:
    functions = vars(sys.modules["ray.util.debugpy"])
    debugger: Any = Debugger()
    Changes(debugger).enter(True)
    overridden = functions["_try_import_debugpy"]
    assert overridden is not try_import_debugpy
    assert overridden.__wrapped__ is try_import_debugpy
    assert overridden() == "debugpy"
    # Otherwise an attached child would count as the worker.
    Changes(debugger).enter(True)
    assert functions["_try_import_debugpy"] is overridden
    debugger.raydap.leave(True)
    # A child that starts later must not wait forever.
    assert functions["_try_import_debugpy"] is overridden
