"""The commands `next`, `step`, `return`, `until`, `continue` and `jump`, which let threads run, and `wait`."""

import ast
import re
from functools import partial

from raydap.presentation.short_text import file_name
from raydap.protocol.raydap_messages import (
    ContinueThreadsArguments,
    ResumedThreads,
    SteppedThreads,
    StepThreadsArguments,
)
from raydap.terminal.debugger.command_line import number, workers_named
from raydap.terminal.debugger.debugger import CommandError, Debugger

AGAIN_S = 0.5
"""Seconds for which `continue` waits for a new stop of its thread before it shows another stopped thread."""

SLOW_S = 10.0
"""Seconds to wait for stops. After that, a command shows the stopped threads and reports that others still run."""


async def step(debugger: Debugger, command: str, select: str | None) -> None:
    """Step the thread that the user looks at, or all stopped threads of a set.

    `command` is DAP's `next`, `stepIn` or `stepOut`.
    """
    if select is not None:
        await _step_many(debugger, command, select)
        return
    thread = debugger.current()
    name = debugger.name(thread)
    move = partial(debugger.request, command, threadId=thread, singleThread=True)
    await debugger.threads.wait_again([thread], move, None)
    await arrived(debugger, thread, name)


async def next_line(debugger: Debugger, select: str | None, rest: str) -> None:
    """Step to the next line of the function."""
    await step(debugger, "next", select)


async def step_in(debugger: Debugger, select: str | None, rest: str) -> None:
    """Step to the next line, which may be in a called function, also in one that Ray runs in another process."""
    await step(debugger, "stepIn", select)


async def step_out(debugger: Debugger, select: str | None, rest: str) -> None:
    """Step out of the function; out of a task or method, to the line where the caller takes its result."""
    await step(debugger, "stepOut", select)


async def arrived(debugger: Debugger, thread: int, name: str) -> None:
    """Show the new stop of a thread that was resumed, or of the thread to which its step has led.

    If there is no such stop, report that, and show another stop.

    A thread does not stop again if it ends, or if raydap detaches from its worker because nothing can stop the worker
    any more. `name` is the name of the thread before it was resumed.
    """
    for reached in (thread, debugger.threads.led_to.get(thread)):
        if reached in debugger.threads.stops:
            await debugger.show(reached)
            return
    debugger.out.note(f"{name} has ended." if debugger.process_has_ended(thread) else f"{name} is running.")
    await _show_next(debugger)


async def _show_next(debugger: Debugger) -> None:
    other = debugger.next_stopped()
    debugger.look_at(other)
    if other is not None:
        await debugger.show(other)


async def _step_many(debugger: Debugger, command: str, select: str) -> None:
    found = await debugger.stopped_in(select)
    threads = [each.thread for each in found if isinstance(each.thread, int)]
    first = debugger.focus.thread if debugger.focus.thread in threads else threads[0]
    places = {None if each.location is None else (each.location.path, each.location.line) for each in found}
    if len(places) == 1 and None not in places:
        wanted = StepThreadsArguments(thread_id=first, command=command, select=select)  # type: ignore[arg-type]
        move = partial(debugger.live.ask, "raydap/step", wanted, SteppedThreads)
        missing = await debugger.threads.wait_again(threads, move, SLOW_S)
    else:
        # raydap/step steps only threads that are at the same line.
        async def each_steps() -> None:
            for thread in threads:
                await debugger.request(command, threadId=thread, singleThread=True)

        missing = await debugger.threads.wait_again(threads, each_steps, SLOW_S)
    await debugger.show_many(threads)
    if missing:
        debugger.out.note(f"{len(missing)} still running; `wait` waits for the next stop, and `pause` stops them.")
    if first not in debugger.threads.stops:
        debugger.look_at(debugger.next_stopped())


async def resume(debugger: Debugger, select: str | None, rest: str) -> None:
    """Resume the thread that the user looks at, or a set, and show the next stop.

    If other threads are stopped, wait only AGAIN_S for the thread, and then show one of the others.
    """
    if select is not None:
        answer = await debugger.live.ask("raydap/continue", ContinueThreadsArguments(select=select), ResumedThreads)
        debugger.out.note(f"Resumed {len(answer.threads)} thread{'s' * (len(answer.threads) != 1)}.")
        await _wait_for_stop(debugger, set(answer.threads))
        return
    thread = debugger.current()
    name = debugger.name(thread)
    threads = debugger.threads
    others = len(threads.stops) > 1
    move = partial(debugger.request, "continue", threadId=thread, singleThread=True)
    if others:
        if not await threads.wait_again([thread], move, AGAIN_S):
            await arrived(debugger, thread, name)
            return
        debugger.out.note(f"{name} is running.")
        await _show_next(debugger)
        return
    await move()
    await _wait_for_stop(debugger, {thread})


async def _wait_for_stop(debugger: Debugger, resumed: set[int]) -> None:
    """Wait until any thread is stopped, and show it, or until no worker is debugged any more.

    Ctrl-C pauses the threads in `resumed`.
    """
    threads = debugger.threads
    threads.expected |= resumed
    try:
        # A launched program may have no debugged worker for a while. Its session ends with it.
        await threads.wait(
            lambda: bool(threads.stops) or debugger.has_ended or not (debugger.live.debugged or debugger.has_launched)
        )
    finally:
        threads.expected -= resumed
    # Show the stops of the resumed threads together with all others.
    threads.unseen |= {thread: threads.stops[thread] for thread in resumed if thread in threads.stops}
    if threads.unseen:
        debugger.look_at(None)
        await debugger.show_unseen()
    elif threads.stops and debugger.focus.thread not in threads.stops:
        await _show_next(debugger)


async def wait(debugger: Debugger, select: str | None, rest: str) -> None:
    """Wait for the next stop, of any thread or of one in a set, and show it.

    A number at the end of `rest` limits the wait, in seconds.
    """
    threads = debugger.threads
    words = rest.split()
    timeout_s: float | None = None
    if words and re.fullmatch(r"\d+(\.\d+)?s?", words[-1]):
        timeout_s = float(words.pop().rstrip("s"))
    wanted = workers_named(select, " ".join(words))
    before = {thread: threads.number(thread) for thread in threads.stops}
    chosen = None if wanted is None else {each.worker for each in await debugger.places(wanted)}

    def has_stopped() -> bool:
        new = [thread for thread, stop in threads.stops.items() if stop.number > before.get(thread, 0)]
        entries = [debugger.worker_of(thread) for thread in new]
        return debugger.has_ended or any(
            chosen is None or (entry is not None and entry.key in chosen) for entry in entries
        )

    if not await threads.wait(has_stopped, timeout_s):
        debugger.out.note("No worker has stopped.")
    await debugger.show_unseen()


async def until(debugger: Debugger, select: str | None, rest: str) -> None:
    """Run the thread until it reaches a later line, or the line that `rest` names, or leaves the function."""
    _alone(select)
    thread, frame = debugger.current(), await debugger.frame()
    lines = await debugger.sources.lines(debugger.connection, frame)
    first, last = function_lines(lines, frame.line)
    if rest:
        target = number(rest) or 0
        if not frame.line < target <= len(lines):
            raise CommandError(f"Give a line after line {frame.line} of {file_name(frame.path)}.")
        first, last = target, target
    else:
        first = frame.line + 1
    entry = debugger.worker_of(thread)
    # The condition keeps other workers from stopping at these breakpoints.
    condition = f"__import__('os').getpid() == {0 if entry is None else entry.pid}"
    source = {"path": frame.path, "sourceReference": frame.reference}
    found = await debugger.request("breakpointLocations", source=source, line=first, endLine=max(first, last))
    wanted = sorted({each["line"] for each in found["breakpoints"] if each["line"] >= first})
    if rest and not wanted:
        raise CommandError(f"Line {rest} has no code.")
    name = debugger.name(thread)
    kept = await debugger.breakpoints.specs(frame.path)
    await debugger.breakpoints.send(frame.path, [*kept, *({"line": line, "condition": condition} for line in wanted)])
    try:
        move = partial(debugger.request, "stepOut", threadId=thread, singleThread=True)
        await debugger.threads.wait_again([thread], move, None)
    finally:
        await debugger.breakpoints.send(frame.path, kept)
    await arrived(debugger, thread, name)


async def jump(debugger: Debugger, select: str | None, rest: str) -> None:
    """Make another line the next one to execute."""
    _alone(select)
    frame = await debugger.frame()
    line = number(rest)
    if line is None:
        raise CommandError("Give the next line to execute: jump 42.")
    source = {"path": frame.path, "sourceReference": frame.reference}
    found = await debugger.request("gotoTargets", source=source, line=line)
    if not found.get("targets"):
        raise CommandError(f"Cannot jump to line {rest}.")
    thread = debugger.current()
    name = debugger.name(thread)
    move = partial(debugger.request, "goto", threadId=thread, targetId=found["targets"][0]["id"])
    await debugger.threads.wait_again([thread], move, SLOW_S)
    await arrived(debugger, thread, name)


def _alone(select: str | None) -> None:
    if select is not None:
        raise CommandError("This command works on one worker only; select it with `focus`.")


def function_lines(lines: list[str], line: int) -> tuple[int, int]:
    """Return the first and the last line of the function around a line; those of the file if there is no function."""
    found = function_around(lines, line)
    return (1, len(lines)) if found is None else (found.lineno, found.end_lineno or line)


def function_around(lines: list[str], line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function around a line; None if there is none, or if the source has a syntax error."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
