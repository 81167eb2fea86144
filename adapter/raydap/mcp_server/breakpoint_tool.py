"""The tool `breakpoint`, which sets, lists and removes breakpoints, log messages and barriers in all workers."""

import ast
import asyncio
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raydap import safe_files
from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.core.model.breakpoints import WAITING
from raydap.doctor import breakpoint_checks, diagnosis, gathering
from raydap.doctor.facts import SourceBreakpoint
from raydap.doctor.finding import FAULTS
from raydap.mcp_server.stopped_workers import Found, shown_path
from raydap.mcp_server.tool_arguments import BreakpointCall
from raydap.mcp_server.tool_session import ToolError, ToolSession, resolved
from raydap.presentation.numbers import counted
from raydap.presentation.short_text import file_name
from raydap.protocol.raydap_messages import SetBreakpoint
from raydap.protocol.value_messages import EvaluateThreadsArguments, Evaluations
from raydap.terminal.debugger.breakpoint_numbers import as_spec
from raydap.terminal.debugger.debugger import Debugger

ANSWER_S = 1.0
"""Seconds to wait until a worker reports whether it has the code; raydap answers the request before workers do."""

IMPORTED_S = 2.0
"""Seconds in which a process reports which files it has imported."""

_JOB_FOLDERS = "/runtime_resources/"
"""A part of the paths of the copies that Ray makes of a job's `working_dir` and `py_modules`."""

DOCTOR_S = 10.0
"""Seconds to find out why a breakpoint is set in no worker."""

_PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]{1,9})")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class WantedBreakpoint:
    """A breakpoint to set."""

    path: str
    """The absolute path of the file; "" for a function."""
    line: int
    """The line; 0 for a function."""
    function: str
    """The function; "" for a line."""
    condition: str = ""
    """The condition, else ""."""
    log: str = ""
    """The message to print instead of a stop, else ""."""
    barrier: str = ""
    """Whom the barrier waits for, as in a hit condition: `all`, `all 16`; "" for an ordinary breakpoint."""

    @property
    def spec(self) -> dict[str, Any]:
        """The SourceBreakpoint or FunctionBreakpoint of DAP."""
        where: dict[str, Any] = {"line": self.line} if self.path else {"name": self.function}
        more = {"condition": self.condition, "logMessage": self.log, "hitCondition": self.barrier}
        return where | {name: text for name, text in more.items() if text}


def place_of(text: str, folder: str = "", condition: str = "", log: str = "", barrier: str = "") -> WantedBreakpoint:
    """Return the place that a text names: FILE:LINE, FUNCTION, each possibly with `if CONDITION`. Raises ToolError."""
    where, _, inline = (part.strip() for part in text.partition(" if "))
    condition = condition or inline
    found = _PLACE.fullmatch(where)
    if found is not None:
        path = resolved(found["file"], os.path.expanduser(folder))
        if not path and not os.path.isabs(found["file"]):
            raise ToolError(
                f"There is no file {found['file']} in {folder or os.getcwd()}; give its path here, or its absolute "
                "path in the workers."
            )
        return WantedBreakpoint(path or found["file"], int(found["line"]), "", condition, log, barrier)
    if not _FUNCTION.fullmatch(where):
        raise ToolError(f'"{where}" is no place; give FILE:LINE or a function: breakpoint(at="train.py:42").')
    return WantedBreakpoint("", 0, where, condition, log, barrier)


async def send(session: ToolSession, debugger: Debugger, place: WantedBreakpoint) -> int:
    """Set a breakpoint beside the others, and return its id; one of the model's at the same place is replaced.

    Raises SessionError, and ToolError if the user has one there, which `end` would remove.
    """
    breakpoints = debugger.breakpoints
    there = [each for _, each in await breakpoints.all() if each.path == place.path]
    same = [each for each in there if (each.line if place.path else 0, each.function) == (place.line, place.function)]
    if foreign := [each for each in same if each.id not in session.own_breakpoints]:
        raise ToolError(f"{_where(foreign[0])} has a breakpoint that was not set by you, and stays as it is.")
    kept = [as_spec(each) for each in there if each not in same]
    answer = (await breakpoints.send(place.path, [*kept, place.spec]))[-1]
    session.own_breakpoints.add(int(answer["id"]))
    if answer.get("message") == WAITING:
        known = int(answer["id"])
        await debugger.threads.wait(lambda: known in breakpoints.answered or not debugger.live.debugged, ANSWER_S)
    return int(answer["id"])


async def run(session: ToolSession, given: BreakpointCall) -> Found:
    """Set, list or remove breakpoints."""
    debugger = await session.joined()
    if not session.is_debugging:
        raise ToolError('No program is debugged yet: start(program="train.py", breakpoints=[...]), or start(job="*").')
    if debugger.has_ended:
        raise ToolError('The program has ended: start(program="...", breakpoints=["FILE:LINE"]).')
    if given.at and given.function:
        raise ToolError("Give at or function, not both.")
    text = given.at or given.function
    if given.remove:
        return await _remove(session, text)
    if not text:
        return Found(await listed(session))
    if given.function and _PLACE.fullmatch(text):
        raise ToolError(f'function is a name such as Trainer.step; for a line: breakpoint(at="{text}").')
    place = place_of(text, "", given.condition, given.log, _barrier(given.barrier))
    identifier = await send(session, debugger, place)
    (found,) = [each for _, each in await debugger.breakpoints.all() if each.id == identifier]
    return Found([line(debugger, found), *await _obstacles(debugger, found), *await _other_files(debugger, found)])


async def _other_files(debugger: Debugger, each: SetBreakpoint) -> list[str]:
    """Return whether all processes run another file of the same name, or have not imported the file; else [].

    debugpy sets a breakpoint in any file that exists, also in one that the process never imports.
    """
    if not each.verified or not each.path:
        return []
    name = file_name(each.path)
    files = "{m.__file__ for m in list(__import__('sys').modules.values()) if getattr(m, '__file__', None)}"
    wanted = EvaluateThreadsArguments(
        expression=f"[each for each in {files} if each.rpartition('/')[2] == {name!r}]",
        timeout=IMPORTED_S,
        running=True,
    )
    try:
        found = await debugger.live.ask("raydap/evaluate", wanted, Evaluations)
        lists = [ast.literal_eval(group.value) for group in found.groups if isinstance(group.value, str)]
        paths = sorted({path for listed in lists for path in listed})
    except (SessionError, ValueError, SyntaxError, TypeError):
        return []
    # Ray gives each job a copy of its folder, where raydap sets the breakpoint, too.
    if not lists or any(_JOB_FOLDERS in path or _is_same_file(path, each.path) for path in paths):
        return []
    if paths:
        return [f"The processes have imported another {name}: {', '.join(map(shown_path, paths[:3]))}."]
    return [f"No process has imported {name} yet; the breakpoint stops those that will."]


def _is_same_file(one: str, other: str) -> bool:
    try:
        return one == other or os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


async def _obstacles(debugger: Debugger, each: SetBreakpoint) -> list[str]:
    """Return why a breakpoint is not hit, as `raydap doctor` finds it; [] if no reason is found."""
    try:
        source: bytes | None = safe_files.read_regular(each.path) if each.path else None
    except (OSError, ValueError):
        source = None
    one = SourceBreakpoint(Path(each.path), each.line, source)
    found = list(breakpoint_checks.line(one, source)) if source is not None else []
    if not each.verified and each.path and debugger.live.cluster:
        with suppress(asyncio.TimeoutError, OSError):
            facts = await wait_for(gathering.gather(debugger.live.cluster, [one], os.environ, False), DOCTOR_S)
            found = [finding for finding in diagnosis.diagnose(facts) if finding.subject == str(one)]
    chosen = [finding for finding in found if finding.severity in (*FAULTS, "note")]
    return [" ".join(filter(None, (finding.what, finding.why, finding.what_to_do))) for finding in chosen]


def _barrier(text: str) -> str:
    words = text.split()
    if not words:
        return ""
    return " ".join(words if words[0] == "all" else ["all", *words])


async def _remove(session: ToolSession, text: str) -> Found:
    debugger = await session.joined()
    if not text:
        count = await session.remove_breakpoints(set(session.own_breakpoints))
        return Found([f"{counted(count, 'breakpoint')} of yours removed"])
    place = place_of(text)
    chosen = [
        each
        for _, each in await debugger.breakpoints.all()
        if (each.path, each.line if place.path else 0) == (place.path, place.line) and each.function == place.function
    ]
    if not chosen:
        raise ToolError(f"There is no breakpoint at {text}; breakpoint() lists all.")
    if foreign := [each for each in chosen if each.id not in session.own_breakpoints]:
        raise ToolError(f"{_where(foreign[0])} was not set by you, and stays.")
    await session.remove_breakpoints(each.id for each in chosen)
    return Found([f"{_where(chosen[0])} removed"])


async def listed(session: ToolSession, only_own: bool = False) -> list[str]:
    """Return a line for each breakpoint. Raises SessionError."""
    debugger = await session.joined()
    found = [each for _, each in await debugger.breakpoints.all()]
    own = session.own_breakpoints
    lines = [
        line(debugger, each) + ("" if each.id in own else " (not yours)")
        for each in found
        if not only_own or each.id in own
    ]
    return lines or ['No breakpoint is set; breakpoint(at="FILE:LINE") sets one.']


def line(debugger: Debugger, each: SetBreakpoint) -> str:
    """Return the line about a breakpoint: its place, its terms, and in how many workers it is set."""
    terms = [f"if {each.condition}"] if each.condition else []
    terms += [f"barrier {each.hit_condition}"] if each.hit_condition else []
    terms += [f"log {each.log_message!r}"] if each.log_message else []
    count = sum(entry.state in ("stopped", "held", "running") for entry in debugger.live.workers.values())
    state = each.message or f"set in {counted(count, 'worker')}"
    return f"breakpoint {' '.join([_where(each), *terms])}: {state}"


def _where(each: SetBreakpoint) -> str:
    return f"{shown_path(each.path)}:{each.line}" if each.path else each.function
