"""The activity of each thread of a process, derived from two reads of its stack."""

import asyncio
import contextlib
import hashlib
import subprocess
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from support.installed import expression, installed

OVER = threading.Event()


@pytest.fixture
def read() -> Any:
    """Return the module, installed as in a worker without an agent."""
    return installed("stack_reader").stack_reader


def loop() -> None:
    turns = 0
    while not OVER.is_set():
        turns += 1


def compute() -> None:
    while not OVER.is_set():
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 3_000_000)


def wait() -> None:
    OVER.wait()


async def step(turn: int, answer: "asyncio.Future[None]") -> None:
    await answer


async def batches(turn: int, answer: "asyncio.Future[None]") -> AsyncIterator[int]:
    await step(turn, answer)
    yield turn


async def train(turn: int, answer: "asyncio.Future[None]") -> None:
    async for _ in batches(turn, answer):
        pass


async def wait_for_end() -> None:
    """Wait until another thread sets OVER."""
    await asyncio.to_thread(OVER.wait)


@contextlib.contextmanager
def event_loop(count: int) -> Iterator[None]:
    """Run an event loop in a thread, with this many waiting coroutines, and one that waits for the end."""
    began = threading.Event()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()
        tasks = [asyncio.create_task(train(turn, answer), name=f"train {turn}") for turn in range(count)]
        await asyncio.sleep(0)
        loop.call_soon(began.set)
        await wait_for_end()
        answer.set_result(None)
        await asyncio.gather(*tasks)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert began.wait(20)
    try:
        yield
    finally:
        OVER.set()
        thread.join()


@pytest.fixture(autouse=True)
def _over() -> Iterator[None]:
    OVER.clear()
    yield
    OVER.set()


@pytest.mark.parametrize(
    ("target", "activity", "call"), [(loop, "running", None), (compute, "busy", None), (wait, "blocked", "OVER.wait")]
)
def test_what_a_thread_does(read: Any, target: Callable[[], None], activity: str, call: str | None) -> None:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()

    def stack() -> dict[str, Any]:
        (found,) = read.read_stacks([thread.ident])["threads"]
        found_: dict[str, Any] = found
        return found_

    # The thread has to start, and other processes may use the CPUs.
    while (found := stack())["activity"] != activity:
        pass
    assert found["frames"][found["user"]]["name"] == target.__name__
    assert call in (None, found["call"])
    OVER.set()
    thread.join()


def test_a_thread_that_has_stopped_for_an_exception_shows_where_it_was_raised(read: Any) -> None:
    """pydevd waits in a function that Python calls after the frames of the exception have ended."""
    pydevd: dict[str, Any] = {"OVER": OVER}
    source = "def _do_wait_suspend():\n    OVER.wait()\ndef do_wait_suspend(self, frame):\n    _do_wait_suspend()\n"
    exec(compile(source, "/site-packages/debugpy/_vendored/pydevd/pydevd.py", "exec"), pydevd)
    ours: dict[str, Any] = {"stop": pydevd["do_wait_suspend"]}
    exec("def _do_stop(frame):\n    stop(None, frame)\n", ours)

    def fail() -> None:
        raise ValueError

    def work() -> None:
        try:
            fail()
        except ValueError as error:
            (*_, (frame, _)) = traceback.walk_tb(error.__traceback__)
            ours["_do_stop"](frame)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    found: dict[str, Any] = {"activity": ""}
    while found["activity"] != "stopped":
        (found,) = read.read_stacks([thread.ident])["threads"]
    assert found["frames"][found["user"]]["name"] == "fail"
    assert "_do_stop" not in [frame["name"] for frame in found["frames"]]
    OVER.set()
    thread.join()


def test_a_source_that_has_changed_names_no_call(read: Any, tmp_path: Any) -> None:
    file = tmp_path / "changed.py"
    file.write_text("OVER.wait()\n")
    code = compile(file.read_text(), str(file), "exec")
    file.write_text("def (\n")
    thread = threading.Thread(target=exec, args=(code, {"OVER": OVER}), daemon=True)
    thread.start()
    while (found := read.read_stacks([thread.ident])["threads"][0])["user"] == -1:
        pass
    assert found["call"] == ""
    OVER.set()
    thread.join()


def test_coroutines_that_wait(read: Any) -> None:
    with event_loop(2):
        stacks = read.read_stacks()
    waiting = {each["name"]: each for each in stacks["threads"] if each.get("coroutine")}
    # `main` waits, too.
    waiting = {name: each for name, each in waiting.items() if name.startswith("train")}
    assert sorted(waiting) == ["train 0", "train 1"]
    found = waiting["train 1"]
    assert [frame["name"] for frame in found["frames"]] == ["step", "batches", "train"]
    assert (found["activity"], found["user"], found["is_users"], found["main"]) == ("blocked", 0, True, False)
    assert found["call"] == "await answer"
    assert {"name": "turn", "value": "1", "type": "int"} in found["frames"][0]["locals"]
    assert stacks["more"] == 0
    assert all(not each.get("coroutine") for each in read.read_stacks()["threads"]), "they have ended"


def test_many_coroutines(read: Any) -> None:
    with event_loop(70):
        stacks = read.read_stacks()
    assert sum(each.get("coroutine", False) for each in stacks["threads"]) == 50
    assert stacks["more"] == 21


def test_one_thread_has_no_coroutines(read: Any) -> None:
    """A pause, for example, reads single threads."""
    with event_loop(2):
        stacks = read.read_stacks([threading.get_ident(), threading.main_thread().ident])
    assert not any(each.get("coroutine") for each in stacks["threads"])


FORK = """\
import os, sys, threading

stack_reader = eval(sys.argv[1]).stack_reader
if child := os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(threading.get_ident() in stack_reader._cpu_times())
"""


def test_a_forked_process_has_its_main_threads_time_on_a_processor() -> None:
    command = [sys.executable, "-c", FORK, expression("stack_reader")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
