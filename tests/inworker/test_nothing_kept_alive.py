"""No request to a process keeps an object of the program alive, and each leaves all reference counts unchanged."""

import ast
import inspect
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from dap_client import RequestFailed

from raydap.core.workers import new_texts
from raydap.inworker import agent, calls, task_calls
from support.agents import PreparedProgram, ask, attach_greeted, read_line
from support.entered import EnteredWorker

pytestmark = pytest.mark.core

# Each kind of frame holds a batch, which it replaces in each turn. A turn begins when a byte comes through the pipe.
PROGRAM = """\
import asyncio, os, sys, threading, weakref
class Batch: pass
kinds = ("plain", "closure", "generator", "coroutine", "async generator")
lasting, seen, turn, ready = Batch(), {}, 0, threading.Semaphore(0)
begins, futures = threading.Condition(), []
def future():
    futures.append(asyncio.get_running_loop().create_future())
    return futures[-1]
def plain():
    same = lasting
    for number in range(1000):
        batch = Batch()
        seen["plain"] = weakref.ref(batch)
        ready.release()  # plain
        with begins:
            while turn <= number:
                begins.wait()
def closure():
    same, batch = lasting, None
    def inner():
        nonlocal batch
        for number in range(1000):
            batch = Batch()
            seen["closure"] = weakref.ref(batch)
            ready.release()  # closure
            with begins:
                while turn <= number and same:
                    begins.wait()
    inner()
def generator():
    same = lasting
    for number in range(1000):
        batch = Batch()
        seen["generator"] = weakref.ref(batch)
        ready.release()  # generator
        with begins:
            while turn <= number:
                begins.wait()
        yield number
def consume():
    for number in generator():
        pass
async def coroutine():
    same = lasting
    while True:
        batch = Batch()
        seen["coroutine"] = weakref.ref(batch)
        goes_on = future()
        ready.release()  # coroutine
        await goes_on
async def asynchronous():
    same = lasting
    while True:
        batch = Batch()
        seen["async generator"] = weakref.ref(batch)
        goes_on = future()
        ready.release()  # async generator
        await goes_on
        yield 1
async def iterate():
    async for number in asynchronous():
        pass
async def both():
    await asyncio.gather(coroutine(), iterate())
def resume():
    for each in futures[:2]:
        each.set_result(None)
    del futures[:2]
def control():
    global turn
    loop = None
    for _ in kinds:
        ready.acquire()
    counted = sys.getrefcount(lasting)
    print("begun", flush=True)
    while os.read(pipe, 1):
        old = dict(seen)
        with begins:
            turn += 1
            begins.notify_all()
        futures[0].get_loop().call_soon_threadsafe(resume)
        for _ in kinds:
            ready.acquire()
        alive = [kind for kind in kinds if old[kind]() is not None]
        print("turn", turn, alive, sys.getrefcount(lasting) - counted, flush=True)
    os._exit(0)
pipe = os.open(os.path.join(os.path.dirname(__file__), "turns"), os.O_RDONLY)
in_threads = {"plain": plain, "closure": closure, "generator": consume}
main = in_threads.pop("MAIN")
for target in (control, *in_threads.values(), lambda: asyncio.run(both())):
    threading.Thread(target=target, daemon=True).start()
main()
"""

KINDS = ("plain", "closure", "generator", "coroutine", "async generator")
IN_THREADS = ("plain", "closure", "generator")

AGENT: Mapping[str, dict[str, Any]] = {
    "stack": {"stack": True},
    "waits": {"stack": True, "waits": True},
    "evaluate": {"evaluate": "batch", "seconds": 30},
    "query": {"query": calls.reload_in_agent(["/x.py"], "", new_texts.pack("batch = 1\n"))},
}
"""The questions that an agent answers without a debugger."""

RECORD = (
    "[debugger.raydap_calls.calls.update(ab=(ident, '', (frame.f_code, 0))) "
    "for debugger in [__import__('pydevd').get_global_debugger()] "
    "for ident, inner in __import__('sys')._current_frames().items() "
    "for frame, _ in __import__('traceback').walk_stack(inner) if frame.f_code.co_name == 'plain']"
)
"""The expression that records a call of this frame, as if it had submitted a task to Ray."""

RUNNING: Mapping[str, Callable[[int], str]] = {
    "recorded_call": lambda thread: f"({RECORD}, {task_calls.recorded_call('ab')})",
    "running_frame": lambda thread: f"({RECORD}, {task_calls.running_frame('ab', 0)})",
    "frame_values": lambda thread: f"({RECORD}, {task_calls.frame_values('ab', 0)})",
    "all_stacks": lambda thread: calls.all_stacks(),
    "all_waits": lambda thread: calls.all_waits(),
    "blocked_threads": lambda thread: calls.blocked_threads([thread]),
    "running_value": lambda thread: calls.running_value("batch", 30),
    "own_rank": lambda thread: calls.own_rank(),
    "collectives": lambda thread: calls.collectives(),
    "job_folders": lambda thread: calls.job_folders(),
    "copies_of": lambda thread: calls.copies_of("/x.py"),
    "source_text": lambda thread: calls.source_text(__file__),
    "code_lines": lambda thread: calls.code_lines(__file__, 1, 9),
    "first_line": lambda thread: calls.first_line(__file__),
    "reload_code": lambda thread: calls.reload_code([__file__], "", new_texts.pack("batch = 1\n")),
    "result_part": lambda thread: calls.result_part(1, 0),
    "show_arrays": lambda thread: calls.show_arrays(),
    "resolve_step": lambda thread: task_calls.resolve_step(1, "ab"),
    "decide_step": lambda thread: task_calls.decide_step(1, True),
    "disarm_step": lambda thread: task_calls.disarm_step(1),
    "stop_at_result": lambda thread: task_calls.stop_at_result("ab"),
    "forget_result": lambda thread: task_calls.forget_result("ab"),
    "is_outermost": lambda thread: task_calls.is_outermost(thread),
    "set_watchpoints": lambda thread: calls.set_watchpoints("[]"),
    "watch_place": lambda thread: calls.watch_place(1, 0, "batch"),
    "pause_thread": lambda thread: f"({calls.pause_thread(thread)}, {calls.resume_thread(thread)})",
}
"""The expressions that the core sends to a running process."""

Look = Callable[[EnteredWorker, int], object]


def in_frame(expression: str, context: str) -> Look:
    def look(worker: EnteredWorker, thread: int) -> object:
        frame = worker.frames(thread)[0]["id"]
        return worker.client.request("evaluate", expression=expression, context=context, frameId=frame)

    return look


def variables(worker: EnteredWorker, thread: int) -> object:
    shown = []
    for frame in worker.frames(thread)[:2]:
        for scope in worker.client.request("scopes", frameId=frame["id"])["scopes"]:
            reference = scope["variablesReference"]
            shown += worker.client.request("variables", variablesReference=reference)["variables"]
    return shown


def frame_variables(worker: EnteredWorker, thread: int) -> object:
    return worker.query(calls.frame_variables([frame["id"] for frame in worker.frames(thread)]))


STOPPED: Mapping[str, Look] = {
    "frame_variables": frame_variables,
    "summary": in_frame(calls.summary("batch", 5.0), "watch"),
    "variables": variables,
    "hover": in_frame("batch", "hover"),
    "watch": in_frame("batch", "watch"),
    "repl": in_frame("batch", "repl"),
    "clipboard": in_frame("batch", "clipboard"),
}
"""The requests of the core and of editors about a stopped thread."""

HIT: Mapping[str, dict[str, str]] = {
    "stops_at_hit": {"condition": calls.stops_at_hit(1, "raydap", "batch is None")},
    "hit_message": {"logMessage": calls.hit_message(1, "raydap", "batch")},
    "condition": {"condition": "batch is None"},
    "logMessage": {"logMessage": "{batch}"},
}
"""The conditions and messages that are evaluated at each hit of a breakpoint that does not stop."""

OF_EDITORS = {"variables", "hover", "watch", "repl", "clipboard", "condition", "logMessage"}
"""The requests of editors that pydevd itself answers."""

NO_LOOKS = {
    "enter": "each test below begins with it",
    "leave": "each test below ends with it",
    "keep_waiting": "it prepares a thread that waits for a client, and reads nothing",
    "lose_debugger": "it ends the connection to the adapter, and reads nothing",
    "resume_thread": "each stop below ends with it",
    "resume_step": "it resumes, and reads nothing",
    "resume_unseen": "it resumes, or counts the visible frames",
    "arm_step": "it keeps the frame until the step is over, as pydevd does for each step",
    "stop_on_entry": "it stops a program that has not begun, and reads nothing",
    "is_called": "the condition of a breakpoint that compares task ids",
    "current_task": "it reads the id of a task",
    "safe_pdb": "a line for Ray's pdb, which reads nothing",
    "reload_in_agent": "the question `query` of an agent",
    "read_result": "it runs in raydap",
    "read_summary": "it runs in raydap",
}


def test_the_tables_have_every_question_that_the_source_has() -> None:
    own = {
        name
        for module in (calls, task_calls)
        for name, each in vars(module).items()
        if not name.startswith("_") and callable(each) and each.__module__ == module.__name__
    }
    assert own - {"ResultError"} == (RUNNING.keys() | STOPPED.keys() | HIT.keys() | NO_LOOKS.keys()) - OF_EDITORS
    read = {
        node.args[0].value
        for node in ast.walk(ast.parse(inspect.getsource(agent)))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr, ast.unparse(node.func.value)) == ("get", "answer")
        and isinstance(node.args[0], ast.Constant)
    }
    assert read == AGENT.keys() | {"client", "debug"}


class Turns:
    """A control for the turns of the program."""

    def __init__(self, program: PreparedProgram, pipe: int) -> None:
        self.program = program
        self._pipe = pipe
        self._turn = 0

    def begin(self) -> None:
        self._turn += 1
        os.write(self._pipe, b"1")

    def end(self) -> str:
        """Return the live batches of the previous turn, and the number of new references to the lasting one."""
        return self.program.child.wait_for(rf"turn {self._turn} (.*)\n")[1]

    def take(self) -> str:
        self.begin()
        return self.end()


NOTHING = "[] 0"


@pytest.fixture
def start(tmp_path: Path, children: ExitStack) -> Callable[[str], tuple[Turns, socket.socket]]:
    """Return a function that starts the program, with one of IN_THREADS in its main thread.

    It returns the program's turns, and its call to raydap.
    """

    def start(main: str) -> tuple[Turns, socket.socket]:
        os.mkfifo(tmp_path / "turns")
        pipe = os.open(tmp_path / "turns", os.O_RDWR)
        children.callback(os.close, pipe)
        program = PreparedProgram.start(PROGRAM.replace("MAIN", main), tmp_path, None, children)
        return Turns(program, pipe), program.called()

    return start


def set_breakpoints(worker: EnteredWorker, **spec: str) -> None:
    """Set breakpoints in a frame of each kind, where it has a new batch."""
    lines = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if "ready.release()" in line]
    assert len(lines) == len(KINDS)
    breakpoints = [{"line": line, **spec} for line in lines]
    worker.client.request("setBreakpoints", source={"path": str(worker.path)}, breakpoints=breakpoints)


def greeted(call: socket.socket) -> socket.socket:
    read_line(call)
    return call


@pytest.mark.parametrize("main", IN_THREADS)
def test_an_agent_without_a_debugger(start: Callable[[str], tuple[Turns, socket.socket]], main: str) -> None:
    turns, call = start(main)
    call.close()
    turns.program.child.wait_for("begun")
    assert turns.take() == NOTHING
    kept = {}
    for name, question in AGENT.items():
        assert ("Batch" in json.dumps(ask(turns.program, question))) == (name != "query")
        kept[name] = turns.take()
    assert kept == dict.fromkeys(AGENT, NOTHING)


def test_a_session_in_which_nothing_stops(
    start: Callable[[str], tuple[Turns, socket.socket]], children: ExitStack
) -> None:
    turns, call = start("plain")
    worker = attach_greeted(turns.program, greeted(call), children)
    turns.program.child.wait_for("begun")
    thread = worker.client.request("threads")["threads"][0]["id"]
    kept = {"nothing": turns.take()}
    for name, expression in RUNNING.items():
        with suppress(RequestFailed):  # There is no long result, so no part of it can be requested.
            worker.call(expression(thread))
        kept[name] = turns.take()
    worker.leave()
    kept["leave"] = turns.take()
    assert kept == dict.fromkeys(("nothing", *RUNNING, "leave"), NOTHING)


traced = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="Python writes the copy back into the variables after pydevd's trace function"
)


@traced
def test_threads_that_stop(start: Callable[[str], tuple[Turns, socket.socket]], children: ExitStack) -> None:
    turns, call = start("plain")
    worker = attach_greeted(turns.program, greeted(call), children)
    turns.program.child.wait_for("begun")
    kept = {"nothing": turns.take()}
    for name, look in STOPPED.items():
        set_breakpoints(worker)
        turns.begin()
        for _ in KINDS:
            thread = worker.client.wait_event("stopped")["threadId"]
            assert "Batch" in json.dumps(look(worker, thread))
            worker.call(calls.resume_thread(thread))
        turns.end()
        worker.client.request("setBreakpoints", source={"path": str(worker.path)}, breakpoints=[])
        kept[name] = turns.take()
    worker.leave()
    kept["leave"] = turns.take()
    assert kept == dict.fromkeys(("nothing", *STOPPED, "leave"), NOTHING)


@traced
def test_hits_that_do_not_stop(start: Callable[[str], tuple[Turns, socket.socket]], children: ExitStack) -> None:
    turns, call = start("plain")
    worker = attach_greeted(turns.program, greeted(call), children)
    turns.program.child.wait_for("begun")
    kept = {}
    for name, spec in HIT.items():
        set_breakpoints(worker, **spec)
        turns.take()
        worker.client.request("setBreakpoints", source={"path": str(worker.path)}, breakpoints=[])
        kept[name] = turns.take()
    worker.leave()
    assert kept == dict.fromkeys(HIT, NOTHING)
