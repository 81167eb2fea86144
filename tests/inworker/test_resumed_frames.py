"""Breakpoints in coroutines and generators that began before: no thread is executing them when raydap attaches."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach, read_line
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.look import line_of

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

pytestmark = pytest.mark.core

PROGRAM = """\
import asyncio, sys, time
from pathlib import Path

def numbers():
    yield 1
    yield 2  # generator

async def wait(event):
    await event.wait()
    return 3  # coroutine

async def fail(future):
    try:
        await future
    except OSError:
        return 6  # coroutine that fails

async def take(event):
    yield 4
    await event.wait()
    yield 5  # asynchronous generator

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

def tools():
    monitoring = getattr(sys, "monitoring", None)
    return [] if monitoring is None else [monitoring.get_tool(number) for number in (1, 2, 3, 4, 5)]

async def main():
    event = asyncio.Event()
    future = asyncio.get_running_loop().create_future()
    generator, taken, waiting = numbers(), take(event), asyncio.create_task(wait(event))
    failing = asyncio.create_task(fail(future))
    next(generator), await anext(taken), await asyncio.sleep(0)
    print("begun", flush=True)
    held("go")
    next(generator)
    event.set()
    await waiting
    await anext(taken)
    future.set_exception(OSError())
    await failing
    print("passed", flush=True)
    held("end")
    assert "raydap" not in tools()

asyncio.run(main())
"""

PLACES = ("yield 2  # generator", "return 3  # coroutine", "# asynchronous generator", "# coroutine that fails")


def run_through(worker: EnteredWorker) -> None:
    for place in PLACES:
        reason, line, thread = worker.stop()
        assert (reason, line.endswith(place)) == ("breakpoint", True), line
        assert worker.call(calls.resume_thread(thread)) == ""


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("is_lost", [False, True], ids=["left", "lost"])
def test_an_agent_stops_what_waits(tmp_path: Path, packages: Path | None, children: ExitStack, is_lost: bool) -> None:
    """No trace of the session is left, even if raydap is killed."""
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    connection = program.dial()
    worker = attach(program, connection, children, *(line_of(PROGRAM, place) for place in PLACES))
    (tmp_path / "go").touch()
    run_through(worker)
    program.child.wait_for("passed")
    worker.client.close() if is_lost else worker.leave()
    # The agent answers when it has ended the session.
    assert read_line(program.dial())["holder"] == ""
    (tmp_path / "end").touch()
    assert program.child.wait() == 0, program.child.output


def test_an_adapter_stops_what_waits(start: Start) -> None:
    worker, debuggee = start(PROGRAM.replace('held("go")', "breakpoint()"))
    _, _, thread = worker.stop()
    wanted = [{"line": line_of(PROGRAM, place)} for place in PLACES]
    worker.client.request("setBreakpoints", source={"path": str(debuggee.path)}, breakpoints=wanted)
    assert worker.call(calls.resume_thread(thread)) == ""
    run_through(worker)
    debuggee.child.wait_for("passed")
    worker.leave()
    debuggee.path.with_name("end").touch()
    assert debuggee.child.wait() == 0, debuggee.child.output


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no such tools before")
@pytest.mark.usefixtures("debuggable")
def test_a_program_whose_own_tools_leave_no_free_id_is_reported(
    tmp_path: Path, packages: Path | None, children: ExitStack
) -> None:
    own = "    sys.monitoring.use_tool_id(3, 'own'), sys.monitoring.use_tool_id(4, 'own')\n"
    source = PROGRAM.replace("    event = asyncio.Event()\n", own + "    event = asyncio.Event()\n")
    program = PreparedProgram.start(source, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    attach(program, program.dial(), children)
    program.child.wait_for("raydap cannot stop coroutines that already wait in this process")
    (tmp_path / "go").touch()
    (tmp_path / "end").touch()
    assert program.child.wait() == 0, program.child.output
