"""The tools `start`, `go`, `wait` and `end`, which resume, step and pause workers."""

import asyncio
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from raydap.mcp_server import breakpoint_tool
from raydap.mcp_server.stopped_workers import (
    Found,
    as_set,
    members,
    stopped_in,
    stopped_lines,
    wait_for_stops,
)
from raydap.mcp_server.tool_arguments import EndCall, GoCall, StartCall, WaitCall
from raydap.mcp_server.tool_session import ToolError, ToolSession, resolved
from raydap.presentation.folded_tables import of_step
from raydap.presentation.numbers import counted
from raydap.protocol.raydap_messages import (
    ContinueThreadsArguments,
    ResumedThreads,
    SteppedThreads,
    StepThreadsArguments,
    WorkerEntry,
)
from raydap.protocol.stack_messages import WorkerPlace
from raydap.terminal.debugger.debugger import Debugger

ATTACH_S = 15.0
"""Seconds to attach to all workers of a job that runs; reaching one takes up to a second."""

_STEPS = {"next": "next", "step": "stepIn", "out": "stepOut", "until_parted": "next"}
"""The requests of DAP by the actions of `go`."""


async def start(session: ToolSession, given: StartCall) -> Found:
    """Launch a program, or attach to a job or hub, and wait for the first stop."""
    ways = [name for name in ("program", "module", "job", "hub") if getattr(given, name)]
    if len(ways) != 1:
        raise ToolError('Give exactly one of program, module, job and hub: start(program="train.py").')
    if session.program and session.debugger is not None and not session.debugger.has_ended:
        raise ToolError(f'{session.program} is running; wait() waits for it, end(how="terminate") ends it.')
    places = [breakpoint_tool.place_of(text, given.cwd) for text in given.breakpoints]
    answers: list[str] = []

    async def configure(debugger: Debugger) -> None:
        # In a task, Ray catches each exception; so the second filter is needed to stop where it leaves the user's code.
        filters = ["uncaught", "userUnhandled"] if given.on_error else []
        await debugger.connection.request("setExceptionBreakpoints", {"filters": filters})
        for place in places:
            await breakpoint_tool.send(session, debugger, place)

    common = {"dashboard": session.target.dashboard}
    if given.job or given.hub:
        what = {"job": given.job} if given.job else {}
        await session.begin("attach", {**common, **what, "reach": "any"}, configure, given.hub or session.target.url)
    else:
        await session.begin("launch", {**common, **_program(given)}, configure)
        session.program = os.path.basename(given.program) or given.module
    debugger = await session.joined()
    if given.job:
        await debugger.threads.wait(lambda: not _unreached(debugger, given.job), ATTACH_S)
    stopped = await wait_for_stops(session, None, bool, given.wait)
    if places and not debugger.has_ended:
        answers = await breakpoint_tool.listed(session, only_own=True)
    return Found([*await stopped_lines(debugger, stopped), *answers, *_still_running(session, stopped, given.wait)])


def _unreached(debugger: Debugger, job: str) -> list[WorkerEntry]:
    """Return the workers of a job that raydap has yet to attach to, and for which no reason is known why it cannot."""
    return [
        entry
        for entry in debugger.live.busy
        if entry.state in ("alive", "attaching")
        and not entry.problem
        and any(fnmatchcase(name, job) for name in (entry.job, entry.submission))
    ]


def _program(given: StartCall) -> dict[str, Any]:
    """Return the arguments of `launch` that name the program. Raises ToolError."""
    folder = os.path.abspath(os.path.expanduser(given.cwd or "."))
    if not os.path.isdir(folder):
        raise ToolError(f"There is no folder {given.cwd}; cwd is the folder in which the program runs.")
    what = {"module": given.module} if given.module else {"program": resolved(given.program, folder)}
    if not given.module and not what["program"]:
        raise ToolError(f"There is no file {given.program} in {folder}; give the path of the program.")
    return {**what, "args": given.args, "cwd": folder}


async def wait(session: ToolSession, given: WaitCall) -> Found:
    """Wait until a worker of the set is stopped, all are, or the program has ended."""
    select = as_set(given.set)
    debugger = await session.joined()
    if select is not None and not debugger.has_ended:
        await members(session, select)

    def is_over(places: Sequence[WorkerPlace]) -> bool:
        if given.until == "stop":
            return bool(places)
        stopped = {each.worker for each in places}
        return given.until == "all" and bool(stopped) and stopped >= wanted

    wanted = {entry.key for entry in debugger.live.debugged}
    if select is not None and given.until == "all":
        wanted = {entry.key for entry in await members(session, select)}
    stopped = await wait_for_stops(session, select, is_over, given.seconds)
    return Found([*await stopped_lines(debugger, stopped), *_still_running(session, stopped, given.seconds)])


async def go(session: ToolSession, given: GoCall) -> Found:
    """Resume or step stopped workers, or pause running ones, and wait for the next stop."""
    debugger, select = await session.joined(), as_set(given.set)
    _check_running(session)
    if given.action == "pause":
        return await _pause(session, select, given.wait)
    if given.action in _STEPS and select is None:
        threads = [_focused(debugger)]
    else:
        threads = [each.thread for each in await stopped_in(debugger, select) if isinstance(each.thread, int)]
    if not threads:
        raise ToolError(f"No worker{' in this set' if select else ''} is stopped; wait() waits for a stop.")
    before = {thread: debugger.threads.number(thread) for thread in threads}
    if given.action == "continue":
        session.moved.difference_update(threads)
        session.paused.difference_update(filter(None, map(debugger.keys.get, threads)))
        wanted = ContinueThreadsArguments(threads=tuple(threads))
        await debugger.live.ask("raydap/continue", wanted, ResumedThreads)
        return await _after_continue(session, len(threads), before, given.wait)
    session.moved.update(threads)
    return await _step(session, debugger, given, select, threads)


async def _step(
    session: ToolSession, debugger: Debugger, given: GoCall, select: str | None, threads: list[int]
) -> Found:
    """Step threads, and return where they have stopped: also in the process to which a call to Ray has led."""
    stops, parted = debugger.threads, []
    first = debugger.focus.thread if debugger.focus.thread in threads else threads[0]

    async def move() -> None:
        if given.action == "until_parted":
            wanted = StepThreadsArguments(
                thread_id=first,
                command="next",
                select=select or "state:stopped",
                timeout=max(given.wait, 1.0),
                until="parted",
            )
            answer = await debugger.live.ask("raydap/step", wanted, SteppedThreads)
            parted.extend(of_step(answer).splitlines())
        else:
            for thread in threads:
                await debugger.request(_STEPS[given.action], threadId=thread, singleThread=True)

    before = {thread: stops.number(thread) for thread in stops.stops}
    missing = await stops.wait_again(threads, move, given.wait)
    if debugger.has_ended:
        return Found([])
    led = {stops.led_to[thread] for thread in threads if thread in stops.led_to}
    session.moved |= led
    if first in stops.led_to:
        debugger.look_at(stops.led_to[first])
    number = max(before.values(), default=0)
    reached = {*led, *threads, *(thread for thread, stop in stops.stops.items() if stop.number > number)}
    places = [each for each in await stopped_in(debugger, None) if each.thread in reached]
    more = [f"{len(missing)} of {len(threads)} have not stopped again yet"] if missing else []
    return Found([*parted, *([] if parted else await stopped_lines(debugger, places)), *more])


async def _after_continue(session: ToolSession, count: int, before: dict[int, int], seconds: float) -> Found:
    """Return the answer of `continue`: the stops that have come since. `before` has the numbers of the old stops."""
    debugger = await session.joined()
    last = max(before.values(), default=0)

    def is_new(places: Sequence[WorkerPlace]) -> bool:
        return any(isinstance(each.thread, int) and debugger.threads.number(each.thread) > last for each in places)

    places = await wait_for_stops(session, None, is_new, seconds)
    return Found(
        [
            f"{count} resumed",
            *await stopped_lines(debugger, places),
            *_still_running(session, places, seconds),
        ]
    )


async def _pause(session: ToolSession, select: str | None, seconds: float) -> Found:
    debugger = await session.joined()
    if session.program:
        # A program that was just launched is not attached yet.
        await debugger.threads.wait(lambda: bool(debugger.live.debugged) or debugger.has_ended, seconds)
    entries = await members(session, select) if select is not None else debugger.live.debugged
    running = [entry for entry in entries if entry.state not in ("stopped", "held")]
    if not running:
        places = await stopped_in(debugger, select)
        if not places:
            raise ToolError('No worker is debugged that could be paused; name a set: go(action="pause", set="*").')
        return Found(["All of them are stopped already.", *await stopped_lines(debugger, places)])
    wanted = {entry.key for entry in running}
    session.paused |= wanted
    await debugger.request("raydap/pause", workers=sorted(wanted))

    def is_over(places: Sequence[WorkerPlace]) -> bool:
        return {each.worker for each in places} >= wanted

    places = await wait_for_stops(session, select, is_over, seconds)
    missing = wanted - {each.worker for each in places}
    more = [f"{len(missing)} of {len(running)} have not stopped yet"] if missing else []
    return Found([*await stopped_lines(debugger, places), *more])


async def end(session: ToolSession, given: EndCall) -> Found:
    """Remove the model's breakpoints, resume its workers, and end its part of the session."""
    debugger = session.debugger
    if debugger is None:
        return Found(["There is no session to end."])
    program = session.program if not debugger.has_ended else ""
    if program and given.how == "detach":
        raise ToolError(
            f'{program} was launched by start(), so it ends with the session: end(how="terminate"), or continue with '
            'go(action="continue") and wait(until="end").'
        )
    count = len(session.own_breakpoints)
    await asyncio.shield(asyncio.ensure_future(session.leave()))
    lines = [f"{counted(count, 'breakpoint')} removed"] if count else []
    if program:
        return Found([*lines, f"{program} is terminated."])
    return Found([*lines, "The session is over." + " Its workers continue." * (not debugger.has_ended)])


def _focused(debugger: Debugger) -> int:
    """Return the thread that the model looked at, else the one that has been stopped for the longest time."""
    if debugger.focus.thread not in debugger.threads.stops:
        debugger.look_at(debugger.next_stopped())
    if debugger.focus.thread is None:
        raise ToolError("No worker is stopped; wait() waits for a stop.")
    return debugger.focus.thread


def _check_running(session: ToolSession) -> None:
    if session.debugger is not None and session.debugger.has_ended:
        raise ToolError('The program has ended; start(program="...") runs it again.')


def _still_running(session: ToolSession, stopped: Sequence[WorkerPlace], seconds: float) -> list[str]:
    if stopped or session.debugger is None or session.debugger.has_ended:
        return []
    return [f"No worker has stopped within {seconds:g} s; the program is running."]
