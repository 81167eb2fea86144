"""The objects that threads and coroutines wait for: a lock with its holder, another thread, objects of Ray."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.installed import installed


class Shelf:
    """Locks in the places where programs keep them."""

    __slots__ = ("__own", "by_name", "lock", "many", "other")

    def __init__(self) -> None:
        self.lock, self.__own, self.other = threading.Lock(), threading.Lock(), threading.RLock()
        self.many, self.by_name = [threading.Lock()], {"a": threading.Lock()}

    def take_own(self) -> None:
        self.__own.acquire()

    def release_own(self) -> None:
        self.__own.release()

    @property
    def made(self) -> threading.Lock:
        raise AssertionError("code of the user's runs")


SHELF = Shelf()
OVER = threading.Event()


@pytest.fixture
def read() -> Any:
    """Return the module, installed as in a worker without an agent."""
    return installed("thread_waits").thread_waits


def take() -> None:
    SHELF.lock.acquire()
    SHELF.lock.release()


def take_of_many() -> None:
    SHELF.many[0].acquire()
    SHELF.many[0].release()


def take_by_name() -> None:
    name = "a"
    SHELF.by_name[name].acquire()
    SHELF.by_name["a"].release()


def take_own() -> None:
    SHELF.take_own()
    SHELF.release_own()


def take_in_with() -> None:
    with SHELF.lock:
        pass


def lock_all() -> None:
    SHELF.many[0].acquire()
    SHELF.by_name["a"].acquire()
    SHELF.take_own()


def unlock_all() -> None:
    SHELF.many[0].release()
    SHELF.by_name["a"].release()
    SHELF.release_own()


def take_for_some_time() -> None:
    SHELF.lock.acquire(timeout=60)
    SHELF.lock.release()


def take_twice() -> None:
    with SHELF.lock:
        take()
        SHELF.lock.acquire()  # The other thread has released the lock.


def take_reentrant() -> None:
    with SHELF.other:
        pass


def hold_in_with(taken: threading.Event) -> None:
    with SHELF.lock:
        taken.set()
        OVER.wait()


def hold_by_acquire(taken: threading.Event) -> None:
    SHELF.lock.acquire()
    taken.set()
    OVER.wait()
    SHELF.lock.release()


def hold_reentrant(taken: threading.Event) -> None:
    with SHELF.other:
        taken.set()
        OVER.wait()


def hold_no_longer(taken: threading.Event) -> None:
    SHELF.lock.acquire()
    SHELF.lock.release()
    with SHELF.lock:
        pass
    taken.set()
    OVER.wait()


@contextlib.contextmanager
def running(*functions: Callable[..., None]) -> Iterator[list[int]]:
    """Run each function in a thread of its own. A function with a parameter gets an event, which it sets when ready."""
    OVER.clear()
    threads = []
    for function in functions:
        taken = threading.Event()
        wants = function.__code__.co_argcount
        threads.append(threading.Thread(target=function, args=[taken] * wants, name=function.__name__, daemon=True))
        threads[-1].start()
        assert not wants or taken.wait(10)
    try:
        yield [thread.ident or 0 for thread in threads]
    finally:
        OVER.set()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


def waits(read: Any, name: str) -> dict[str, Any]:
    """Return what the thread or coroutine of this name waits for, once it is blocked."""
    while True:
        for thread in read.read_waits()["threads"]:
            if thread["name"] == name and thread["activity"] == "blocked":
                told: dict[str, Any] = thread.get("wait", {})
                return told


@pytest.mark.parametrize("take_it", [take, take_in_with])
def test_a_thread_inside_a_with_holds_the_lock(read: Any, take_it: Callable[[], None]) -> None:
    with running(hold_in_with, take_it) as (holder, _):
        told = waits(read, take_it.__name__)
    assert told == {"kind": "lock", "holder": holder, "sure": True, "ends": False}


def test_a_thread_that_has_acquired_a_lock_may_hold_it(read: Any) -> None:
    with running(hold_no_longer, hold_by_acquire, take) as (_, holder, _):
        told = waits(read, "take")
    assert told == {"kind": "lock", "holder": holder, "sure": False, "ends": False}


def test_a_wait_that_ends_by_itself(read: Any) -> None:
    with running(hold_by_acquire, take_for_some_time) as (holder, _):
        told = waits(read, "take_for_some_time")
    assert told == {"kind": "lock", "holder": holder, "sure": False, "ends": True}


def test_a_thread_that_takes_a_lock_twice_waits_for_itself(read: Any) -> None:
    with running(take_twice) as (ident,):
        told = waits(read, "take_twice")
        SHELF.lock.release()
    assert told == {"kind": "lock", "holder": ident, "sure": True, "ends": False}


def test_an_rlock_knows_its_owner(read: Any) -> None:
    with running(hold_reentrant, take_reentrant) as (holder, _):
        told = waits(read, "take_reentrant")
    assert told == {"kind": "lock", "holder": holder, "sure": True, "ends": False}


@pytest.mark.parametrize("take_it", [take_of_many, take_by_name, take_own])
def test_locks_are_found_where_programs_keep_them(read: Any, take_it: Callable[[], None]) -> None:
    lock_all()
    with running(take_it):
        told = waits(read, take_it.__name__)
        unlock_all()
    assert told == {"kind": "lock", "holder": 0, "sure": False, "ends": False}


def test_a_thread_that_waits_for_the_end_of_another(read: Any) -> None:
    def join() -> None:
        other.join()

    other = threading.Thread(target=OVER.wait)
    OVER.clear()
    other.start()
    with running(join):
        OVER.clear()
        told = waits(read, "join")
    assert told == {"kind": "thread", "holder": other.ident, "ends": False}
    other.join()


def test_an_unknown_target_is_not_reported(read: Any) -> None:
    def wait() -> None:
        OVER.wait()

    with running(wait):
        assert waits(read, "wait") == {}


class Ref:
    """The part of ray.ObjectRef that is used."""

    def __init__(self, number: int, index: int = 1) -> None:
        self.number, self.index = number, index

    def binary(self) -> bytes:
        return bytes(24) + self.index.to_bytes(4, "little")

    def task_id(self) -> bytes:
        return bytes([self.number])


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("ray")
    module.ObjectRef = Ref
    monkeypatch.setitem(sys.modules, "ray", module)


def frame_of(path: str, function: str, **names: Any) -> Any:
    """Return a frame of a function in this file, with these local variables."""
    source = f"def {function}({', '.join(names)}):\n    return __import__('sys')._getframe()\n"
    space: dict[str, Any] = {}
    exec(compile(source, path, "exec"), space)
    return space[function](**names)


RAYS = "/venv/lib/ray/_private/worker.py"


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize(
    ("function", "names", "told"),
    [
        ("get_objects", {"object_refs": [Ref(1), Ref(2), Ref(2, 2)], "timeout": None}, {"tasks": ["01", "02"]}),
        ("get", {"object_refs": Ref(1), "timeout": 3}, {"tasks": ["01"], "ends": True}),
        ("get", {"object_refs": [Ref(0, 100_000_001)], "timeout": None}, {"puts": 1}),
        (
            "wait",
            {"ray_waitables": [Ref(1), Ref(3)], "num_returns": 1, "timeout": 10**6},
            {"tasks": ["01", "03"], "needed": 1},
        ),
        (
            "wait",
            {"ray_waitables": [Ref(1)], "num_returns": 1, "timeout": 5},
            {"tasks": ["01"], "needed": 1, "ends": True},
        ),
    ],
)
def test_what_ray_waits_for(read: Any, function: str, names: dict[str, Any], told: dict[str, Any]) -> None:
    found = read.Waits().of_thread(1, {1: frame_of(RAYS, function, **names)})
    whole = {"kind": "objects", "tasks": [], "more": 0, "puts": 0, "needed": 0, "ends": False}
    assert found == {"wait": {**whole, **told}}


@pytest.mark.usefixtures("ray")
def test_many_objects_are_not_all_named() -> None:
    refs = [Ref(number) for number in range(200)]
    own = installed("thread_waits")
    own.object_waits._AWAITED_TASKS = 100
    frames = {1: frame_of(RAYS, "get", object_refs=refs, timeout=None)}
    (told,) = own.thread_waits.Waits().of_thread(1, frames).values()
    assert (len(told["tasks"]), told["more"]) == (100, 100)


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("names", [{"object_refs": ["no ref"], "timeout": None}, {}, {"object_refs": None}])
def test_another_ray_than_it_was_written_for(read: Any, names: dict[str, Any]) -> None:
    assert read.Waits().of_thread(1, {1: frame_of(RAYS, "get", **names)}) == {}


async def ready(ref: Ref) -> None:
    await rays_future(ref)


def rays_future(ref: Ref) -> "asyncio.Future[None]":
    """Return a future as ObjectRef.as_future makes it."""
    source: Any = concurrent.futures.Future()
    source.object_ref = ref
    return asyncio.wrap_future(source)


async def gathers() -> None:
    await asyncio.gather(rays_future(Ref(1)), ready(Ref(2)), asyncio.sleep(1000))


async def awaits_first() -> None:
    futures = [rays_future(Ref(1)), asyncio.ensure_future(ready(Ref(2)))]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def awaits_first_or_time() -> None:
    futures = [rays_future(Ref(1)), asyncio.ensure_future(asyncio.sleep(1000))]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def awaits_all() -> None:
    await asyncio.wait([rays_future(Ref(1)), rays_future(Ref(2))])


async def awaits_for_some_time() -> None:
    await asyncio.wait_for(rays_future(Ref(1)), 1000)


async def sleeps() -> None:
    await asyncio.sleep(1000)


async def takes() -> None:
    lock = asyncio.Lock()
    await lock.acquire()
    await lock.acquire()


@contextlib.contextmanager
def event_loop(coroutine: Any) -> Iterator[None]:
    """Run this coroutine in another thread, where it waits."""
    began = threading.Event()

    async def main() -> None:
        task = asyncio.ensure_future(coroutine())
        task.set_name("the coroutine")
        asyncio.get_running_loop().call_later(0, began.set)
        await asyncio.to_thread(OVER.wait)
        for each in asyncio.all_tasks() - {asyncio.current_task()}:
            each.cancel()

    OVER.clear()
    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    try:
        assert began.wait(10)
        yield
    finally:
        OVER.set()
        thread.join()


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize(
    ("coroutine", "told"),
    [
        (gathers, {"tasks": ["01", "02"]}),
        (awaits_first, {"tasks": ["01", "02"], "needed": 1}),
        (awaits_first_or_time, {"tasks": ["01"], "needed": 1, "ends": True}),
        (awaits_all, {"tasks": ["01", "02"]}),
        (awaits_for_some_time, {"tasks": ["01"], "ends": True}),
        (sleeps, None),
        (takes, None),
    ],
)
def test_what_a_coroutine_waits_for(read: Any, coroutine: Any, told: dict[str, Any] | None) -> None:
    with event_loop(coroutine):
        found = waits(read, "the coroutine")
    found["tasks"] = sorted(found["tasks"]) if found else []
    whole = {"kind": "objects", "more": 0, "puts": 0, "needed": 0, "ends": False}
    assert found == ({"tasks": []} if told is None else {**whole, **told})


def test_the_task_of_ray_for_which_a_coroutine_runs(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("ray._raylet")
    module.async_task_id = contextvars.ContextVar("async_task_id", default=None)
    monkeypatch.setitem(sys.modules, "ray._raylet", module)

    async def run() -> None:
        module.async_task_id.set(b"\x07")
        await sleeps()

    with event_loop(run):
        waits(read, "the coroutine")
        told = {thread["name"]: thread.get("task") for thread in read.read_waits()["threads"]}
    assert told["the coroutine"] == "07"
