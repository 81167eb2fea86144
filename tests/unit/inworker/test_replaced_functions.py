"""All code in processes replaces functions of others by `install`, which finds their rows in one table."""

import ast
import re
import sys
from importlib import resources
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker import replaced_functions
from raydap.inworker.actor_threads import trace_actor_threads
from raydap.inworker.replaced_functions import Replacement, install, put_back

FOLDER = Path(str(resources.files("raydap.inworker")))

FILES = sorted(FOLDER.rglob("*.py"))

INSTALLERS = {"replaced_functions.py", "for_cluster/sitecustomize.py"}
"""The files that may set functions themselves: that of `install`, and that which runs before any module of raydap."""

OWN = {
    "agent.py": "agent.folder agent.identity",
    "agent_children.py": "self.agent.after_session",
    "actor_threads.py": "vars(actor_method_executor).update",
    "array_libraries.py": "numbers.nan",
    "at_start/sitecustomize.py": "own.light_start.run_rest setup.raydap vars(sys.modules['site'].__spec__)",
    "driver_agent.py": "agent.raydap",
    "driver_setup.py": "set_up.__name__",
    "injected_agent.py": "thread.pydev_do_not_trace thread.is_pydev_daemon_thread",
    "line_hits.py": "thread.pydev_do_not_trace thread.is_pydev_daemon_thread line.hits line.failed",
    "loader.py": "module.__package__ own vars(own).update",
    "reloaded_files.py": "spec.loader",
    "post_mortem.py": "self.last.exception self.last.ray_reports",
    "relisten.py": "thread.pydev_do_not_trace thread.is_pydev_daemon_thread",
    "running_values.py": "thread.pydev_do_not_trace thread.is_pydev_daemon_thread shortened.maxlevel shortened.maxlist "
    "shortened.maxtuple shortened.maxset shortened.maxfrozenset shortened.maxdict shortened.maxdeque "
    "shortened.maxarray shortened.maxstring shortened.maxlong shortened.maxother",
    "watched_frames.py": "tracer.ended watched.ended watched.pydevds trace.pydevds frame.f_trace",
    "watchpoints.py": "watch.is_true watch.hits watch.note record.calls owner vars(self.debugger).pop "
    "debugger.raydap_watchpoints",
    "time_limits.py": "watcher.pydev_do_not_trace watcher.is_pydev_daemon_thread call.deadline call.is_interrupted",
}
"""The attributes of raydap's own objects, and of objects that the same function has made, by file. `site` is marked as
imported, as Python itself does a moment later."""

VALUES = {
    "agent_session.py": "pydevd.SetupHolder.setup",
    "agent_threads.py": "thread.daemon thread._cmd_queue thread",
    "call_sites.py": "debugger.raydap_calls",
    "changes.py": "self.debugger.raydap self.debugger.multi_threads_single_notification vars(self.debugger).pop",
    "driver_setup.py": "constants",
    "file_reload.py": "function.__code__ function.__defaults__ function.__kwdefaults__ function.__qualname__ "
    "type.__setattr__",
    "first_frame.py": "frame.f_trace",
    "light_start.py": "main._tstate_lock main._native_id main._ident",
    "followed_calls.py": "debugger.raydap_steps sites.follow",
    "line_hits.py": "debugger.raydap_hits",
    "message_limit.py": "command.as_dict command._as_bytes",
    "own_stops.py": "info.pydev_original_step_cmd info.pydev_step_cmd info.pydev_step_stop",
    "pydevd_lifetime.py": "debugger._py_db_command_thread_event debugger.authentication.access_token debugger.mtime "
    "pydevd_custom_frames.CustomFramesContainer._py_db_command_thread_event debugger.has_adapter "
    "debugger.raydap_tracers function.__code__",
    "relisten.py": "debugger.mtime debugger._on_configuration_done_event api.listen.called pydevd.SetupHolder.setup",
    "safe_pdb.py": "debugger.stdin debugger.stdout debugger.nosigint",
    "thread_control.py": "info.is_in_wait_loop info.pydev_state info",
    "thread_tracers.py": "frame.f_trace",
    "watched_events.py": "info.pydev_step_cmd",
}
"""The values that are no functions, in objects of others. The table has a row for the functions whose code changes.
`raydap/reload` gives functions of the user new code, which stays."""


def changes(tree: ast.AST) -> set[str]:
    """Return the attributes that this code sets or deletes, without those of `self`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found |= {ast.unparse(node.value)} if "vars(" in ast.unparse(node.value) else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            found.add(ast.unparse(node.args[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            text = ast.unparse(node.func)
            is_change = node.func.attr in ("update", "pop", "setdefault", "clear", "__setattr__", "__delattr__")
            found |= {text} if is_change and ("vars(" in text or "__" in text) else set()
    return {each for each in found if not re.fullmatch(r"self\.\w+|vars\(self\).*", each)}


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_no_function_of_others_is_set_but_by_the_table(path: Path) -> None:
    name = str(path.relative_to(FOLDER))
    tree = ast.parse(path.read_text("utf-8"))
    if name not in INSTALLERS:
        allowed = {*OWN.get(name, "").split(), *VALUES.get(name, "").split()}
        assert changes(tree) == allowed
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    paths = {text for text in texts if isinstance(text, str) and re.fullmatch(r"[a-z_.]+:[\w.]+", text)}
    assert paths <= replaced_functions.UNTIL.keys()


def test_a_row_that_stays_gives_the_reason() -> None:
    texts = {"raydap has detached", "raydap detaches", "pydevd has ended", "one call"}
    texts |= {"the process ends", "the object is freed"}
    for functions, where, until, why, *stays in replaced_functions.ROWS:
        assert until in texts, functions
        assert where, functions
        assert why.endswith("."), functions
        assert len(stays) == (until in ("the process ends", "the object is freed") or "_try_import" in functions), (
            functions
        )
    paths = [path for row in replaced_functions.ROWS for path in row[0].split()]
    assert len(paths) == len(set(paths)) == len(replaced_functions.UNTIL)


def test_a_function_without_a_row_is_not_replaced() -> None:
    with pytest.raises(LookupError, match="sys:exit is not in the table"):
        install("sys:exit", lambda: None)


@pytest.mark.parametrize("prepared", ["fails", "does nothing"])
def test_the_original_is_called_if_raydaps_part_fails(prepared: str) -> None:
    def prepare(*args: Any) -> None:
        if prepared == "fails":
            raise ValueError(args)

    assert Replacement(len, prepare)("abc") == 3
    with pytest.raises(TypeError, match="takes exactly one argument"):
        Replacement(len, prepare)()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python traces all threads")
def test_a_task_runs_if_its_thread_cannot_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    class Manager:
        def _make_actor_method_executor(self) -> Any:
            return lambda: "done"

    def no_debugger() -> None:
        raise RuntimeError("pydevd has changed")

    managers: Any = ModuleType("ray._private.function_manager")
    managers.FunctionActorManager = Manager
    worker = SimpleNamespace(global_worker=SimpleNamespace(function_actor_manager=None))
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(_private=SimpleNamespace(worker=worker)))
    monkeypatch.setitem(sys.modules, managers.__name__, managers)
    monkeypatch.setitem(sys.modules, "pydevd", SimpleNamespace(get_global_debugger=no_debugger))
    original = Manager._make_actor_method_executor
    trace_actor_threads()
    assert Manager._make_actor_method_executor is not original
    assert Manager()._make_actor_method_executor()() == "done"
    put_back("ray._private.function_manager:FunctionActorManager._make_actor_method_executor")
    assert Manager._make_actor_method_executor is original
