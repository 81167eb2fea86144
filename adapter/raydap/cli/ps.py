"""The command `raydap ps`, which lists the workers of a cluster."""

from typing import Any

import click

from raydap.cli import options, terminal_command


@click.command()
@options.worker_set
@click.option("--all", "-a", "include_idle", is_flag=True, help="Also list idle workers.")
@click.option("--watch", "-w", is_flag=True, help="Keep running, and print each change.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@terminal_command.session_options
def ps(
    select: str | None,
    include_idle: bool,
    watch: bool,
    as_json: bool,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """List the workers: their state, what they run, and where they are. No worker is stopped.

    \b
    Examples:
      raydap ps
      raydap ps 'actor:Rollout* state:paused'
      raydap ps --watch
    """
    from raydap.terminal import process_list

    if watch and as_json:
        raise click.UsageError("--watch and --json cannot be combined: JSON is a single list.")

    target = terminal_command.target(**named)
    terminal_command.run(process_list.show(target, select, include_idle, as_json, watch), log_file, verbose)
