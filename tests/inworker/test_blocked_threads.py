"""A thread that cannot stop is reported with its stack, without running any code of the user."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

BLOCKED = """\
import threading

lock = threading.Lock()
lock.acquire()
event = threading.Event()

class Hostile(type):
    @property
    def __name__(cls):
        raise SystemExit("code of the user ran")

class Evil(metaclass=Hostile):
    def __repr__(self):
        raise SystemExit("code of the user ran")
    __str__ = __hash__ = __len__ = __class__ = property(__repr__)

class Text(str):
    __repr__ = Evil.__repr__

def work(kind, known):
    evil, text, many = Evil(), [Text("x")], {"list": list(range(1000)), "text": "\\xe9\\udc80" * 10000}
    huge, pair, none = 10 ** 10000, (1,), {None: {1.5}, 1: [[[[1]]]]}
    if kind == "lock":
        known.set(); lock.acquire()
    elif kind == "with":
        known.set()
        with lock:
            pass
    else:
        known.set(); event.wait()

def start(kind):
    known = threading.Event()
    threading.Thread(target=work, args=(kind, known), name=kind, daemon=True).start()
    known.wait()

for kind in ("lock", "with", "event"):
    start(kind)
breakpoint()
"""


def blocked(worker: EnteredWorker, *threads: int) -> dict[str, dict[str, Any]]:
    answer = json.loads(worker.query(calls.blocked_threads(threads)))
    return {each["name"]: each for each in answer["threads"]}


def users_frame(stack: dict[str, Any]) -> dict[str, Any]:
    frame: dict[str, Any] = stack["frames"][stack["user"]]
    return frame


def test_threads_that_cannot_stop_are_reported_with_their_stacks(start: Start) -> None:
    worker, _ = start(BLOCKED)
    worker.stop()
    assert blocked(worker) == {}
    worker.client.request("pause", threadId=0)
    found = blocked(worker)
    # The main thread has really stopped.
    assert set(found) == {"lock", "with", "event"}
    assert {name: (each["activity"], each["is_users"], each["main"]) for name, each in found.items()} == dict.fromkeys(
        found, ("blocked", True, False)
    )
    # The line has two calls. Only Python 3.11 and later knows which one is waiting.
    exact = hasattr(compile("", "", "exec"), "co_positions")
    assert [found[name]["call"] for name in ("lock", "with", "event")] == [
        "lock.acquire" if exact else "",
        "with lock",
        "event.wait" if exact else "",
    ]
    lines = Path(users_frame(found["lock"])["path"]).read_text("utf-8", "surrogatepass").splitlines()
    assert "lock.acquire()" in lines[users_frame(found["lock"])["line"] - 1]
    assert [frame["name"] for frame in found["event"]["frames"]][:3] == ["wait", "wait", "work"]
    worker.leave()


def test_a_stop_that_raydap_may_not_have_received_is_reported_as_a_pause(start: Start) -> None:
    """raydap ignores a pause of a thread that has stopped, and would show a second stop at a breakpoint."""
    worker, _ = start(BLOCKED)
    reason, line, thread = worker.stop()
    assert reason != "pause"
    worker.client.request("pause", threadId=0)
    worker.query(calls.blocked_threads([thread]))
    assert worker.stop() == ("pause", line, thread)
    # A second report would be sent before the result of this evaluation.
    worker.query(calls.blocked_threads([thread], [thread]))
    frame = worker.frames(thread)[0]["id"]
    assert worker.client.request("evaluate", expression="1 + 1", frameId=frame, context="repl")["result"] == "2"
    assert sum(event["event"] == "stopped" for event in worker.client.events) == 2
    worker.leave()


def test_values_are_written_without_the_users_code(start: Start) -> None:
    worker, debuggee = start(BLOCKED)
    worker.stop()
    worker.client.request("pause", threadId=0)
    frame = users_frame(blocked(worker)["lock"])
    values = {each["name"]: (each["type"], each["value"]) for each in frame["locals"]}
    assert values.pop("many")[1].startswith("{'list': [0, 1, 2, 3, 4, 5, ...], 'text': 'é\\udc80")
    assert values == {
        "kind": ("str", "'lock'"),
        "known": ("Event", "<Event>"),
        "evil": ("Evil", "<Evil>"),
        "text": ("list", "[<Text>]"),
        "huge": ("int", "<int>"),
        "pair": ("tuple", "(1,)"),
        "none": ("dict", "{None: {1.5}, 1: [[[...]]]}"),
    }
    assert max(len(each["value"]) for each in frame["locals"]) <= 200
    assert "code of the user ran" not in debuggee.child.output
    worker.leave()


MANY = """\
import threading
locks = [threading.Lock() for _ in range(60)]
big = ["x" * 500] * 50

def deep(number, depth, known):
    a, b, c, d, e, f, g = big, big, big, big, big, big, big
    if depth:
        deep(number, depth - 1, known)
    else:
        known.set()
        locks[number].acquire()

for number in range(60):
    known = threading.Event()
    locks[number].acquire()
    threading.Thread(target=deep, args=(number, 300, known), daemon=True).start()
    known.wait()
breakpoint()
"""


def test_many_deep_stacks_are_cut(start: Start) -> None:
    worker, _ = start(MANY)
    worker.stop()
    worker.client.request("pause", threadId=0)
    text = worker.query(calls.blocked_threads(()))
    assert len(text) < 400_000
    threads = json.loads(text)["threads"]
    assert len(threads) == 60
    assert all(each["frames"][0]["name"] == "deep" for each in threads)
    worker.leave()


def test_a_thread_that_is_not_reported_is_no_longer_paused(start: Start, tmp_path: Path, children: ExitStack) -> None:
    os.mkfifo(tmp_path / "go")
    fifo = os.open(tmp_path / "go", os.O_RDWR)
    children.callback(os.close, fifo)
    # The idle thread of an executor has no frame of the user.
    worker, debuggee = start(f"""\
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(int).result()
with open({str(tmp_path / "go")!r}) as file:
    breakpoint()
    file.readline()
print("result", pool.submit(sorted, [2, 1], key=lambda item: item).result())
""")
    _, _, main = worker.stop()
    worker.call(calls.resume_thread(main))
    while "MainThread" not in (found := blocked_after_pause(worker)):
        worker.call(calls.resume_thread(worker.stop()[2]))
    assert set(found) == {"MainThread"}
    worker.call(calls.resume_thread(found["MainThread"]["id"]))
    os.write(fifo, b"on\n")
    assert debuggee.child.wait() == 0
    assert "result [1, 2]" in debuggee.child.output


LOOP = """\
import time
breakpoint()
while True:
    time.sleep(0.01)
"""


def test_a_stop_that_pydevd_forgets_is_reported(start: Start) -> None:
    """A thread that is resumed and paused at once never leaves its wait, and pydevd sends no event."""
    worker, _ = start(LOOP)
    _, _, thread = worker.stop()
    # Both calls are in one command, so the thread cannot wake up between them.
    worker.call(f"[{calls.resume_thread(thread)}, {calls.pause_thread(thread)}][0]")
    stack = blocked(worker, thread)
    assert worker.client.wait_event("stopped")["threadId"] == thread
    assert stack == {}
    # raydap has received this stop, so it is not reported again.
    worker.query(calls.blocked_threads([thread], [thread]))
    worker.call(calls.resume_thread(thread))
    assert len([event for event in worker.client.events if event["event"] == "stopped"]) == 2
    worker.leave()


def blocked_after_pause(worker: EnteredWorker) -> dict[str, dict[str, Any]]:
    worker.client.request("pause", threadId=0)
    return blocked(worker)
