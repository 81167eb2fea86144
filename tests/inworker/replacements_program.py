"""A program that raydap debugs: it checks each function that raydap replaces, and prints what it finds as JSON.

It replaces the functions that raydap does not replace here by functions of its own, to check how they are restored.
"""

import asyncio  # noqa: F401  # Followed calls replace one of its functions.
import functools
import importlib.util
import inspect
import json
import os
import pdb
import pickle
import runpy
import sys
import threading
import types
from typing import Any

import pydevd

from raydap.inworker import (
    actor_threads,
    array_values,
    breakpoint_hooks,
    call_sites,
    delayed_signals,
    driver_setup,
    followed_calls,
    raydap_calls,
    relisten,
    reloaded_files,
    replaced_functions,
    safe_pdb,
    watched_frames,
)

FOLDER = os.path.dirname(replaced_functions.__file__)


def make_ray() -> None:
    """Add modules with the functions of Ray that raydap replaces, and replace them."""
    sources = {
        "ray": "def init(address=None, *, num_cpus=None, **kwargs): 'Connect.'",
        "ray._private": "",
        "ray._private.worker": "from types import SimpleNamespace as S; global_worker = S(core_worker=None)\n"
        "class Worker:\n    def get_objects(self, object_refs, timeout=None): 'Return values.'",
        "ray.remote_function": "class RemoteFunction:\n    def _remote(self, args=None, **options): 'Submit.'",
        "ray.actor": "class ActorClass:\n    def _remote(self, args=None, **options): 'Create.'\n"
        "class ActorHandle:\n    def _actor_method_call(self, method_name, args=None): 'Call.'",
        "ray._private.function_manager": "class FunctionActorManager:\n"
        "    def _make_actor_method_executor(self, method_name: str, method): 'Return an executor.'",
        "ray.util": "",
        "ray.util.debugpy": "def _try_import_debugpy(): return 'Ray'\n"
        "def _post_mortem(sys_exception=None): 'Wait.'\n"
        "debugger_port_lock = None",
    }
    for name, source in sources.items():
        module = types.ModuleType(name)
        exec(source, vars(module))
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    ray: Any = sys.modules["ray"]
    vars(ray._private.worker)["init"] = ray.init
    ray.init.__module__ = "ray._private.worker"
    ray._private.worker.global_worker.function_actor_manager = None
    driver_setup.DriverSetup("", FOLDER).wrap_init(ray)
    breakpoint_hooks.override_rays_breakpoint(lambda: None)
    raydap_calls.skip_post_mortem_alone("", "/")
    actor_threads.trace_actor_threads()


class RaysPdb(pdb.Pdb):
    """A pdb like that of Ray (ray/util/rpdb.py)."""

    handle = sys.stdout
    curframe = sys._getframe()
    do_remote = do_get = pdb.Pdb.do_continue


def roots() -> "dict[str, Any]":
    """Return the objects with which the paths of the table begin; replace the functions that a session does not."""
    debugger = pydevd.get_global_debugger()
    rays_pdb = RaysPdb()
    safe_pdb.SafePdb(rays_pdb, is_post_mortem=True).override()
    loader = importlib.util.find_spec("colorsys").loader  # type: ignore[union-attr]
    replaced_functions.call_after_import(loader, lambda module: None)
    relisten._override(debugger, None, threading.Lock())
    array_values.ArrayValues().override()
    call_sites.call_sites(debugger).replace()
    followed_calls.followed_calls(debugger).results.replace()
    reloaded_files.use_new_text([__file__], "")
    if sys.version_info < (3, 12):
        watched_frames.WatchedFrames(types.SimpleNamespace(debugger=debugger, watches=[])).begin()
    sys.settrace(lambda *_: None)
    delayed_signals.TracedAgain(debugger)._trace = None
    sys.settrace(None)
    runpy.run_path(os.path.join(FOLDER, "for_cluster", "sitecustomize.py"), run_name="sitecustomize")
    return {"debugger": debugger, "thread": debugger.reader, "pdb": rays_pdb, "loader": loader}


class Proxy:
    """An object that a tracer puts in place of a function: it has all attributes of the function, as in wrapt."""

    def __init__(self, function: Any) -> None:
        object.__setattr__(self, "function", function)

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "function"), name)


def signature(function: Any, **options: Any) -> Any:
    try:
        return inspect.signature(function, **options)
    except (ValueError, TypeError) as error:
        return type(error).__name__


def accepts_all_calls(new: Any, original: Any) -> bool:
    """Return whether the code of `new` accepts the arguments of `original`, by position and by keyword."""
    wanted, own = signature(original), signature(new, follow_wrapped=False)
    if isinstance(wanted, str) or isinstance(own, str):
        return True  # C functions without a signature: foreign_programs/replaced_functions.py calls them.
    kinds = inspect.Parameter
    by_position = [each for each in wanted.parameters.values() if each.kind < kinds.VAR_POSITIONAL]
    named = {each.name: 0 for each in wanted.parameters.values() if each.kind is kinds.KEYWORD_ONLY}
    required = [each for each in by_position if each.default is kinds.empty]
    for given in (by_position, required):
        first = [each for each in given if each.kind is kinds.POSITIONAL_ONLY]
        for count in {len(given), len(first)}:
            if not any(each.name == "self" for each in given[count:]):
                own.bind(*given[:count], **{each.name: 0 for each in given[count:]}, **named)
    return True


def pickled(path: str, function: Any) -> str:
    """Return what comes of a function that is pickled. A program pickles only functions of Python and Ray."""
    if path.startswith(("pydevd", "_pydevd", "debugger", "thread", "pdb", "loader")):
        return "not pickled"
    try:
        found = pickle.loads(pickle.dumps(function))
    except Exception:
        return "not pickled"
    return "the same" if found is function else "another"


def restored(path: str, root: Any) -> "list[str]":
    """Restore the function at this path; return what is wrong with that."""
    owner, name = replaced_functions._place(path, root)
    before = vars(vars(owner)[name])[replaced_functions.MARK][1:]
    variables = dict(os.environ)
    replaced_functions.put_back(path, root)
    is_restored = name in vars(owner) and vars(owner)[name] is before[0] if before else name not in vars(owner)
    wrong = [] if is_restored else ["it is not restored"]
    return wrong if dict(os.environ) == variables else [*wrong, "it changes the environment"]


def compare(new: Any, original: Any) -> "list[str]":
    """Return the differences between a replacement and the original."""
    if original is None or isinstance(original, types.ModuleType):
        return []
    wrong = []
    if str(signature(new)) != str(signature(original)):
        wrong.append(f"its signature is {signature(new)}, not {signature(original)}")
    try:
        accepts_all_calls(new, original)
    except TypeError as error:
        wrong.append(f"it does not accept each call: {error}")
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        if getattr(new, name) != getattr(original, name, None):
            wrong.append(f"its {name} differs")
    return wrong


def check_restoring(path: str, root: Any) -> "list[str]":
    """Replace the function at this path in some ways; return what is wrong with how it is restored."""
    owner, name = replaced_functions._place(path, root)
    wrong = []

    def state() -> "list[Any]":
        return [vars(owner)[name]] if name in vars(owner) else []

    def check(what: str, expected: "list[Any]") -> None:
        replaced_functions.put_back(path, root)
        found = state()
        if len(found) != len(expected) or any(map(lambda a, b: a is not b, found, expected)):
            wrong.append(what)

    def passing(*args: Any, **named: Any) -> str:
        replaced_functions.put_back(path, root)
        return "called"

    before = state()
    check("it is changed although raydap has not replaced it", before)
    replaced_functions.install(path, lambda *args, **named: None, root)
    replaced_functions.install(path, passing, root)
    check("it is not restored after two sessions", before)
    replaced_functions.install(path, passing, root)
    if passing() != "called":
        wrong.append("it cannot be restored while it runs")
    check("it is not restored while it runs", before)
    for what, wrap in {"gevent": functools.wraps(passing)(lambda: lambda *_: None), "a tracer": Proxy}.items():
        replaced_functions.install(path, passing, root)
        ours = getattr(owner, name)
        patch: Any = Proxy(ours) if wrap is Proxy else functools.wraps(ours)(lambda *args, **named: None)
        setattr(owner, name, patch)
        check(f"it is restored although {what} has replaced it", [patch])
        setattr(owner, name, ours)
        check(f"it is not restored after {what} has gone", before)
    sys.settrace(lambda *_: None)
    try:
        replaced_functions.install(path, passing, root)
        check("it is not restored in a traced thread", before)
    finally:
        sys.settrace(None)
    return wrong


def place(path: str) -> "tuple[Any, Any]":
    """Return the root and the current value of a path, None if it does not exist here."""
    root = objects.get(path.partition(":")[0])
    try:
        owner, name = replaced_functions._place(path, root)
        return root, getattr(owner, name, None)
    except (KeyError, AttributeError):
        return root, None


make_ray()
objects = roots()
results: "dict[str, list[str]]" = {}
found = {}
for path in replaced_functions.UNTIL:
    root, new = place(path)
    if new is None:
        results[path] = ["absent"]
        continue
    is_ours = replaced_functions.is_installed(new)
    found[path] = new, is_ours, pickled(path, new)
for path, (_, is_ours, _) in found.items():
    results[path] = ["raydap's", *restored(path, place(path)[0])] if is_ours else ["not raydap's"]
for path, (new, is_ours, copied) in found.items():
    root, original = place(path)
    if is_ours:
        results[path] += compare(new, original)
        if copied != pickled(path, original):
            results[path].append(f"unpickling gives {copied}, of the original {pickled(path, original)}")
    results[path] += check_restoring(path, root)
sys.stdout.write(json.dumps(results) + "\n")
sys.stdout.flush()
os._exit(0)
