"""The commands `raydap stacks`, `raydap eval` and `raydap compare`, which print equal answers of workers together."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from raydap import safe_files
from raydap.analysis.sets.folding import group_name
from raydap.client.joining import SessionTarget
from raydap.errors import file_not_written
from raydap.exit_codes import ExitCode
from raydap.presentation import folded_tables, stack_pictures
from raydap.protocol.stack_messages import MergedStacks, StacksArguments
from raydap.protocol.value_messages import (
    CompareArguments,
    Comparison,
    ComparisonGroup,
    EvaluateThreadsArguments,
    EvaluationGroup,
    Evaluations,
)
from raydap.terminal import screen
from raydap.terminal.live_session import LiveSession, answering

MAX_MEMBERS = 1000
"""The maximum number of thread ids, and of workers' keys, in each node of a tree."""


async def stacks(
    target: SessionTarget, select: str | None, has_locals: bool, as_json: bool, folded: bool, svg: str | None
) -> int:
    """Print the stacks of all workers, or of the set `select`, as one tree. Return the exit code.

    `folded` prints the tree as text for flame graphs. `svg` is a file, to which the tree is written as a picture.

    Raises what `looking` raises, SessionError, and ProblemError if the picture cannot be written.
    """
    async with answering(target, "raydap hang") as live:
        wanted = StacksArguments(select=select, running=True, outside=True, locals=has_locals, max_members=MAX_MEMBERS)
        found = await live.ask("raydap/stacks", wanted, MergedStacks)
        if svg is not None:
            _write(svg, stack_pictures.svg(found.root))
        elif as_json:
            screen.print_json(found)
        elif folded:
            screen.console().out(stack_pictures.folded(found.root), highlight=False)
        elif found.root.count == 0:
            return _nothing(live, select, "report its stack", len(found.unread) + len(found.silent))
        else:
            screen.console().out(folded_tables.of_stacks(found), highlight=False)
    return ExitCode.DONE if found.root.count else ExitCode.NO_WORKER


async def evaluate(target: SessionTarget, expression: str, select: str | None, timeout_s: float, as_json: bool) -> int:
    """Print the value of an expression in all workers that can evaluate it. Return the exit code.

    `timeout_s` limits the evaluation in each thread. Raises what `looking` raises, and SessionError.
    """
    async with answering(target, "raydap compare EXPRESSION") as live:
        wanted = EvaluateThreadsArguments(expression=expression, select=select, running=True, timeout=timeout_s)
        found = await live.ask("raydap/evaluate", wanted, Evaluations)
        return _show(live, select, found, found.groups, folded_tables.of_evaluations(found), as_json)


async def compare(target: SessionTarget, expression: str, select: str | None, timeout_s: float, as_json: bool) -> int:
    """Print how the values of an expression, which can be of any size, differ between workers. Return the exit code.

    Raises what `looking` raises, and SessionError.
    """
    async with answering(target, "raydap stacks --locals") as live:
        wanted = CompareArguments(expression=expression, select=select, running=True, timeout=timeout_s)
        found = await live.ask("raydap/compare", wanted, Comparison)
        return _show(live, select, found, found.groups, folded_tables.of_comparison(found), as_json)


def _show(
    live: LiveSession,
    select: str | None,
    found: Evaluations | Comparison,
    groups: Sequence[EvaluationGroup | ComparisonGroup],
    text: str,
    as_json: bool,
) -> int:
    unread: tuple[Any, ...] | UnsetType = found.unread
    silent = len(found.silent) + (0 if unread is UNSET else len(unread))
    if as_json:
        screen.print_json(found)
    elif not groups and not silent:
        return _nothing(live, select, "evaluate an expression without being stopped", 0)
    else:
        screen.console().out(text, highlight=False)
    if not groups:
        return ExitCode.NO_WORKER
    # If the expression fails in every worker, the expression itself is wrong.
    return ExitCode.FAILED if all(group.error is not UNSET for group in groups) else ExitCode.DONE


def _write(path: str, text: str) -> None:
    """Write a file that the user has named. Raises ProblemError."""
    try:
        safe_files.write_output(path, text.encode())
    except OSError as error:
        raise file_not_written(path, error) from None


def _nothing(live: LiveSession, select: str | None, what: str, silent: int) -> int:
    """Print why there is no answer, and what would help. Return the exit code.

    `what` continues the sentence "No worker can". `silent` is the number of workers that did not answer.
    """
    paused = sum(entry.state == "paused" for entry in live.workers.values())
    alive = sum(entry.state == "alive" and not entry.agent for entry in live.workers.values())
    parts = [f"{paused} wait{'s' * (paused == 1)} at breakpoint()"] * (paused > 0)
    if silent:  # Workers without an agent are included if raydap has tried to read them from outside.
        parts.append(f"{silent} did not answer")
    elif alive:
        parts.append(f"{alive} run{'s' * (alive == 1)} without an agent")
    advice = (
        "`raydap debug` attaches to workers at breakpoint(). Start the program with `raydap run` to inspect its "
        "workers at any time."
    )
    if not live.workers:
        text = "No workers are running."
    elif select is not None:
        names = group_name(live.busy)
        text = f"No worker in this set can {what}. There are: {names or 'only idle workers'}. {advice}"
    else:
        text = f"No worker can {what}{': ' * bool(parts)}{' and '.join(parts)}. {advice}"
    screen.console(stderr=True).print(text)
    return ExitCode.NO_WORKER
