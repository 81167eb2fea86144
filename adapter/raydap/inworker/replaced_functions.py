"""The functions of Python, Ray and debugpy that raydap replaces in a process; runs there.

TABLE has a row for each of them. Replace them with `install`, and restore them with `restore` or `put_back`, which do
nothing if the program or another tool has replaced the function since. A replacement records in itself what it
replaces, so it is found by all modules of raydap in the process, also by those of another version.

If raydap cannot replace a function, the original stays. If raydap's own part of a replacement fails, the original is
called.

docs/design/replaced-functions.md shows the table.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Prepare = Callable[..., "Callable[[], Any] | None"]

MARK = "raydap_replaces"
"""The attribute of a replacement: its own `id` and the original value, or only its `id` if there was no value. Wrappers
that copy the attributes of the replacement have another `id`."""

DEBUGPYS = ("debugpy", "pydevd", "_pydev", "pydev_", "_thread")
"""The beginnings of the module names of debugpy's functions, and of the functions of Python that debugpy puts back."""

DETACHING = "raydap detaches"
PYDEVD_ENDED = "pydevd has ended"
DETACHED = "raydap has detached"
"""Times in TABLE at which raydap restores functions, in their order."""

TABLE = """\
- os:fork posix:fork os:forkpty posix:forkpty | with an agent | the process ends
  | A forked child has an agent of its own. | A child can be debugged whether its parent is or not.
- os:execv posix:execv os:execve posix:execve os:posix_spawn posix:posix_spawn os:posix_spawnp posix:posix_spawnp
  _posixsubprocess:fork_exec subprocess:_fork_exec | with an agent | the process ends
  | A Python that the process starts has an agent. Other programs get the same arguments and environment.
  | Such a Python can be debugged whether its parent is or not.
- sys:breakpointhook sys:__breakpointhook__ builtins:breakpoint | agent's session | raydap has detached
  | `breakpoint()` stops in the session. debugpy replaces it, too.
- _thread:start_new_thread _thread:start_new _thread:_start_new_thread _thread:start_joinable_thread
  _thread:_start_joinable_thread _thread:_original_start_new_thread _thread:_original_start_joinable_thread
  threading:start_new_thread threading:start_new threading:_start_new_thread threading:start_joinable_thread
  threading:_start_joinable_thread threading:_original_start_new_thread threading:_original_start_joinable_thread
  | agent's session | pydevd has ended | debugpy replaces them to trace new threads.
- threading:enumerate threading:active_count | agent's session | pydevd has ended
  | debugpy replaces their code to hide its own threads.
- builtins:execfile builtins:runfile | agent's session | pydevd has ended | debugpy adds them for its own console.
- threading:_newname | agent's session | one call | Threads of debugpy do not count in the names of later threads.
- ray:init ray._private.worker:init | driver | the process ends
  | The workers of the program have agents. | The program can call it again.
- ray.util.debugpy:_try_import_debugpy | Ray | raydap has detached
  | Ray's `breakpoint()` and post mortem stop in the session.
  | After a session with debugpy's adapter it stays, because `breakpoint()` would hang in forked children.
- ray.util.debugpy:_post_mortem | launched worker | the process ends
  | A task that fails does not wait for a debugger when raydap has ended. | It is needed when raydap has ended.
- ray._private.function_manager:FunctionActorManager._make_actor_method_executor | old Python | the process ends
  | Breakpoints stop in the threads of a threaded actor.
  | After a session it ends the tracing of threads that were idle.
- site:execsitecustomize | prepared worker | one call
  | Ray calls it before the worker's first task, and it starts the agent.
- loader:exec_module | with an agent | one call | raydap adapts `ray` and `threading` when they are imported.
- pydevd:start_client pydevd:time | agent's session | one call | pydevd uses the agent's connection, and starts fast.
- _pydevd_bundle.pydevd_comm:time _pydevd_bundle.pydevd_daemon_thread:threading
  _pydevd_bundle.pydevd_daemon_thread:PyDBDaemonThread.start | agent's session | pydevd has ended
  | The program does not notice pydevd's threads.
- thread:run thread:_delete | agent's session | the object is freed
  | A thread of pydevd blocks signals and is not traced. | The thread runs them.
- debugger:notify_thread_not_alive | agent's session | pydevd has ended | Python forgets a thread that has ended.
- debugger:ignore_system_exit_code | agent's session | pydevd has ended
  | `sys.exit` does not stop the program if it hides no error.
- _pydevd_sys_monitoring._pydevd_sys_monitoring_cython:threading
  _pydevd_sys_monitoring._pydevd_sys_monitoring:threading | session | pydevd has ended
  | A thread that Python has not started has one `Thread` object.
- ray.remote_function:RemoteFunction._remote ray.actor:ActorHandle._actor_method_call ray.actor:ActorClass._remote
  ray._private.worker:Worker.get_objects asyncio:wrap_future asyncio.futures:wrap_future | session | raydap detaches
  | Steps and stacks follow calls to other processes.
- debugger:set_suspend debugger:_do_wait_suspend | session | raydap detaches | Single threads stop and continue.
- debugger:handle_breakpoint_condition debugger:handle_breakpoint_expression | session | raydap detaches
  | A breakpoint does not keep the variables of its frame alive.
- debugger:writer.add_command | session | raydap detaches | No message is too long for debugpy's adapter.
- debugger:post_method_as_internal_command debugger:cmd_factory.make_error_message
  debugger:reader.process_net_command_json | session | raydap detaches | Each request is answered.
- debugger:cmd_factory.make_console_message | session | one call
  | pydevd prints nothing about an exception of a signal handler.
- _pydevd_bundle.pydevd_suspended_frames:get_variable_details _pydevd_bundle.pydevd_resolver:getattr
  | session | raydap detaches | A value that takes too long does not block the others.
- debugger:_internal_get_file_type debugger:get_file_type debugger:apply_files_filter debugger:in_project_scope
  debugger:exclude_exception_by_filter _pydevd_bundle.pydevd_api:code_to_bytecode_representation
  _pydevd_bundle.pydevd_api:_get_code_lines
  | session | raydap detaches | pydevd traces and shows the program's files, and only these.
- debugger:stop_on_unhandled_exception debugger:do_stop_on_unhandled_exception | session | raydap detaches
  | Ray's post mortem stops once, at the frame that raised.
- _pydevd_sys_monitoring._pydevd_sys_monitoring_cython:UnhandledExceptionTag.__reduce__
  _pydevd_sys_monitoring._pydevd_sys_monitoring:UnhandledExceptionTag.__reduce__ | session | the process ends
  | A driver can unpickle the exceptions of its workers. | They may be pickled after the session.
- _pydevd_bundle.pydevd_io:IORedirector | session | raydap detaches
  | A `print` of the program during an evaluation does not crash.
- _pydevd_bundle.pydevd_xml:_str_from_providers _pydevd_bundle.pydevd_xml:_TYPE_RESOLVE_HANDLER._get_type
  | session | raydap detaches | Large arrays are shown by their numbers.
- debugger:do_wait_suspend | session | the object is freed
  | A thread does not stop where no client would see it. | It is needed just after the client has gone.
- debugger:dispose_and_kill_all_pydevd_threads | adapter's session | raydap detaches
  | A worker that loses its debugger listens again.
- debugger:fix_top_level_trace_and_get_trace_func | old Python | raydap detaches | Watched functions are traced.
- pdb:do_EOF pdb:do_quit pdb:do_q pdb:do_exit pdb:do_continue pdb:do_cont pdb:do_c pdb:do_remote pdb:do_get pdb:do_run
  pdb:do_restart pdb:dispatch_return | Ray's old debugger | the object is freed
  | A client that leaves does not end the task. | Ray makes a new pdb for each stop."""
"""A row for the functions that are replaced in the same processes, until the same time, for the same reason. Its
columns: the functions, each as MODULE:NAME, or OBJECT:NAME for the attribute of an object; the processes; until when
they are replaced; the reason; and why they are not restored earlier."""

ROWS = [" ".join(row.split()).split(" | ") for row in TABLE[2:].split("\n- ")]

UNTIL = {path: row[2] for row in ROWS for path in row[0].split()}
"""Until when each function is replaced."""

PROGRAMS: "dict[str, tuple[Any, ...]]" = {}
"""The values of debugpy's rows before debugpy replaced them, as in MARK, by path."""


class Replacement:
    """A replacement for a built-in function of Python.

    Like the original, it is a built-in function to `isinstance`, is pickled by its name, is a member of sets such as
    `os.supports_fd`, and does not become a method where it is an attribute of a class.

    `prepare` gets the arguments of each call. It returns a function that makes the call in another way. If it returns
    None or raises an exception, the original is called with the same arguments.
    """

    def __init__(self, original: "Any", prepare: "Prepare") -> None:
        self._original = original
        self._prepare = prepare
        imitate(self, original)

    @property  # type: ignore[misc]
    def __class__(self) -> "Any":
        """The type of the original, for `isinstance`."""
        return type(self._original)

    def __call__(self, *args: "Any", **named: "Any") -> "Any":
        """Call the function that `prepare` returns, or the original if there is none."""
        try:
            call = self._prepare(*args, **named)
        except Exception:
            call = None  # The original raises its own error for wrong arguments.
        return self._original(*args, **named) if call is None else call()

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._original, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> str:
        return str(self._original.__name__)


def install(path: str, new: "Any", root: "Any" = None) -> None:
    """Replace a function of TABLE. `root` is the object with which the path begins, if that is not a module.

    The replacement gets the name and the signature of the original. It replaces raydap's own replacement, if there is
    one.
    """
    if path not in UNTIL:
        raise LookupError(f"{path} is not in the table of replaced functions")
    owner, name = _place(path, root)
    own = getattr(owner, "__dict__", {})
    before = _before(path, own, name)
    if before is None:
        before = (own[name],) if name in own else ()
    elif not before:
        delattr(owner, name)
    function = before[0] if before else getattr(owner, name, None)
    if type(new) is METHOD:
        from functools import partial

        new = partial(new)  # A bound method has no attributes of its own.
    if hasattr(function, "__qualname__") and not hasattr(new, "__wrapped__"):
        imitate(new, function)
    vars(new)[MARK] = (id(new), *before)
    setattr(owner, name, new)


def original(path: str, root: "Any" = None) -> "Any":
    """Restore a function, and return it. Return None if it does not exist."""
    put_back(path, root)
    try:
        owner, name = _place(path, root)
    except (KeyError, AttributeError):
        return None
    return getattr(owner, name, None)


def put_back(path: str, root: "Any" = None) -> None:
    """Restore a function if it is raydap's or debugpy's replacement. Otherwise do nothing."""
    try:
        owner, name = _place(path, root)
    except (KeyError, AttributeError):
        return
    before = _before(path, getattr(owner, "__dict__", {}), name)
    if before:
        setattr(owner, name, before[0])
    elif before is not None:
        delattr(owner, name)


def _before(path: str, own: "Any", name: str) -> "tuple[Any, ...] | None":
    """Return the value that raydap or debugpy has replaced, as in MARK. Return None if neither has."""
    current = own.get(name)
    mark: tuple[Any, ...] = getattr(current, "__dict__", {}).get(MARK, (0,))
    if mark[0] == id(current):
        return mark[1:]
    is_debugpys = name.startswith("_original_") or str(getattr(current, "__module__", "")).startswith(DEBUGPYS)
    return PROGRAMS[path] if name in own and path in PROGRAMS and is_debugpys else None


def is_installed(value: "Any") -> bool:
    """Return whether raydap has installed this value."""
    return bool(getattr(value, "__dict__", {}).get(MARK, (0,))[0] == id(value))


def restore(root: "Any", *untils: str) -> None:
    """Restore the functions of the rows that are replaced until then. `root` is pydevd's debugger object, or None."""
    for path, until in UNTIL.items():
        is_attribute = path.startswith("debugger:")
        if until in untils and (root is not None or not is_attribute):
            put_back(path, root if is_attribute else None)


def remember() -> None:
    """Record the functions of Python that debugpy is about to replace."""
    for path, until in UNTIL.items():
        if until in (DETACHED, PYDEVD_ENDED) and path.startswith(("sys:", "builtins:", "_thread:", "threading:")):
            module, name = _place(path, None)
            PROGRAMS[path] = (vars(module)[name],) if name in vars(module) else ()


def call_after_import(loader: "Any", function: "Callable[[Any], None]") -> None:
    """Let the loader of a module call a function with the module before any other code can use it."""
    execute = loader.exec_module

    def exec_module(module: "Any") -> None:
        put_back("loader:exec_module", loader)
        execute(module)
        function(module)

    install("loader:exec_module", exec_module, loader)


class StandIn:
    """A module as debugpy sees it, in which some functions or classes are others."""

    def __init__(self, module: "Any", **others: "Any") -> None:
        vars(self).update(others)
        self._module = module

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._module, name)


METHOD = type(StandIn(sys).__getattr__)


def _place(path: str, root: "Any") -> "tuple[Any, str]":
    start, _, names = path.partition(":")
    owner = sys.modules[start] if root is None else root
    *inner, name = names.split(".")
    for each in inner:
        owner = getattr(owner, each)
    return owner, name


def imitate(function: "Any", original: "Any") -> None:
    """Do what functools.update_wrapper does, without importing functools."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, name, getattr(original, name, None))
    vars(function).update(getattr(original, "__dict__", {}), __wrapped__=original)
