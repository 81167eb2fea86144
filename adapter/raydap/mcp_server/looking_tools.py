"""The tools `status`, `look`, `values`, `stacks` and `hang`, which stop no worker."""

import ast
import asyncio

from raydap.analysis.sets.folding import group_name
from raydap.client.dap_connection import RequestRefused
from raydap.client.joining import SessionTarget, is_same_cluster
from raydap.mcp_server import masking
from raydap.mcp_server.stopped_workers import Found, as_set, members, shown_path, stopped_in
from raydap.mcp_server.tool_arguments import HangCall, LookCall, StacksCall, StatusCall, ValuesCall
from raydap.mcp_server.tool_session import ToolError, ToolSession
from raydap.presentation import folded_tables
from raydap.presentation.safe_text import one_line, without_colours
from raydap.presentation.short_text import in_one_line, shortened
from raydap.protocol.stack_messages import MergedStacks, StackArguments, StacksArguments, WorkerStack
from raydap.protocol.value_messages import CompareArguments, Comparison
from raydap.protocol.wait_messages import WaitGraph, WaitsArguments
from raydap.terminal import process_list
from raydap.terminal.debugger.debugger import CommandError, Debugger
from raydap.terminal.debugger.frames import Frame, variables
from raydap.terminal.live_session import is_idle

FRAMES, VARIABLES, AROUND = 8, 25, 3
"""The most frames and variables that `look` shows, and the lines of source before and after the current one."""

LONGEST_VALUE, LONGEST_FULL = 80, 1200
"""The most characters of a variable, and of an expression that the model asks for."""

LONGEST_ERROR = 300
"""The most characters of an exception."""

EVALUATION_S = 5.0
"""Seconds for an expression in each worker."""


async def status(session: ToolSession, given: StatusCall) -> Found:
    """Show where the workers are: a line for each state and place."""
    if given.at:
        await _switch(session, given.at)
    debugger = await session.joined()
    if debugger.has_ended:
        return Found([])
    live, legacy = debugger.live, debugger.old.listing
    rows = await process_list.look(live, legacy, as_set(given.set), False, process_list.Seen())
    lines = [
        f"{len(each.rows)} {each.name} {_STATE_TEXTS.get(each.state, each.state)} {each.where}".rstrip()
        for each in process_list.folded(rows)
    ]
    where = live.cluster or live.session.debugs
    if live.session.kind == "own":
        what = f"cluster {where}" if where else "no cluster"
    else:
        what = f"{live.session.name}, which debugs {where}"
    if not lines and given.set:
        lines = [f"No worker is in the set {given.set}."]
    idle = sum(is_idle(entry) for entry in live.workers.values())
    return Found([what, *lines, *([f"{idle} idle"] if idle else [])])


async def _switch(session: ToolSession, at: str) -> None:
    """Observe another cluster, unless the session is at this one. Raises ToolError if something is debugged."""
    debugger = session.debugger
    if debugger is not None and is_same_cluster(debugger.live.cluster or debugger.live.session.debugs, at):
        return
    if session.is_debugging and debugger is not None and not debugger.has_ended:
        raise ToolError("This session debugs another cluster; end() leaves it first.")
    await session.leave()
    session.target = SessionTarget(dashboard=at)


_STATE_TEXTS = {"alive": "running", "paused": "waiting"}


async def stacks(session: ToolSession, given: StacksCall) -> Found:
    """Show the stacks of all workers as one tree."""
    debugger = await session.joined()
    _check_running(debugger)
    wanted = StacksArguments(select=as_set(given.set), running=True, outside=True, locals=given.locals, max_members=1)
    found = await debugger.live.ask("raydap/stacks", wanted, MergedStacks)
    if not found.root.count:
        return Found([_no_answer(debugger, given.set, len(found.unread) + len(found.silent))])
    return Found(folded_tables.of_stacks(found).splitlines())


async def hang(session: ToolSession, given: HangCall) -> Found:
    """Show what each worker waits for."""
    debugger = await session.joined()
    _check_running(debugger)
    found = await debugger.live.ask("raydap/waits", WaitsArguments(select=as_set(given.set)), WaitGraph)
    return Found(found.text.splitlines(), "stacks(locals=true)" if found.text else "")


async def values(session: ToolSession, given: ValuesCall) -> Found:
    """Compare the values of expressions over workers."""
    debugger = await session.joined()
    _check_running(debugger)
    for expression in given.expressions:
        check_expression(session, expression)
    lines: list[str] = []
    answers = await asyncio.gather(*(_compare(session, debugger, each, given) for each in given.expressions))
    for expression, answer in zip(given.expressions, answers, strict=True):
        if len(given.expressions) > 1:
            lines.append(f"{one_line(expression)}:")
        unread = 0 if isinstance(answer, str) or not isinstance(answer.unread, tuple) else len(answer.unread)
        if isinstance(answer, str):
            lines.append(answer)
        elif not answer.groups:
            lines.append(_no_answer(debugger, given.set, len(answer.silent) + unread))
        elif masking.is_secret(expression) and not session.options.show_secrets:
            lines.append(f"{masking.MASK} (masked, because the name is that of a secret)")
        else:
            lines += folded_tables.of_comparison(answer).splitlines()
    return Found(lines)


async def _compare(session: ToolSession, debugger: Debugger, expression: str, given: ValuesCall) -> Comparison | str:
    """Return the comparison of one expression, or why there is none."""
    name = f"{given.baseline}: {expression}" if given.baseline else ""
    is_kept = name in session.baselines
    wanted = CompareArguments(
        expression=expression,
        select=as_set(given.set),
        running=True,
        timeout=EVALUATION_S,
        keep=name if name and not is_kept else None,
        baseline=name if is_kept else None,
    )
    try:
        answer = await debugger.live.ask("raydap/compare", wanted, Comparison)
    except RequestRefused as refused:
        return str(refused)
    if name:
        session.baselines.add(name)
    return answer


def check_expression(session: ToolSession, text: str) -> None:
    """Raise ToolError if the text is no expression, and the user does not allow statements."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ToolError(f"{in_one_line(text, 60)} is not valid Python ({error}).") from None
        if not session.options.allow_code:
            raise ToolError(
                f"{in_one_line(text, 60)} is a statement. Only expressions are evaluated, unless the user starts "
                "`raydap mcp --allow-code`."
            ) from None


async def look(session: ToolSession, given: LookCall) -> Found:
    """Show one worker: its stack, source and variables."""
    debugger = await session.joined()
    _check_running(debugger)
    if given.names and session.options.read_only:
        raise ToolError("With --read-only no expression is evaluated; look() without names shows the variables.")
    thread = await _thread(session, debugger, as_set(given.worker))
    if thread is None:
        return await _look_running(session, debugger, given)
    for each in given.names:
        check_expression(session, each)
    debugger.look_at(thread)
    try:
        frames = await debugger.frames(thread)
    except CommandError as error:
        raise ToolError(str(error)) from None
    if given.frame >= len(frames):
        raise ToolError(f"There is no frame {given.frame}; the last one is {len(frames) - 1}.")
    frame = frames[given.frame]
    debugger.focus.frame = given.frame
    lines = [f"{debugger.name(thread)}, {await _reason(debugger, thread)}", *_stack(frames, given.frame)]
    lines += _source(await debugger.sources.lines(debugger.connection, frame), frame.line)
    if given.names:
        for name in given.names:
            lines.append(f"{one_line(name)} = {await _shown(session, debugger, name, frame)}")
        return Found(lines)
    found = await variables(debugger.connection, frame)
    for name, value in found[:VARIABLES]:
        hides = masking.is_secret(name) and not session.options.show_secrets
        lines.append(f"{one_line(name)} = {masking.MASK if hides else in_one_line(one_line(value), LONGEST_VALUE)}")
    if len(found) > VARIABLES:
        lines.append(f"{len(found) - VARIABLES} more variables; names=[...] shows chosen ones")
    return Found(lines, 'go(action="continue")')


async def _thread(session: ToolSession, debugger: Debugger, select: str | None) -> int | None:
    """Return the thread to look at; None for a worker that is not stopped. Raises ToolError and SessionError."""
    if select is None:
        if debugger.focus.thread in debugger.threads.stops:
            return debugger.focus.thread
        thread = debugger.next_stopped()
        if thread is None:
            raise ToolError('No worker is stopped; name one: look(worker="Trainer 0"), or stacks() for all.')
        return thread
    found = await members(session, select)
    if len(found) > 1:
        raise ToolError(f"{select} is {group_name(found)}; name one of them, or use stacks() or values() for many.")
    places = [each for each in await stopped_in(debugger, select) if isinstance(each.thread, int)]
    return places[0].thread if places and isinstance(places[0].thread, int) else None


async def _look_running(session: ToolSession, debugger: Debugger, given: LookCall) -> Found:
    """Show a worker that is not stopped: its stacks, or the values of expressions."""
    if given.names:
        found = await values(session, ValuesCall(expressions=given.names, set=given.worker))
        return Found([f"{given.worker} is running", *found.lines], found.following)
    wanted = StackArguments(select=as_set(given.worker))
    try:
        answer = await debugger.live.ask("raydap/stack", wanted, WorkerStack)
    except RequestRefused as refused:
        raise ToolError(str(refused)) from None
    return Found(answer.text.splitlines(), f'values(expressions=["..."], set="{given.worker}")')


async def _reason(debugger: Debugger, thread: int) -> str:
    stop = debugger.threads.stops.get(thread)
    if stop is None:
        return "running"
    if stop.reason != "exception":
        return f"stopped ({stop.reason})"
    text = one_line(without_colours(await debugger.exception(stop)))
    return f"stopped at the exception {in_one_line(text, LONGEST_ERROR)}"


def _stack(frames: list[Frame], current: int) -> list[str]:
    shown = [
        f"{'>' if number == current else ' '}{number} {frame.name} "
        f"{shown_path(frame.path)}:{frame.line}{frame.of_caller}"
        for number, frame in enumerate(frames)
        if number < FRAMES or number == current
    ]
    return [*shown, *([f"{len(frames) - len(shown)} more frames"] if len(frames) > len(shown) else [])]


def _source(lines: list[str], line: int) -> list[str]:
    first = max(1, line - AROUND)
    return [
        f"{'>' if number == line else ' '}{number:4} {shortened(one_line(text), 100)}".rstrip()
        for number, text in enumerate(lines[first - 1 : line + AROUND], first)
    ]


async def _shown(session: ToolSession, debugger: Debugger, name: str, frame: Frame) -> str:
    try:
        value = await debugger.evaluate(name, frame, "repl" if session.options.allow_code else "watch")
    except CommandError as error:
        return f"*** {error}"
    if masking.is_secret(name) and not session.options.show_secrets:
        return masking.MASK
    return shortened(one_line(value), LONGEST_FULL)


def _check_running(debugger: Debugger) -> None:
    if debugger.has_ended:
        raise ToolError('The program has ended; start(program="...") runs it again.')


def _no_answer(debugger: Debugger, select: str, silent: int) -> str:
    """Return why no worker has answered, and what would help."""
    who = f"No worker in the set {select}" if select else "No worker"
    count = sum(entry.state == "paused" for entry in debugger.live.workers.values())
    reasons = [f"{silent} did not answer"] if silent else []
    reasons += [f"{count} wait at breakpoint() for a debugger"] if count else []
    return f"{who} answers{': ' if reasons else ''}{', '.join(reasons)}; status() lists the workers."
