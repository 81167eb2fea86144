"""The variables of stopped threads are read, for many frames at once, without running any code of the user."""

import json
from collections.abc import Callable
from typing import Any

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
class Hostile(type):
    @property
    def __name__(cls):
        raise SystemExit("code of the user ran")

class Evil(metaclass=Hostile):
    def __repr__(self):
        raise SystemExit("code of the user ran")
    __str__ = __hash__ = __len__ = __class__ = property(__repr__)

def outer(step):
    inner(Evil())

def inner(evil):
    losses, text, many = [0.5, None], "\\xe9\\udc80", list(range(100_000))
    breakpoint()
    fail(3)

def fail(number):
    raise ValueError(number)

outer(7)
"""


def variables(worker: EnteredWorker, numbers: list[int]) -> list[dict[str, tuple[str, str]]]:
    frames: list[list[dict[str, Any]]] = json.loads(worker.query(calls.frame_variables(numbers)))
    return [{each["name"]: (each["type"], each["value"]) for each in frame} for frame in frames]


def test_variables_are_read_without_the_users_code(start: Start) -> None:
    worker, debuggee = start(PROGRAM, filters=["uncaught"])
    _, _, thread = worker.stop()
    numbers = [frame["id"] for frame in worker.frames(thread)]
    inner, outer, *_ = variables(worker, numbers)
    assert inner.pop("many")[1].startswith("[0, 1, 2, ")
    assert inner == {
        "evil": ("Evil", "<Evil>"),
        "losses": ("list", "[0.5, None]"),
        "text": ("str", "'é\\udc80'"),
    }
    assert outer == {"step": ("int", "7")}
    # The order is that of the request, and an unknown frame has no variables.
    assert variables(worker, [numbers[1], 123_456, numbers[1]]) == [outer, {}, outer]

    # The frames of an exception's traceback are read, too.
    assert worker.call(calls.resume_thread(thread)) == ""
    reason, _, thread = worker.stop()
    left = variables(worker, [frame["id"] for frame in worker.frames(thread)])
    assert (reason, left[0], left[2]) == ("exception", {"number": ("int", "3")}, outer)
    # The earlier ids are invalid or refer to current frames.
    assert all(each in ({}, *left) for each in variables(worker, numbers))
    worker.leave()
    assert "code of the user ran" not in debuggee.child.output
