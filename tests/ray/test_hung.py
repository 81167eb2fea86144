"""Hanging workers can be inspected, attached or not, and then continue as if nothing had happened."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Cluster

from support.everybody import Everybody
from support.look import bodies, evaluate, go_on, line_of, local_variables, problems, user_frames, variables
from support.tries import tries

PROGRAM = """\
import ctypes
import os
import sys
import threading
import time
import ray

def read(name):
    with open({folder!r} + "/" + name) as file:
        line = file.readline()  # Before Python 3.11 only a line with one call tells what it waits in.
    return line.strip()

@ray.remote(num_cpus=0.1)
def task():
    return read("task")

@ray.remote(num_cpus=0.1)
class Getter:
    def get(self, refs):
        step = 7
        value = ray.get(refs[0])  # Ray has Python code of its own below this.
        return value + str(step)

@ray.remote(num_cpus=0.1)
class Locker:
    def __init__(self):
        self.lock = threading.Lock()
    def lock_twice(self, name):
        self.lock.acquire()
        threading.Thread(target=self.release, daemon=True).start()
        self.lock.acquire()
        return "locked by " + name
    def release(self):
        read("lock")
        self.lock.release()

@ray.remote(num_cpus=0.1)
class Sleeper:
    def sleep(self):
        naps = 0
        while not os.path.exists({folder!r} + "/awake"):
            time.sleep(3)
            naps += 1
        return "slept"

@ray.remote(num_cpus=0.1)
class Keeper:
    # Its native code lets no Python code run.
    def keep(self):
        read("begin")
        words = ["kept"]
        ctypes.PyDLL(None).read(os.open({folder!r} + "/keep", os.O_RDONLY), ctypes.create_string_buffer(9), 5)
        while not os.path.exists({folder!r} + "/free"):
            pass  # A method that ends at once would be over before it is paused.
        return words[0]

@ray.remote(num_cpus=0.1)
class Waiter:
    async def wait(self, refs):
        turn = 9
        return await self.fetch(refs[0]) + str(turn)
    async def fetch(self, ref):
        return await ref

ray.init()
if sys.argv[1:2] == ["wait"]:
    waiter = Waiter.options(runtime_env=dict(env_vars=dict(RAY_USE_UVLOOP=sys.argv[2]))).remote()
    print("result: " + str(ray.get(waiter.wait.remote([task.remote()]))))
    sys.exit()
if sys.argv[1:] == ["keep"]:
    keeper = Keeper.remote()
    print("result: " + str(ray.get(keeper.keep.remote())))
    sys.exit()
getter, locker, sleeper = Getter.remote(), Locker.remote(), Sleeper.remote()
calls = [getter.get.remote([task.remote()]), locker.lock_twice.remote("me"), sleeper.sleep.remote()]
print("result: " + str(ray.get(calls)))
"""


class Hung:
    """The running program, and the session that has launched it. `tell` writes lines for which the program waits."""

    def __init__(self, client: Client, path: Path, fifos: dict[str, int]) -> None:
        self.client = client
        self.path = path
        self.fifos = fifos
        self.everybody = Everybody(client)

    def tell(self, name: str) -> None:
        os.write(self.fifos[name], b"done\n")

    def place(self, code: str) -> str:
        return f"({self.path.name}:{line_of(self.path.read_text(), code)})"

    def stack(self, key: str, place: str) -> dict[str, Any]:
        """Wait until a thread of the worker is at this place, and return the thread with its stack."""
        for _ in tries(60):
            stack = self.client.request("raydap/stack", worker=key)
            for thread in stack["threads"]:
                if thread["place"] == place:
                    assert place in stack["text"]
                    found: dict[str, Any] = thread
                    return found
        raise AssertionError(stack["text"])

    def blocked(self, key: str, place: str) -> dict[str, Any]:
        """Pause the worker until it is blocked at this place, and return its stop."""
        while True:
            self.client.request("raydap/pause", workers=[key])
            stop = self.client.wait_event("stopped", lambda body: body.get("text", "pause") in (place, "pause"))
            if stop.get("text") == place:
                return stop
            go_on(self.client, stop)  # The thread was between two of these places.

    def end(self) -> str:
        self.client.wait_event("terminated")
        assert problems(self.client) == []
        return "".join(body["output"] for body in bodies(self.client, "output"))


@pytest.fixture
def arguments() -> list[str]:
    """Return the arguments of the program."""
    return []


@pytest.fixture
def hung(client: Client, cluster: Cluster, children: ExitStack, tmp_path: Path, arguments: list[str]) -> Hung:
    fifos = {}
    for name in ("task", "lock", "begin", "keep"):
        os.mkfifo(tmp_path / name)
        fifos[name] = os.open(tmp_path / name, os.O_RDWR)
        children.callback(os.close, fifos[name])
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(folder=str(tmp_path)))
    where = {"dashboard": cluster.dashboard, "program": str(program), "env": {"RAY_ADDRESS": cluster.address}}
    where["args"] = arguments
    client.start_session("launch", where, filters=["uncaught"])
    return Hung(client, program, fifos)


@pytest.mark.core
def test_hung_workers_are_shown_where_they_hang_and_continue(hung: Hung, client: Client, tmp_path: Path) -> None:
    getter, locker, sleeper, task = (
        hung.everybody.one(label)["key"] for label in ("Getter.get", "Locker.lock_twice", "Sleeper.sleep", "task")
    )
    in_get = "blocked in ray.get " + hung.place("value = ray.get")
    lines = hung.path.read_text().splitlines()
    second = max(number for number, line in enumerate(lines, 1) if "self.lock.acquire()" in line)
    in_lock = f"blocked in self.lock.acquire ({hung.path.name}:{second})"
    in_sleep = "blocked in time.sleep " + hung.place("time.sleep(3)")

    # Without a debugger.
    frame = next(each for each in hung.stack(getter, in_get)["frames"] if each["isUsers"])
    assert (frame["name"], frame["path"]) == ("get", str(hung.path))
    assert {each["name"]: each["value"] for each in frame["variables"]}["step"] == "7"
    hung.stack(locker, in_lock)
    hung.stack(sleeper, in_sleep)
    hung.stack(task, "blocked in file.readline " + hung.place("file.readline()"))
    assert {hung.everybody.workers[key]["state"] for key in (getter, locker, sleeper, task)} == {"alive"}

    # raydap/pause attaches first.
    stop = hung.blocked(getter, in_get)
    assert user_frames(client, stop)[0]["source"]["path"] == str(hung.path)
    assert local_variables(client, stop)["step"] == "7"
    hung.everybody.one("Getter.get", "stopped")
    hung.stack(getter, in_get)
    in_locker = hung.blocked(locker, in_lock)
    asleep = hung.blocked(sleeper, in_sleep)

    # The wait of the thread ends, and it really stops, in the user's code.
    hung.tell("task")
    client.wait_event("continued", lambda body: body["threadId"] == stop["threadId"])
    real = client.wait_event("stopped", lambda body: body["threadId"] == stop["threadId"])
    assert (real["description"], evaluate(client, real, "step * 2")) == ("pause", "14")
    go_on(client, real)
    real = client.wait_event("stopped", lambda body: body["threadId"] == asleep["threadId"])
    go_on(client, real)

    # Neither a detached worker nor a continued thread stops later.
    client.request("raydap/detach", workers=[locker])
    hung.everybody.one("Locker.lock_twice")
    assert in_locker["threadId"] not in [each["id"] for each in client.request("threads")["threads"]]
    hung.tell("lock")
    (tmp_path / "awake").touch()
    assert "result: ['done7', 'locked by me', 'slept']" in hung.end()


@pytest.mark.parametrize("arguments", [["wait", "0"]])
def test_a_coroutine_that_waits_is_shown_though_no_thread_runs_it(hung: Hung, client: Client) -> None:
    """First without a debugger, then with the worker attached."""
    waiter = hung.everybody.one("Waiter.wait")["key"]
    for attached in (False, True):
        if attached:
            client.request("raydap/attach", workers=[waiter])
            hung.everybody.one("Waiter.wait", "running")
        found = hung.stack(waiter, "blocked in await ref " + hung.place("return await ref"))
        assert (found["coroutine"], found["isUsers"]) == (True, True)
        fetch, wait = (frame for frame in found["frames"] if frame["isUsers"])
        assert (fetch["name"], wait["name"]) == ("fetch", "wait")
        assert {each["name"]: each["value"] for each in wait["variables"]}["turn"] == "9"
    hung.tell("task")
    assert "result: done9" in hung.end()


@pytest.mark.parametrize("arguments", [["wait", "0"], ["wait", "1"]], ids=["asyncio", "uvloop"])
def test_an_actor_whose_coroutines_wait_is_paused_where_they_wait(hung: Hung, client: Client) -> None:
    """The loops of uvloop, which Ray uses where it is installed, do not show which thread runs them."""
    waiter = hung.everybody.one("Waiter.wait")["key"]
    hung.stack(waiter, "blocked in await ref " + hung.place("return await ref"))
    stop = hung.blocked(waiter, "blocked in await ref " + hung.place("return await ref"))
    fetch, wait = user_frames(client, stop)
    assert (fetch["name"], wait["name"]) == ("fetch", "wait")
    assert variables(client, wait)["turn"] == "9"
    hung.tell("task")
    real = client.wait_event("stopped", lambda body: body["threadId"] == stop["threadId"])
    assert real["description"] == "pause"
    assert user_frames(client, real)[-1]["name"] == "wait"
    assert evaluate(client, real, "self").startswith("<")
    go_on(client, real)
    assert "result: done9" in hung.end()


@pytest.mark.parametrize("arguments", [["keep"]])
@pytest.mark.parametrize("attached", [False, True], ids=["alive", "attached"])
def test_native_code_that_lets_no_python_run_is_shown_from_outside(hung: Hung, client: Client, attached: bool) -> None:
    keeper = hung.everybody.one("Keeper.keep")["key"]
    if attached:
        client.request("raydap/attach", workers=[keeper])
        hung.everybody.one("Keeper.keep", "running")
    hung.tell("begin")
    place = "blocked in native code below keep " + hung.place("ctypes.PyDLL(None)")
    frame = next(each for each in hung.stack(keeper, place)["frames"] if each["isUsers"])
    assert (frame["name"], frame["path"]) == ("keep", str(hung.path))
    variables = {each["name"]: each["value"] for each in frame["variables"]}
    assert "kept" in variables["words"]
    if attached:
        client.request("raydap/pause", workers=[keeper])
        client.wait_event("output", lambda body: f"it is {place}, which blocks" in body["output"])
        hung.tell("keep")
        stop = client.wait_event("stopped")
        assert stop["reason"] == "pause"
        (hung.path.parent / "free").touch()
        go_on(client, stop)
        client.wait_event("terminated")
        told = problems(client)
        assert ["[raydap 3002]" in each for each in told] == [True], told
    else:
        hung.tell("keep")
        (hung.path.parent / "free").touch()
        assert "result: kept" in hung.end()
