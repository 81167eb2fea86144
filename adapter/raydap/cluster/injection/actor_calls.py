"""Runs code in an actor that this process did not create, through Ray; part of the process of relay_process.py.

Ray makes a handle of any actor from the data of the GCS. Each actor has a method of Ray, `__ray_call__`, which runs a
function in the actor. A busy actor runs the function when its method has ended, unless the actor is threaded or
asynchronous.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from raydap.cluster.injection.gdb_injection import InjectionFailed

CALL_TIMEOUT_S = 2.0
"""Seconds for the actor to run the function. An idle actor needs 10 to 400 ms (measured)."""

TABLE_AGE_S = 1.0
"""Seconds after which the table of all actors is read again for a worker that is not in it."""

_waiting: set[str] = set()
"""The ids of workers whose actor has a call that it has not run yet. It gets no second call."""


async def run_in_actor(worker_id: str, source: str) -> None:
    """Run a text in the actor of a worker, given by Ray's hex id.

    The text sets `problem` to "" or to a reason for users. Raises InjectionFailed, and the exceptions of Ray. A call
    that was sent cannot be cancelled: it runs when the actor is free.
    """
    if worker_id in _waiting:
        raise InjectionFailed("its actor is busy, so the agent starts only when its method ends")
    try:
        handle = await asyncio.to_thread(_handle, worker_id)
        # Keep the call out of Ray's lists, and never run it twice.
        options = {"name": "raydap", "enable_task_events": False, "max_task_retries": 0}
        call = handle.__ray_call__.options(**options).remote(_by_value(), source)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise InjectionFailed(f"raydap cannot call actors of this version of Ray ({error!r})") from error
    answer = asyncio.ensure_future(_result(call))
    _waiting.add(worker_id)
    answer.add_done_callback(lambda _: _waiting.discard(worker_id))
    try:
        problem = await asyncio.wait_for(asyncio.shield(answer), CALL_TIMEOUT_S)
    except asyncio.TimeoutError:
        raise InjectionFailed("its actor is busy, so the agent starts only when its method ends") from None
    if problem:
        raise InjectionFailed(problem)


async def _result(call: Any) -> str:
    from ray.exceptions import ActorDiedError, ActorUnavailableError, RayError

    try:
        return str(await call)
    except ActorUnavailableError:
        return "Ray cannot reach its actor now"
    except ActorDiedError:
        return "its actor has died"
    except RayError as error:
        return " ".join(str(error).split())[:200]


def _by_value() -> Any:
    """Return the function that runs in the actor.

    Ray pickles functions of modules by name, except functions of `__main__`.
    """

    def run(actor: object, source: str) -> str:
        names: dict[str, str] = {}
        exec(compile(source, "<raydap>", "exec"), names)
        return names["problem"]

    run.__module__ = "__main__"
    return run


class ActorTable:
    """All live actors by the ids of their workers. raydap calls many actors at once, and one reading serves all calls.

    `read` returns the id of a worker and a gcs_pb2.ActorTableData for each actor.
    """

    def __init__(self, read: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        self._read = read
        self._read_at = float("-inf")
        self._actors: Mapping[str, Any] = {}
        self._reading = threading.Lock()

    def find(self, worker_id: str) -> Any:
        """Return the actor of a worker; None if it runs none. May wait for the GCS."""
        with self._reading:
            if worker_id not in self._actors and time.monotonic() - self._read_at >= TABLE_AGE_S:
                self._actors = dict(self._read())
                self._read_at = time.monotonic()
            return self._actors.get(worker_id)


def _read_actors() -> Iterable[tuple[str, Any]]:
    from ray._private.state import state
    from ray.core.generated import gcs_pb2

    for data in state._connect_and_get_accessor().get_actor_table(None, b"ALIVE"):
        actor = gcs_pb2.ActorTableData.FromString(data)
        yield actor.address.worker_id.hex(), actor


_actors = ActorTable(_read_actors)


def _handle(worker_id: str) -> Any:
    """Return a handle of the actor in this worker. Raises InjectionFailed if there is none.

    Waits for the GCS. Sources: ray/_private/state.py, actor_table; ray/src/ray/protobuf/core_worker.proto, ActorHandle;
    and ray/includes or _raylet.pyx, make_actor_handle, which would load the actor's class with all that it imports.
    """
    from ray._private.worker import global_worker
    from ray.actor import _modify_class
    from ray.core.generated import core_worker_pb2

    import ray

    actor = _actors.find(worker_id)
    if actor is None:
        raise InjectionFailed("it runs no actor")
    proto: Any = core_worker_pb2.ActorHandle(
        actor_id=actor.actor_id,
        owner_address=actor.owner_address,
        creation_job_id=actor.job_id,
        actor_creation_task_function_descriptor=actor.function_descriptor,
        actor_cursor=ray.ObjectRef.nil().binary(),
    )
    if "owner_id" in proto.DESCRIPTOR.fields_by_name:
        proto.owner_id = actor.owner_address.worker_id
    manager = global_worker.function_actor_manager
    # Only Ray's own methods are called, so an empty class replaces the user's.
    manager.load_actor_class = lambda *_: _modify_class(type("Actor", (), {}))
    try:
        worker = global_worker.core_worker
        return worker.deserialize_and_register_actor_handle(proto.SerializeToString(), ray.ObjectRef.nil(), True)
    finally:
        del manager.load_actor_class
