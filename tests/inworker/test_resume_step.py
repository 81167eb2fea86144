"""A stop for an exception that is not shown has no effect: the interrupted step continues.

The test steps through each program twice, without and with stops for exceptions. The steps have to end at the same
lines.
"""

from collections.abc import Callable, Sequence

import pytest
from dap_client import RequestFailed

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

pytestmark = pytest.mark.usefixtures("stops_for_exceptions")
Start = Callable[..., tuple[EnteredWorker, Debuggee]]

RAISES_INSIDE = """\
def parse(text):
    try:
        return int(text)
    except ValueError:
        return None

def work():
    breakpoint()
    first = parse("x")
    second = [parse(text) for text in "xy"]
    try:
        third = int("z")
    except ValueError:
        third = None
    return parse("u")

work()
print("DONE")
"""

COROUTINES = """\
import asyncio

async def parse(text):
    await asyncio.sleep(0)
    try:
        return int(text)
    except ValueError:
        return None

def texts():
    for text in "xy":
        try:
            yield int(text)
        except ValueError:
            yield text

async def work():
    breakpoint()
    first = await parse("x")
    second = list(texts())
    third = await parse("y")
    return first

asyncio.run(work())
print("DONE")
"""

IN_A_THREAD = RAISES_INSIDE.replace(
    "\nwork()\n",
    """
import threading
thread = threading.Thread(target=work)
thread.start()
thread.join()
""",
)


def walk(worker: EnteredWorker, commands: Sequence[str], filters: list[str]) -> tuple[list[str], int]:
    """Return the lines at which these steps end, and the number of stops for exceptions.

    At each stop for an exception, it evaluates an expression that fails.
    """
    lines, hidden = [], 0
    reason, line, thread = worker.stop()
    # The code that starts the program raises some exceptions, too, so the filters are set only here.
    worker.client.request("setExceptionBreakpoints", filters=filters)
    for command in commands:
        worker.client.request(command, threadId=thread)
        reason, line, thread = worker.stop()
        while reason == "exception":
            hidden += 1
            frame = worker.frames(thread)[0]["id"]
            with pytest.raises(RequestFailed):
                worker.client.request("evaluate", expression="bool(int('q'))", frameId=frame, context="watch")
            assert worker.call(calls.resume_step(thread)) == ""
            reason, line, thread = worker.stop()
        assert reason == "step"
        lines.append(line)
    return lines, hidden


@pytest.mark.core
@pytest.mark.parametrize(
    ("program", "commands", "how"),
    [
        (RAISES_INSIDE, ["next"] * 7, {}),
        (RAISES_INSIDE, ["next"] * 7, {"tune": False, "justMyCode": True}),
        (RAISES_INSIDE, ["stepIn"] * 12, {}),
        (RAISES_INSIDE, ["stepIn", "stepOut", "next", "stepIn", "stepIn", "stepOut"], {}),
        (COROUTINES, ["next"] * 4, {}),
        (COROUTINES, ["stepIn", "next", "next", "next"], {"justMyCode": True}),
        (IN_A_THREAD, ["next"] * 5, {}),
    ],
    ids=["next", "next-plain", "stepIn", "stepOut", "coroutine-next", "coroutine-stepIn", "thread"],
)
def test_steps_end_where_they_end_without_exceptions(
    start: Start, program: str, commands: list[str], how: dict[str, bool]
) -> None:
    plain, _ = start(program, **how)
    worker, _ = start(program, **how)
    expected, _ = walk(plain, commands, [])
    lines, hidden = walk(worker, commands, ["raised"])
    assert lines == expected
    assert hidden > 0


@pytest.mark.core
def test_without_a_step_the_thread_continues(start: Start) -> None:
    worker, debuggee = start(RAISES_INSIDE)
    _, _, thread = worker.stop()
    worker.client.request("setExceptionBreakpoints", filters=["raised"])
    worker.call(calls.resume_step(thread))  # The stop is not for an exception, and no step is in progress.
    assert worker.stop()[0] == "exception"
    worker.call(calls.resume_step(thread))
    assert worker.stop()[0] == "exception"
    worker.client.request("setExceptionBreakpoints", filters=[])
    worker.call(calls.resume_step(thread))
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


def test_a_step_in_a_thread_that_dies_of_the_exception(start: Start) -> None:
    source = IN_A_THREAD.replace('first = parse("x")', 'int("x")')
    worker, debuggee = start(source, filters=["uncaught"], justMyCode=True)
    _, line, thread = worker.stop()
    assert line == 'int("x")'
    worker.client.request("next", threadId=thread)
    assert worker.stop()[0] == "exception"
    worker.call(calls.resume_step(thread))
    assert debuggee.child.wait() == 0
    assert "ValueError" in debuggee.child.output


def test_a_later_command_of_the_user_counts(start: Start) -> None:
    """The stop is shown, and a new step starts at the frame of the exception."""
    worker, debuggee = start(RAISES_INSIDE)
    _, _, thread = worker.stop()
    worker.client.request("setExceptionBreakpoints", filters=["raised"])
    worker.client.request("next", threadId=thread)
    assert worker.stop()[:2] == ("exception", "return int(text)")
    worker.client.request("next", threadId=thread)
    assert worker.stop()[:2] == ("step", "except ValueError:")
    worker.client.request("setExceptionBreakpoints", filters=[])
    worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0


@pytest.mark.core
def test_a_pause_during_the_stop_is_not_lost(start: Start) -> None:
    worker, debuggee = start(RAISES_INSIDE)
    _, _, thread = worker.stop()
    worker.client.request("setExceptionBreakpoints", filters=["raised"])
    worker.call(calls.resume_thread(thread))
    assert worker.stop()[0] == "exception"
    worker.call(calls.pause_thread(thread))
    worker.call(calls.resume_step(thread))
    assert worker.stop()[:2] == ("pause", "except ValueError:")
    worker.client.request("setExceptionBreakpoints", filters=[])
    worker.call(calls.resume_thread(thread))
    assert debuggee.child.wait() == 0
