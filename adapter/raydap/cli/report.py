"""The command `raydap report`, which watches a program or a job unattended and writes an HTML page."""

import os
import re
import sys
from dataclasses import replace
from typing import Any

import click

from raydap.cli import completing, options, signals, terminal_command
from raydap.client.launched_program import Program
from raydap.report.watch_arguments import Watch, WatchedLine, line, traced

_JOB = re.compile(r"[0-9a-f]{8}|raysubmit_\w+")


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--out",
    metavar="FILE",
    default="report.html",
    show_default=True,
    shell_complete=completing.files,
    help="Write the page to this file.",
)
@click.option(
    "--json",
    "data",
    metavar="FILE",
    shell_complete=completing.files,
    help="Also write the data of the page to this file, as JSON.",
)
@click.option(
    "--trace",
    metavar="FILE",
    shell_complete=completing.files,
    help="Write a Chrome trace, with the events of `ray timeline`.",
)
@click.option(
    "--break-at",
    "stops",
    metavar="FILE:LINE[ if CONDITION]",
    multiple=True,
    shell_complete=completing.files,
    help="Inspect each worker that reaches this line, and resume it immediately.",
)
@click.option(
    "--trace-at",
    "traces",
    metavar="FILE:LINE EXPRESSION",
    nargs=2,
    multiple=True,
    shell_complete=completing.files,
    help="Record the value of the expression each time a worker executes the line, without stopping.",
)
@click.option(
    "--watch",
    "watches",
    metavar="FILE:LINE EXPRESSION",
    nargs=2,
    multiple=True,
    shell_complete=completing.files,
    help="Record where the expression changes, or becomes true, in the function at this line.",
)
@click.option("--on-error", is_flag=True, help="Inspect tasks and actors that fail, and the driver if it fails.")
@click.option(
    "--every",
    metavar="DURATION",
    type=options.Duration(),
    help="Read the stacks of all workers at this interval, such as 30s or 5m.",
)
@click.option(
    "--limit",
    metavar="DURATION",
    type=options.Duration(),
    help="Stop watching after this time; the program keeps running.",
)
@click.option("--job", metavar="ID", help="Watch the running job with this job id or submission id.")
@click.option(
    "--reach",
    type=click.Choice(["prepared", "any", "paused"]),
    default="prepared",
    show_default=True,
    help="Which workers of a running job to reach.",
)
@options.python
@click.option("--module", "-m", is_flag=True, help="PROGRAM is a module, as for python -m.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing while the program runs.")
@terminal_command.session_options
@click.argument("program", metavar="[PROGRAM|JOB]", required=False, shell_complete=completing.files)
@click.argument("args", nargs=-1, type=click.UNPROCESSED, shell_complete=completing.files)
def report(
    out: str,
    data: str | None,
    trace: str | None,
    stops: tuple[str, ...],
    traces: tuple[tuple[str, str], ...],
    watches: tuple[tuple[str, str], ...],
    on_error: bool,
    every: float | None,
    limit: float | None,
    job: str | None,
    reach: str,
    python: str | None,
    module: bool,
    quiet: bool,
    program: str | None,
    args: tuple[str, ...],
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Run PROGRAM, or watch a running JOB, unattended, and write an HTML page about what happened.

    A worker is stopped only as long as it takes to inspect it. Without options the page contains the exit code, the
    output and the timeline. The exit code is the program's own; for a job it is 1 if the job has failed.

    \b
    Examples:
      raydap report --out report.html --on-error train.py --lr 0.1
      raydap report --break-at 'train.py:42 if loss > 10' train.py
      raydap report --trace-at train.py:42 loss --every 5m --job 02000000
      raydap report --watch train.py:42 'loss != loss' train.py
    """
    from raydap.report.report_files import ReportFiles
    from raydap.report.unattended import Reporting

    target = terminal_command.target(**named)
    watch = _watch(program, args, job, module, python, _lines(stops, traces), on_error, every, limit, reach)
    watch = replace(watch, watches=_watches(watches))
    if watch.program is not None and target.url is not None:
        raise click.UsageError("--connect works only with a job: a hub would run the program on its own machine.")
    files = ReportFiles(out, data, trace)

    async def run() -> int:
        # At a signal, Reporting writes the page and ends what it has started itself.
        return await Reporting(watch, target, files, signals.end_signal(), quiet).run()

    terminal_command.run(run(), log_file, verbose)


def _watch(
    program: str | None,
    args: tuple[str, ...],
    job: str | None,
    module: bool,
    python: str | None,
    lines: tuple[WatchedLine, ...],
    on_error: bool,
    every: float | None,
    limit: float | None,
    reach: str,
) -> Watch:
    """Return what to watch. Raises click.UsageError if the arguments exclude each other or name no existing file."""
    from raydap.runtime.program_files import interpreter_named

    mistake = "" if program is None or module else interpreter_named(program)
    if mistake:
        raise click.UsageError(f"{mistake}. To use another interpreter, give --python.")
    if (program is None) == (job is None):
        raise click.UsageError("Name a program or a running job: raydap report train.py, or raydap report --job ID.")
    if program is not None and not module and not os.path.exists(program):
        if not _JOB.fullmatch(program):
            raise click.UsageError(f'There is no file "{program}". To watch a job of this name, give --job {program}.')
        program, job = None, program
    launched = None
    if program is not None:
        launched = Program(program, args, module, python)
    elif args or module or python is not None:
        raise click.UsageError("For a running job, give no arguments, and neither --module nor --python.")
    command = ("raydap", *sys.argv[1:])
    return Watch(launched, job, lines, on_error, every, limit, reach, command)


def _watches(watches: tuple[tuple[str, str], ...]) -> tuple[WatchedLine, ...]:
    """Return the expressions to watch. Raises click.UsageError."""
    try:
        return tuple(traced(where, what) for where, what in watches)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _lines(stops: tuple[str, ...], traces: tuple[tuple[str, str], ...]) -> tuple[WatchedLine, ...]:
    """Return the lines to watch. Raises click.UsageError for a malformed line, or one that is watched twice."""
    try:
        breaks = [line(each) for each in stops]
        found = (*breaks, *(traced(where, what) for where, what in traces))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    stopping = [(each.file, each.line) for each in breaks]
    for each in found:
        place = each.file, each.line
        if place in stopping and (each.expression is not None or stopping.count(place) > 1):
            where = f"{os.path.basename(each.file)}:{each.line}"
            raise click.UsageError(f"{where} is given twice, but a line has only one breakpoint; use the next line.")
    return found
