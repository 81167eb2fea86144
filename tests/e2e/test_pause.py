"""A pause of a thread that cannot stop shows where the thread is blocked. It stops when that is over."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, line_of, local_variables, problems, user_frames

# Reading from a FIFO blocks until the test writes.
PROGRAM = """\
import hashlib
import threading

def read(name):
    with open({folder!r} + "/" + name) as file:
        return file.readline()

def release(lock):
    read("go")
    lock.release()

def in_a_lock(number):
    secret = "locked away"
    lock.acquire()
    done = number
    return done

def in_native_code(number):
    return hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2_000_000_000)

lock = threading.Lock()
lock.acquire()
releasing = threading.Thread(target=release, args=(lock,), daemon=True)
releasing.start()
breakpoint()
print("result", {call}(7))
read("end")
print("DONE")
"""


class Program:
    """A running program to which raydap is attached."""

    def __init__(self, debuggee: Debuggee, fifos: dict[str, int]) -> None:
        self.debuggee = debuggee
        self.fifos = fifos

    def place(self, code: str) -> str:
        """Return the file and line of this code in the format for users."""
        return f"({self.debuggee.path.name}:{line_of(self.debuggee.path.read_text(), code)})"

    def tell(self, *names: str) -> None:
        """Let the program continue where it reads from these FIFOs, now or later."""
        for name in names:
            os.write(self.fifos[name], b"on\n")

    def end(self) -> str:
        assert self.debuggee.child.wait() == 0
        return self.debuggee.child.output


@pytest.fixture
def run(
    client: Client, plain_debugpy: Callable[[str], Debuggee], children: ExitStack, tmp_path: Path
) -> Callable[[str], Program]:
    """Return `run(call)`, which starts the program with this call and continues it after its `breakpoint()`."""

    def start(call: str) -> Program:
        fifos = {}
        for name in ("go", "end"):
            os.mkfifo(tmp_path / name)
            fifos[name] = os.open(tmp_path / name, os.O_RDWR)
            children.callback(os.close, fifos[name])
        debuggee = plain_debugpy(PROGRAM.format(folder=str(tmp_path), call=call))
        client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
        go_on(client, client.wait_event("stopped"))
        return Program(debuggee, fifos)

    return start


def paused_at(client: Client, *places: str) -> list[dict[str, Any]]:
    """Pause all threads until some are blocked at these places, and return their stops.

    A thread that is not there yet really stops, and is resumed.
    """
    client.request("pause", threadId=0)
    found: dict[str, dict[str, Any]] = {}
    while len(found) < len(places):
        stop = client.wait_event("stopped")
        assert stop["reason"] == "pause"
        if stop.get("text") in places:
            found[stop["text"]] = stop
        else:
            go_on(client, stop)
            client.request("pause", threadId=0)
    return [found[place] for place in places]


def test_a_thread_in_a_lock_is_shown_and_stops_when_it_has_the_lock(
    client: Client, run: Callable[[str], Program]
) -> None:
    program = run("in_a_lock")
    where = "blocked in lock.acquire " + program.place("    lock.acquire()")
    stop, other = paused_at(client, where, "blocked in file.readline " + program.place("file.readline"))
    frame = user_frames(client, stop)[0]
    assert (frame["name"], frame["source"]["path"]) == ("in_a_lock", str(program.debuggee.path))
    assert local_variables(client, stop) == {"number": "7", "secret": "'locked away'"}
    assert local_variables(client, other)["name"] == "'go'"
    for command, arguments in (
        ("next", {"threadId": stop["threadId"]}),
        ("evaluate", {"expression": "number", "frameId": frame["id"]}),
    ):
        with pytest.raises(RequestFailed, match=r"is blocked in lock\.acquire .*\. It stops when that call returns"):
            client.request(command, **arguments)

    go_on(client, other)
    program.tell("go")
    # The other thread runs to its end. This one stops.
    client.wait_event("continued", lambda body: body["threadId"] == stop["threadId"])
    real = client.wait_event("stopped", lambda body: body["threadId"] == stop["threadId"])
    assert real["description"] == "pause"
    assert evaluate(client, real, "secret + '!'") == "'locked away!'"
    assert frames(client, real)[0]["name"] == "in_a_lock"
    with pytest.raises(RequestFailed, match="no longer valid"):
        client.request("scopes", frameId=frame["id"])
    go_on(client, real)
    program.tell("end")
    assert "result 7\nDONE" in program.end()
    assert problems(client) == []


@pytest.mark.parametrize("leave", ["continue", "detach", "disconnect", "hang up"])
def test_a_thread_that_is_resumed_while_blocked_does_not_stop_later(
    client: Client, run: Callable[[str], Program], leave: str
) -> None:
    program = run("in_a_lock")
    client.request("raydap/workers")
    where = "blocked in lock.acquire " + program.place("    lock.acquire()")
    stop, other = paused_at(client, where, "blocked in file.readline " + program.place("file.readline"))
    if leave == "continue":
        go_on(client, stop)
        go_on(client, other)
        client.wait_event("continued", lambda body: body["threadId"] == other["threadId"])
    elif leave == "detach":
        (worker,) = client.wait_event("raydap/workersChanged", lambda body: body["workers"][0]["threads"])["workers"]
        client.request("raydap/detach", workers=[worker["key"]])
        client.wait_event(
            "raydap/workersChanged", lambda body: body["workers"][0]["state"] == "paused"
        )  # A target is found only once.
    elif leave == "disconnect":
        client.request("disconnect")
    else:
        client.close()
    program.tell("go", "end")
    assert "result 7\nDONE" in program.end()


def test_a_thread_in_native_code_is_busy(client: Client, run: Callable[[str], Program]) -> None:
    program = run("in_native_code")
    where = "busy in native code below in_native_code " + program.place("pbkdf2_hmac")
    (stop,) = paused_at(client, where)
    assert local_variables(client, stop) == {"number": "7"}
    # The call takes an hour. raydap detaches at once, and the fixture ends the program.
    client.request("disconnect")
