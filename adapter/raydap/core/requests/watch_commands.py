"""The console commands `/watch` and `/unwatch`, for all clients (docs/usage/watchpoints.md)."""

import re

from raydap.analysis.sets.set_syntax import parse
from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.run_watches import MAX_EXPRESSION, RunWatch, WatchPlace, WatchTerms, mistake_in
from raydap.core.model.state import State
from raydap.core.requests.data_breakpoints import check_count, find_place
from raydap.core.translate import paths
from raydap.core.workers import prepared, watch_setting
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.python_source import parse_expression

CONFIRM_S = 5.0
"""Seconds for which `/watch` waits until the workers have confirmed the watch."""

_OPTION = re.compile(r"--(?P<name>log|hits|at)(?=\s|$)\s*")

_USAGE = "Write /watch [--log] [--hits N] [--at FILE:LINE] EXPRESSION, for example /watch loss != loss."

_PLACE = re.compile(r"(?P<file>\S+?):(?P<line>[0-9]{1,9})")


def watch(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    """Watch an expression in all workers, or in a set; without an expression, return the list of watchpoints."""
    if not rest:
        return _listed(state)
    logs, hits, at, expression = _parsed(rest)
    if select is not None:
        wanted = parse(select, state.run.sets)
        if wanted.where or wanted.asks_for("line"):
            raise _wrong("The set of a watchpoint has no `where` and no `line:`, because these change with each stop.")
    if at is None:
        arguments = request.arguments()
        frame = {"frameId": arguments["frameId"]} if arguments.get("frameId") else {}
        place = yield from find_place(state, request, {"name": expression, **frame})
    else:
        place = WatchPlace(expression, *_file_and_line(state, at))
    check_count(sum(1 for _ in state.run.watches.all()) + 1)
    added = state.run.watches.add(WatchTerms(place, "", hits, logs, select or ""))
    yield from watch_setting.set_everywhere_and_wait(state, CONFIRM_S)
    prepared.attach_needed(state)
    return f"{added.id}: {added.text}"


def unwatch(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    """Remove the watchpoint with a number, or all of them."""
    watches = state.run.watches
    found = list(watches.all())
    if rest:
        found = [each for each in found if rest.isdigit() and each.id == int(rest)]
        if not found:
            raise _wrong(f"There is no watchpoint {rest}; /watch lists them.")
    for each in found:
        watches.remove(each)
        client = None if each.author is None else state.clients.get(each.author)
        if client is not None:
            client.event("breakpoint", {"reason": "removed", "breakpoint": {"id": each.id, "verified": False}})
    yield from watch_setting.set_everywhere_and_wait(state, CONFIRM_S)
    return "\n".join(f"Removed {each.id}: {_title(each)}." for each in found) or "There are no watchpoints."


def _listed(state: State) -> str:
    lines = (f"{each.id}: {each.text}{_details(each)}" for each in state.run.watches.all())
    return "\n".join(lines) or "There are no watchpoints."


def _details(watch: RunWatch) -> str:
    terms = watch.terms
    details = [f"set {terms.select}" * bool(terms.select), f"hits {terms.hits}" * bool(terms.hits), "logs" * terms.logs]
    shown = ", ".join(filter(None, details))
    return f" ({shown})" if shown else ""


def _title(watch: RunWatch) -> str:
    return "" if watch.terms.place is None else watch.terms.place.title


def _parsed(text: str) -> tuple[bool, str, str | None, str]:
    """Return the options and the expression of `/watch`. Raises ProblemError."""
    logs, hits, at = False, "", None
    while found := _OPTION.match(text):
        text = text[found.end() :]
        if found["name"] == "log":
            logs = True
            continue
        value, _, text = text.partition(" ")
        text = text.lstrip()
        if found["name"] == "hits":
            if value in ("==", ">", ">=", "<", "<=", "%"):
                number, _, text = text.partition(" ")
                value = f"{value} {number}"
            hits = value
            if not hits or mistake_in(hits):
                raise _wrong(mistake_in(hits) or _USAGE)
        elif found["name"] == "at":
            at = value
    if not text.strip() or len(text) > MAX_EXPRESSION:
        raise _wrong(_USAGE)
    try:
        parse_expression(text)
    except (SyntaxError, ValueError) as error:
        raise _wrong(f"{text} is not a valid Python expression: {error}.") from None
    return logs, hits, at, text.strip()


def _file_and_line(state: State, text: str) -> tuple[str, int]:
    """Return the path and line of `FILE:LINE`. A name alone is that of a file which a stack or breakpoint has shown."""
    found = _PLACE.fullmatch(text)
    if found is None or not int(found["line"]):
        raise _wrong(f"{text} is not a line; write --at train.py:42.")
    file, line = found["file"], int(found["line"])
    if file.startswith("/") or paths.is_windows(file):
        return file, line
    breakpoints = (each.source["path"] for each in state.run.breakpoints.all() if each.source is not None)
    known = {each for each in (*state.run.sources, *breakpoints) if re.split(r"[/\\]", each)[-1] == file}
    known = known or {each for each in (*state.run.sources, *breakpoints) if each.endswith(f"/{file}")}
    if len(known) != 1:
        which = "Several files have this name" if known else "raydap has seen no file of this name"
        raise _wrong(f"{which}; write the whole path: --at /home/me/{file}:{line}.")
    return next(iter(known)), line


def _wrong(text: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, text))
