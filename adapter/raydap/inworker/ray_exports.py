"""Ray's remote functions and actor classes, whose code later workers load from Ray; runs in the worker.

The process that first uses a remote function or an actor class of its main program pickles the code into Ray's control
store. A worker loads it once. So after a reload the process replaces what it has stored, under the same key: tasks that
are already submitted run the new code, too.

Source: ray/_private/function_manager.py, FunctionActorManager.export and export_actor_class.
"""

import gc
import pickle
import sys
from types import FunctionType
from typing import Any

from .safe_values import type_name


def export_again(functions: "list[FunctionType]") -> list[tuple[str, str]]:
    """Store again what contains the code of these functions. Return the names that failed, each with the reason."""
    worker: Any = getattr(sys.modules.get("ray._private.worker"), "global_worker", None)
    remote: Any = getattr(sys.modules.get("ray.remote_function"), "RemoteFunction", None)
    actor: Any = getattr(sys.modules.get("ray.actor"), "ActorClass", None)
    if remote is None or actor is None or not getattr(worker, "connected", False):
        return []
    # Ray pickles the functions of a program by value, with the global variables that they use.
    scopes = {id(each.__globals__) for each in functions}
    failed = []
    for each in gc.get_objects():
        kind = type(each)
        try:
            if issubclass(kind, remote) and id(_unwrapped(each._function).__globals__) in scopes:
                stored = (b"RemoteFunction", each._last_export_cluster_and_job, each._function_descriptor)
                _store(worker, stored, "function", each._function)
            elif issubclass(kind, actor):
                meta = vars(each).get("__ray_metadata__")
                if meta is not None and _scopes(meta.modified_class) & scopes:
                    stored = (b"ActorClass", meta.last_export_cluster_and_job, meta.actor_creation_function_descriptor)
                    _store(worker, stored, "class", meta.modified_class)
        except Exception as error:
            failed.append((type_name(kind), f"later workers get the old code ({type_name(type(error))}: {error})"))
    return failed


def _store(worker: Any, stored: tuple[bytes, Any, Any], field: str, value: Any) -> None:
    """Replace a function or a class in Ray's control store, if it is there."""
    function_manager: Any = sys.modules["ray._private.function_manager"]
    kind, exported, descriptor = stored
    if exported is None or descriptor is None:
        return
    key = function_manager.make_function_table_key(kind, exported[1], descriptor.function_id.binary())
    namespace = function_manager.KV_NAMESPACE_FUNCTION_TABLE
    before = worker.gcs_client.internal_kv_get(key, namespace)
    if before is not None:
        fields = {
            **pickle.loads(before),
            field: function_manager.pickle_dumps(value, f"Could not serialize {descriptor.repr}"),
        }
        worker.gcs_client.internal_kv_put(key, pickle.dumps(fields), True, namespace)


def _unwrapped(function: Any) -> Any:
    while type(function) is not FunctionType:
        function = function.__wrapped__
    return function


def _scopes(owner: type) -> set[int]:
    """Return the ids of the global variables of the functions of a class and its bases."""
    found = set()
    for each in owner.__mro__:
        for value in list(vars(each).values()):
            function = getattr(value, "__func__", value)
            if type(function) is FunctionType:
                found.add(id(function.__globals__))
    return found
