"""The command `raydap ps`, which lists the workers of a cluster."""

from typing import Any

import click

from raydap.cli import options, terminal_command


@click.command()
@options.worker_set
@click.option("--all", "-a", "include_idle", is_flag=True, help="Also list idle workers; one row for each worker.")
@click.option("--each", is_flag=True, help="Print one row for each worker. By default, equal rows are one.")
@click.option("--watch", "-w", is_flag=True, help="Keep running, and print each change.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@terminal_command.session_options
def ps(
    select: str | None,
    include_idle: bool,
    each: bool,
    watch: bool,
    as_json: bool,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """List the workers: their state, what they run, and where they are. No worker is stopped.

    Workers that are in the same state at the same place share a row, with their number in the column COUNT.

    \b
    Examples:
      raydap ps
      raydap ps 'actor:Rollout* state:paused'
      raydap ps --each
      raydap ps --watch
    """
    from raydap.terminal import process_output

    if watch and as_json:
        raise click.UsageError("--watch and --json cannot be combined: JSON is a single list.")

    target = terminal_command.target(**named)
    choices = process_output.Choices(include_idle=include_idle, as_json=as_json, watch=watch, each=each)
    terminal_command.run(process_output.show(target, select, choices), log_file, verbose)
