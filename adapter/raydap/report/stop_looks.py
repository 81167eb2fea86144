"""Reads a stopped thread: its stack, the variables of its frames, and the exception that it stopped for."""

import asyncio
from collections.abc import Awaitable, Iterator
from typing import NamedTuple, TypeVar

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, StackNode, StacksArguments, StackVariable
from raydap.report.records import FrameRecord, RaisedError
from raydap.terminal.live_session import LiveSession

LOOK_TIMEOUT_S = 3.0
"""Seconds for a worker to send its stack. After that it is resumed without it."""

RESUME_TIMEOUT_S = 10.0
"""Seconds for a worker to answer `continue`."""

T = TypeVar("T")


class Look(NamedTuple):
    """The data that raydap read from a stopped thread. What was not requested or could not be read is empty."""

    frames: tuple[FrameRecord, ...] = ()
    """The stack, outermost frame first."""
    error: RaisedError | None = None
    """The exception that the thread stopped for."""
    problem: str = ""
    """Why the stack could not be read, as a sentence for the user; otherwise ""."""


async def look(live: LiveSession, thread: int, raised: bool) -> Look:
    """Read a stopped thread, in at most LOOK_TIMEOUT_S; never raise.

    `raised` is whether the thread stopped for an exception.
    """
    wanted = StacksArguments(threads=(thread,), locals=True)
    stacks = asyncio.ensure_future(_in_time(live.ask("raydap/stacks", wanted, MergedStacks)))
    error = await _in_time(_error(live, thread)) if raised else None
    found = await stacks
    is_silent = found is None or bool(found.silent)
    problem = f"It did not send its stack within {LOOK_TIMEOUT_S:g} s." if is_silent else ""
    return Look(() if found is None else tuple(_chain(found.root)), error, problem)


async def _in_time(reading: Awaitable[T]) -> T | None:
    """Return the result of `reading`; None if it fails, or takes longer than LOOK_TIMEOUT_S."""
    try:
        return await wait_for(reading, LOOK_TIMEOUT_S)
    except Exception:
        return None


async def resume(live: LiveSession, thread: int) -> str:
    """Resume a thread. Return why that failed, as a sentence for the user; "" if it succeeded."""
    try:
        await wait_for(live.session.connection.request("continue", {"threadId": thread}), RESUME_TIMEOUT_S)
    except asyncio.TimeoutError:
        return f"It did not confirm within {RESUME_TIMEOUT_S:g} s that it resumed."
    except SessionError as error:
        return str(error)
    return ""


async def _error(live: LiveSession, thread: int) -> RaisedError:
    body = await live.session.connection.request("exceptionInfo", {"threadId": thread})
    details = body.get("details") if isinstance(body.get("details"), dict) else {}
    # debugpy adds a note to the name if the thread is stopped in another frame than the one that raised.
    name = str(body.get("exceptionId", "")).partition(" (note: ")[0].strip()
    text = str(body.get("description") or details.get("message") or "")
    kind, traceback = name.rpartition(".")[2] or "Exception", str(details.get("stackTrace") or "")
    return RaisedError(type=kind, text=text, traceback=traceback)


def _chain(node: StackNode) -> Iterator[FrameRecord]:
    """Yield the frames of a tree that contains one thread, outermost first."""
    for child in node.children[:1]:
        frame = child.frame
        assert frame is not None
        # debugpy adds these words to the name of the frame that it shows first.
        name = frame.name.removesuffix(" (Current frame)")
        values = [(each.name, each.groups[0]) for each in child.locals or () if each.groups]
        variables = tuple(StackVariable(name=each, value=group.value, type=group.type) for each, group in values)
        yield FrameRecord(location=CodeLocation(name=name, path=frame.path, line=frame.line), variables=variables)
        yield from _chain(child)
