"""Watchpoints in real debugpy: where they stop, what they report, and that nothing of them stays."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

pytestmark = pytest.mark.core

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

PROGRAM = """\
import math


class Trainer:
    def __init__(self):
        self.lr = 0.1
        self.history = []

    def train(self, losses):
        loss = 0.0  # first
        for step, each in enumerate(losses):
            loss = each  # changes
            self.note(loss)  # calls
            other = step * 2  # other
        return loss  # returns

    def note(self, loss):
        self.history.append(loss)
        if loss > 5:
            self.lr = 0.01  # lowers


def late(value):
    seen = value
    seen += 1
    return seen  # late returns


trainer = Trainer()
breakpoint()
trainer.train([1.0, 1.0, 7.0, math.nan, math.nan, 2.0])
late(3)
print("result", trainer.lr, len(trainer.history), flush=True)
breakpoint()
print("end")  # end
"""


def line_of(text: str, program: str = PROGRAM) -> int:
    return next(number for number, line in enumerate(program.splitlines(), 1) if text in line)


class Watched:
    """A program that is stopped at its first breakpoint()."""

    def __init__(self, start: Start, program: str = PROGRAM) -> None:
        self.program = program
        self.worker, self.debuggee = start(program)
        self.thread = self.worker.client.wait_event("stopped")["threadId"]

    def watch(self, *specs: dict[str, Any]) -> list[dict[str, Any]]:
        whole = {"paths": [str(self.worker.path)], "condition": "", "hits": "", "log": False, "function": ""}
        numbered = [{**whole, "number": number, **spec} for number, spec in enumerate(specs, 1000)]
        answers: list[dict[str, Any]] = json.loads(self.worker.query(calls.set_watchpoints(json.dumps(numbered))))
        return answers

    def at(self, text: str, expression: str, **more: Any) -> dict[str, Any]:
        return {"expression": expression, "line": line_of(text, self.program), **more}

    def set_breakpoints(self, *lines: dict[str, Any]) -> None:
        self.worker.client.request("setBreakpoints", source={"path": str(self.worker.path)}, breakpoints=[*lines])

    def resume(self) -> None:
        self.worker.call(calls.resume_thread(self.thread))

    def hit(self) -> tuple[str, str, str, str]:
        """Resume, and return the next stop of a watchpoint: the next line, the line that caused it, and the values."""
        self.resume()
        body = self.worker.client.wait_event("raydapWatched")
        assert body["stops"] is True
        _, line, self.thread = self.worker.stop()
        caused = self.program.splitlines()[body["line"] - 1].strip() if body["line"] else ""
        return line, caused, body["before"], body["after"]

    def plain_stop(self) -> str:
        """Resume, and return the line of the next stop."""
        self.resume()
        _, line, self.thread = self.worker.stop()
        return line

    def finish(self) -> None:
        assert self.plain_stop() == 'print("end")  # end'
        self.resume()
        assert self.debuggee.child.wait() == 0


@pytest.fixture
def watched(start: Start) -> Watched:
    return Watched(start)


LOOP = "for step, each in enumerate(losses):"
CALLS, OTHER = "self.note(loss)  # calls", "other = step * 2  # other"


def test_a_variable_stops_after_each_line_that_changes_it(watched: Watched) -> None:
    (answer,) = watched.watch(watched.at("# first", "loss"))
    assert answer == {"number": 1000, "verified": True, "message": "", "running": 0}
    assert watched.hit() == (CALLS, "loss = each  # changes", "0.0", "1.0")
    assert watched.hit() == (CALLS, "loss = each  # changes", "1.0", "7.0")
    assert watched.hit() == (CALLS, "loss = each  # changes", "7.0", "nan")
    assert watched.hit() == (CALLS, "loss = each  # changes", "nan", "2.0")
    watched.finish()


def test_a_comparison_stops_when_it_becomes_true(watched: Watched) -> None:
    watched.watch(watched.at("# first", "loss != loss"))
    assert watched.hit() == (CALLS, "loss = each  # changes", "", "True")
    watched.finish()


def test_an_attribute_that_another_function_changes(watched: Watched) -> None:
    watched.watch(watched.at("# first", "self.lr"))
    assert watched.hit() == (OTHER, CALLS, "0.1", "0.01")
    watched.finish()


def test_an_item_and_a_collection(watched: Watched) -> None:
    watched.watch(watched.at("# first", "self.history[-1]"), watched.at("# first", "len(self.history) > 2"))
    assert watched.hit() == (OTHER, CALLS, "1.0", "7.0")
    assert watched.worker.client.wait_event("raydapWatched")["after"] == "True"
    watched.watch(watched.at("# first", "self.history", hits="% 3"))
    _, caused, before, after = watched.hit()
    assert caused == CALLS
    assert (before.count(","), after.count(",")) == (4, 5)
    watched.finish()


def test_a_change_by_the_line_that_returns(watched: Watched) -> None:
    watched.watch(watched.at("seen = value", "seen"))
    assert watched.hit() == ("return seen  # late returns", "seen += 1", "3", "4")
    watched.finish()


def test_hit_counts_and_conditions(watched: Watched) -> None:
    watched.watch(watched.at("# first", "loss", hits="2", condition="step > 1"))
    assert watched.hit() == (CALLS, "loss = each  # changes", "7.0", "nan")
    watched.finish()


def test_a_log_does_not_stop(watched: Watched) -> None:
    watched.watch(watched.at("# first", "loss", log=True))
    watched.finish()
    found = [each["body"] for each in watched.worker.client.received if each.get("event") == "raydapWatched"]
    assert [(each["before"], each["after"], each["counts"]) for each in found] == [
        ("0.0", "1.0", "step 0"),
        ("1.0", "7.0", "step 2"),
        ("7.0", "nan", "step 3"),
        ("nan", "2.0", "step 5"),
    ]


def test_steps_from_a_stop_go_to_the_next_line(watched: Watched) -> None:
    """pydevd gets the line of the stop after raydap, because there is a breakpoint in the function."""
    client = watched.worker.client
    watched.set_breakpoints({"line": line_of("# other"), "condition": "False"})
    watched.watch(watched.at("# first", "loss"))
    assert watched.hit()[0] == CALLS
    client.request("next", threadId=watched.thread)
    reason, line, _ = watched.worker.stop()
    assert (reason, line) == ("step", OTHER)
    client.request("next", threadId=watched.thread)
    assert watched.worker.stop()[1] == LOOP
    client.request("next", threadId=watched.thread)
    assert watched.worker.stop()[1] == "loss = each  # changes"
    watched.watch()
    watched.finish()


def test_a_step_over_a_line_that_changes_the_value_stops_once(watched: Watched) -> None:
    client = watched.worker.client
    watched.set_breakpoints({"line": line_of("# changes")})
    watched.watch(watched.at("# first", "loss"))
    assert watched.plain_stop() == "loss = each  # changes"
    client.request("next", threadId=watched.thread)
    client.wait_event("raydapWatched")
    assert watched.worker.stop()[1] == CALLS
    watched.set_breakpoints()
    watched.watch()
    watched.finish()


def test_a_frame_that_runs_already_is_watched(watched: Watched) -> None:
    watched.set_breakpoints({"line": line_of("# other"), "condition": "step == 2"})
    assert watched.plain_stop() == OTHER
    (answer,) = watched.watch(watched.at("# first", "loss", function="train"))
    assert answer["running"] == 1
    assert watched.hit() == (CALLS, "loss = each  # changes", "7.0", "nan")
    watched.watch()
    watched.finish()


def test_the_place_of_a_variable(watched: Watched) -> None:
    client = watched.worker.client
    watched.set_breakpoints({"line": line_of("# lowers")})
    watched.plain_stop()
    inner, outer, *_ = watched.worker.frames(watched.thread)

    def place(frame: int, variable: int, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(watched.worker.query(calls.watch_place(frame, variable, name)))
        return found

    where = {"path": str(watched.worker.path), "line": line_of("# calls"), "function": "train"}
    assert place(outer["id"], 0, "loss") == {"expression": "loss", **where}
    (local, *_) = client.request("scopes", frameId=outer["id"])["scopes"]
    assert place(0, local["variablesReference"], "step") == {"expression": "step", **where}
    variables = client.request("variables", variablesReference=local["variablesReference"])["variables"]
    trainer = next(each for each in variables if each["name"] == "self")
    found = place(0, trainer["variablesReference"], "lr")
    assert (found["expression"], found["function"]) in [("self.lr", "train"), ("self.lr", "note")]
    assert "not a valid Python expression" in place(inner["id"], 0, "1 +")["problem"]
    assert "no longer there" in place(12345, 0, "loss")["problem"]
    watched.watch()
    assert watched.plain_stop() == 'print("end")  # end'


def test_what_cannot_be_compared_says_so(watched: Watched) -> None:
    watched.watch(watched.at("# first", "self"))
    watched.resume()
    body = watched.worker.client.wait_event("raydapWatchNote")
    assert body["message"] == (
        "An object of Trainer has no content that can be compared: only another object in its place counts; watch its "
        "attributes."
    )
    watched.thread = watched.worker.client.wait_event("stopped")["threadId"]


def test_the_top_level_of_a_module_that_has_run_says_so(watched: Watched) -> None:
    program = watched.at("# end", "trainer", function="<module>")
    (answer, wrong) = watched.watch(program, watched.at("# first", "1 +"))
    assert answer["verified"]
    assert answer["running"] == 1
    assert not wrong["verified"]
    assert "not a valid Python expression" in wrong["message"]


LEFT = """
import gc
gc.collect()
found = [each for each in gc.get_objects() if type(each).__module__.endswith((".watchpoints", ".watched_frames"))]
tools = [sys.monitoring.get_tool(each) for each in range(6)] if sys.version_info >= (3, 12) else []
tracers = [sys.gettrace()]
print("left", len(found), [each for each in tools if each and "watch" in each], flush=True)
"""


@pytest.mark.parametrize("how", ["removed", "left", "lost"])
def test_nothing_stays_in_the_process(start: Start, how: str) -> None:
    program = "import sys\n" + PROGRAM.replace('print("end")', LEFT + 'print("end")')
    program = program.replace("late(3)", "late(3)\nif sys.argv[1:] == []: pass")
    watched = Watched(start, program)
    watched.watch(watched.at("# first", "loss"), watched.at("# first", "self"))
    assert watched.hit()[0] == CALLS
    if how == "removed":
        assert watched.watch() == []
        assert watched.plain_stop() == "import gc"
        watched.resume()
    elif how == "left":
        watched.worker.leave()
    else:
        watched.worker.client.close()
    watched.debuggee.child.wait_for("left 0 \\[\\]" if how == "removed" else "result")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
def test_a_process_without_a_free_tool_says_so(start: Start) -> None:
    use = "sys.monitoring.get_tool(each) or sys.monitoring.use_tool_id(each, 'x')"
    taken = f"import sys\nfor each in (3, 4, 5):\n    {use}\n"
    watched = Watched(start, taken + PROGRAM)
    (answer,) = watched.watch(watched.at("# first", "loss"))
    assert (answer["verified"], "sys.monitoring" in answer["message"]) == (False, True)


ASYNC = """\
import asyncio


async def consume(queue):
    total = 0
    while total < 6:
        item = await queue.get()  # waits
        total += item  # adds
        nothing = None  # next
    return total


async def main():
    queue = asyncio.Queue()
    task = asyncio.create_task(consume(queue))
    await asyncio.sleep(0)
    breakpoint()
    for each in (1, 2, 3):
        await queue.put(each)
        await asyncio.sleep(0)
    print(await task, flush=True)

asyncio.run(main())
breakpoint()
print("end")  # end
"""


def test_a_coroutine_that_waits_already(start: Start) -> None:
    watched = Watched(start, ASYNC)
    watched.watch(watched.at("# adds", "total"))
    assert watched.hit() == ("nothing = None  # next", "total += item  # adds", "0", "1")
    assert watched.hit()[2:] == ("1", "3")
    assert watched.hit()[2:] == ("3", "6")
    watched.finish()


THREADS = """\
import threading


def work(number):
    value = 0
    for each in range(3):
        value = number * each  # sets
    return value


breakpoint()
threads = [threading.Thread(target=work, args=(each,)) for each in (0, 1, 2)]
for each in threads:
    each.start()
    each.join()
breakpoint()
print("end")  # end
"""


def test_each_thread_and_call_is_compared_by_itself(start: Start) -> None:
    watched = Watched(start, THREADS)
    watched.watch(watched.at("# sets", "value"))
    assert [watched.hit()[2:] for _ in range(4)] == [("0", "1"), ("1", "2"), ("0", "2"), ("2", "4")]
    watched.finish()


CAUGHT = """\
class Model:
    scale = 1


def run(model):
    for turn in range(2):
        try:
            model.scale = turn + 2  # assigns
            raise ValueError
        except ValueError:
            handled = True  # handles
    while model.scale > 0: model.scale -= 4
    return model


breakpoint()
run(Model())
breakpoint()
print("end")  # end
"""


def test_a_change_before_an_exception_and_a_loop_in_one_line(start: Start) -> None:
    watched = Watched(start, CAUGHT)
    watched.watch(watched.at("# assigns", "model.scale"))
    assert watched.hit()[1:] == ("model.scale = turn + 2  # assigns", "1", "2")
    assert watched.hit()[1:] == ("model.scale = turn + 2  # assigns", "2", "3")
    assert watched.hit()[1:] == ("while model.scale > 0: model.scale -= 4", "3", "-1")
    watched.finish()
