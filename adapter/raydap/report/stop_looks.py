"""Looks at a stopped thread: its stack, the variables of its frames, and the exception that it has stopped for."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.protocol.stack_messages import (
    Location,
    MergedStacks,
    Places,
    PlacesArguments,
    StackNode,
    StacksArguments,
    StackVariable,
    WorkerPlace,
)
from raydap.report.records import FrameRecord
from raydap.terminal.live_session import LiveSession

LOOK_TIMEOUT_S = 3.0
"""Seconds for a worker to say where it is. After that it runs on without having been looked at."""

RESUME_TIMEOUT_S = 10.0
"""Seconds for a worker to run on."""


@dataclass(frozen=True, slots=True)
class RaisedError:
    """What debugpy says of an exception. `type` is without its module; `traceback` is as Python writes it."""

    type: str
    text: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a stopped thread: `frames` are outermost first, and `problem` is a sentence, "" for none."""

    frames: tuple[FrameRecord, ...]
    error: RaisedError | None
    places: tuple[WorkerPlace, ...]
    problem: str


async def look(live: LiveSession, thread: int, raised: bool, pid: Callable[[], int | None]) -> Look:
    """`pid` gives that of a worker whose rank is to be asked for, too. Never raises, and never takes longer than
    LOOK_TIMEOUT_S."""
    wanted = StacksArguments(threads=(thread,), locals=True)
    stacks = asyncio.ensure_future(live.ask("raydap/stacks", wanted, MergedStacks))
    error = asyncio.ensure_future(_error(live, thread)) if raised else None
    places = asyncio.ensure_future(_places(live, stacks, pid))
    waiting: list[asyncio.Future[Any]] = [stacks, places, *([] if error is None else [error])]
    await asyncio.wait(waiting, timeout=LOOK_TIMEOUT_S)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    found = _result(stacks)
    is_silent = found is None or bool(found.silent)
    return Look(
        frames=() if found is None else tuple(_chain(found.root)),
        error=None if error is None else _result(error),
        places=_result(places) or (),
        problem=f"It did not say within {LOOK_TIMEOUT_S:g} s where it is." if is_silent else "",
    )


async def _places(
    live: LiveSession, stacks: "asyncio.Future[MergedStacks]", pid: Callable[[], int | None]
) -> tuple[WorkerPlace, ...]:
    """The entry of the worker that has stopped has come when its stack has."""
    await stacks
    number = pid()
    return (
        ()
        if number is None
        else (await live.ask("raydap/places", PlacesArguments(select=f"pid:{number}"), Places)).places
    )


async def resume(live: LiveSession, thread: int) -> str:
    """Lets the thread run on. Returns why it does not, "" if it does."""
    try:
        request = live.session.connection.request("continue", {"threadId": thread})
        await wait_for(request, RESUME_TIMEOUT_S)
    except asyncio.TimeoutError:
        return f"It did not say within {RESUME_TIMEOUT_S:g} s that it runs on."
    except SessionError as error:
        return str(error)
    return ""


async def _error(live: LiveSession, thread: int) -> RaisedError:
    body = await live.session.connection.request("exceptionInfo", {"threadId": thread})
    details = body.get("details") if isinstance(body.get("details"), dict) else {}
    # debugpy adds a note if the thread is held in another frame than the one that raised.
    name = str(body.get("exceptionId", "")).partition(" (note: ")[0].strip()
    text = str(body.get("description") or details.get("message") or "")
    return RaisedError(name.rpartition(".")[2] or "Exception", text, str(details.get("stackTrace") or ""))


def _result(asked: "asyncio.Future[Any]") -> Any:
    """None for what was late, or has failed."""
    return None if asked.cancelled() or asked.exception() is not None else asked.result()


def _location(frame: Location) -> Location:
    """debugpy adds to the name of the frame that an exception shows first."""
    return Location(name=frame.name.removesuffix(" (Current frame)"), path=frame.path, line=frame.line)


def _chain(node: StackNode) -> Iterator[FrameRecord]:
    """The frames of a tree that has one thread, outermost first."""
    for child in node.children[:1]:
        assert child.frame is not None
        variables = child.locals if isinstance(child.locals, tuple) else ()
        yield FrameRecord(
            location=_location(child.frame),
            variables=tuple(
                StackVariable(name=each.name, value=each.groups[0].value, type=each.groups[0].type)
                for each in variables
                if each.groups
            ),
        )
        yield from _chain(child)
