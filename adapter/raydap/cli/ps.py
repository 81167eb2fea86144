"""The command `raydap ps`, which lists the workers of a cluster."""

from typing import Any

import click

from raydap.cli import options, terminal_command


@click.command()
@options.worker_set
@click.option("--all", "-a", "everybody", is_flag=True, help="Idle workers, too.")
@click.option("--watch", "-w", is_flag=True, help="Stay, and show each change.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@terminal_command.session_options
def ps(
    select: str | None, everybody: bool, watch: bool, as_json: bool, log_file: str | None, verbose: bool, **named: Any
) -> None:
    """List the workers: their state, what they run, and where they are. Nothing is stopped for it.

    \b
    Examples:
      raydap ps
      raydap ps 'actor:Rollout* state:paused'
      raydap ps --watch
    """
    from raydap.terminal import process_list

    if watch and as_json:
        raise click.UsageError("--watch and --json exclude each other: JSON is one list.")

    target = terminal_command.target(**named)
    terminal_command.run(process_list.show(target, select, everybody, as_json, watch), log_file, verbose)
