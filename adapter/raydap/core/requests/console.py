"""The debug console: Python expressions, and commands that begin with `/` (docs/usage/sets.md)."""

import difflib
import re
from collections.abc import Callable

from raydap.core.flows import Flow
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.requests import barrier_list, comparison, merged_stacks, multi_thread, selecting, waits, watch_commands
from raydap.core.requests.routing import BY_FRAME_ELSE_FOCUS, forward
from raydap.core.workers import barrier_progress
from raydap.errors import Code, Problem, ProblemError
from raydap.presentation import folded_tables
from raydap.protocol.raydap_messages import (
    BarriersArguments,
    ContinueThreadsArguments,
    SetsArguments,
    StepThreadsArguments,
)
from raydap.protocol.stack_messages import StacksArguments
from raydap.protocol.value_messages import CompareArguments
from raydap.protocol.wait_messages import WaitsArguments
from raydap.wire.envelope import Body

_COMMAND = re.compile(r"\s*/(?:in\s+(?P<set>.*?)\s/)?\s*(?P<name>[A-Za-z]*)\s*(?P<rest>.*)", re.DOTALL)

STEP_TIMEOUT_S = 5.0
"""Seconds that `/step` waits for all workers to stop again before it prints where they are."""

APART_TIMEOUT_S = 60.0
"""Seconds after which `/step apart` ends, if the workers are still at the same line."""

_Command = Callable[[State, Request, "str | None", str], Flow[str]]
"""Takes the state, the request, the set given by `/in` (None without it), and the text after the command's name."""


def evaluate(state: State, request: Request, arguments: dict[str, object]) -> Flow[Body]:
    """Run a console command, or forward a Python expression to a worker; no Python expression begins with `/`."""
    expression = arguments.get("expression")
    if arguments.get("context") == "repl" and isinstance(expression, str) and expression.lstrip().startswith("/"):
        return {"result": (yield from _run(state, request, expression)), "variablesReference": 0}
    return (yield from forward(state, request, BY_FRAME_ELSE_FOCUS, arguments))


def _run(state: State, request: Request, text: str) -> Flow[str]:
    found = _COMMAND.fullmatch(text)
    assert found is not None
    name = found["name"]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"There is no command /{name}: {hint}"))
    return (yield from COMMANDS[name](state, request, found["set"], found["rest"].strip()))


def _stacks(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    chosen = _one_set("stacks", select, rest)
    return folded_tables.of_stacks((yield from merged_stacks.stacks(state, request, StacksArguments(select=chosen))))


def _locals(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    wanted = StacksArguments(select=_one_set("locals", select, rest), locals=True)
    return folded_tables.of_stacks((yield from merged_stacks.stacks(state, request, wanted)))


def _all_stacks(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    wanted = StacksArguments(select=_one_set("allstacks", select, rest), running=True)
    return folded_tables.of_stacks((yield from merged_stacks.stacks(state, request, wanted)))


def _hang(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    return (yield from waits.waits(state, request, WaitsArguments(select=_one_set("hang", select, rest)))).text


def _compare(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    if not rest:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, "Give an expression, for example: /compare loss."))
    compared = CompareArguments(expression=rest, select=select)
    return folded_tables.of_comparison((yield from comparison.compare(state, request, compared)))


def _keep(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    name, expression = _named(rest, "keep")
    compared = CompareArguments(expression=expression, select=select, keep=name)
    return folded_tables.of_comparison((yield from comparison.compare(state, request, compared)))


def _since(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    name, expression = _named(rest, "since")
    compared = CompareArguments(expression=expression, select=select, baseline=name)
    return folded_tables.of_comparison((yield from comparison.compare(state, request, compared)))


def _named(rest: str, command: str) -> tuple[str, str]:
    name, _, expression = rest.partition(" ")
    if not expression.strip():
        text = f"Give a name and an expression, for example: /{command} before loss."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return name, expression.strip()


def _step(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    focus = request.client.view.focus
    if rest not in ("", "apart") or focus is None or not focus.is_held:
        text = "Select a stopped worker, then give /step or /step apart: every worker at its line steps over it."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    step = StepThreadsArguments(
        thread_id=focus.handle,
        command="next",
        select=select,
        timeout=APART_TIMEOUT_S if rest else STEP_TIMEOUT_S,
        until="parted" if rest else None,
    )
    return folded_tables.of_step((yield from multi_thread.step_threads(state, request, step)))


def _continue(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    chosen = _one_set("continue", select, rest)
    resumed = yield from multi_thread.continue_threads(state, request, ContinueThreadsArguments(select=chosen))
    return f"{len(resumed.threads)} resumed."


def _one_set(command: str, select: str | None, rest: str) -> str | None:
    if select is not None and rest:
        text = f"Name the set once: /in SET /{command}, or /{command} SET."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    return select if select is not None else rest or None


def _barriers(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    yield from ()
    if select is not None or rest not in ("", "show", "release"):
        text = "Use /barriers, /barriers show or /barriers release."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    found = barrier_list.barriers(state, request, BarriersArguments()).barriers
    if rest:
        barrier_list.barriers(state, request, BarriersArguments(action="show" if rest == "show" else "release"))
    lines = (f"{barrier_progress.place_of(each)}: {each.text}" for each in found)
    return "\n".join(lines) or "No worker waits at a barrier."


def _sets(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    yield from ()
    name, _, text = rest.partition(" ")
    wanted = SetsArguments()
    if name.startswith("-"):
        wanted = SetsArguments(name=name[1:])
    elif name:
        if not text.strip():
            raise ProblemError(Problem(Code.BAD_ARGUMENT, f"Give a set, for example: /sets {name} actor:Trainer."))
        wanted = SetsArguments(name=name, select=text.strip())
    kept = selecting.sets(state, request, wanted).sets
    return "\n".join(f"{each.name}: {each.select}" for each in kept) or "There are no named sets."


def _help(state: State, request: Request, select: str | None, rest: str) -> Flow[str]:
    yield from ()
    width = max(len(usage) for usage, _ in USAGE)
    return "\n".join(f"{usage.ljust(width)}  {text}" for usage, text in USAGE)


COMMANDS: dict[str, _Command] = {
    "stacks": _stacks,
    "locals": _locals,
    "allstacks": _all_stacks,
    "hang": _hang,
    "compare": _compare,
    "keep": _keep,
    "since": _since,
    "step": _step,
    "continue": _continue,
    "barriers": _barriers,
    "sets": _sets,
    "watch": watch_commands.watch,
    "unwatch": watch_commands.unwatch,
    "help": _help,
}

USAGE = [
    ("/stacks [SET]", "the stacks of all stopped threads, or of those in a set, as one tree"),
    ("/locals [SET]", "the same tree with the local variables of the innermost frames; equal values are merged"),
    ("/allstacks [SET]", "the same tree with the stacks of running workers, which are not stopped"),
    ("/hang [SET]", "what each worker waits for, starting at the driver or at the workers in a set, and deadlocks"),
    ("/compare EXPRESSION", "the value in each stopped thread, grouped by equal values"),
    ("/keep NAME EXPRESSION", "like /compare; also keep the values under this name"),
    ("/since NAME EXPRESSION", "like /compare; also show which values differ from those kept under this name"),
    ("/step", "step the selected worker and all others at its line, and show where they stop"),
    ("/step apart", "repeat /step until the workers are at different lines"),
    ("/continue [SET]", "resume all stopped threads, or the threads in a set"),
    ("/barriers", "which workers wait at barriers, and which are missing"),
    ("/barriers show", "show the workers at barriers as stopped; /barriers release resumes them"),
    (
        "/watch EXPRESSION",
        "stop after each line that changes the value, or makes it true: /watch loss != loss; alone: list these",
    ),
    ("/watch --log EXPRESSION", "print the changes, without a stop; other options: --hits N, --at FILE:LINE"),
    ("/unwatch [NUMBER]", "stop watching an expression, or all"),
    ("/in SET COMMAND", "run a command for the workers in a set: /in actor:Trainer not rank:0 /compare loss"),
    ("/sets", "the named sets; /sets NAME SET adds one, /sets -NAME removes it"),
    ("/help", "these lines"),
]
