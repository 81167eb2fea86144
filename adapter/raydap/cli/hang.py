"""The command `raydap hang`, which shows what each worker waits for."""

from typing import Any

import click

from raydap.cli import options, terminal_command


@click.command()
@options.worker_set
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@terminal_command.session_options
def hang(select: str | None, as_json: bool, log_file: str | None, verbose: bool, **named: Any) -> None:
    """Show what each worker waits for, from the driver down, and find deadlocks. No worker is stopped.

    The exit code is 4 if there is a deadlock.

    \b
    Examples:
      raydap hang
      raydap hang 'actor:Trainer rank:3'
    """
    from raydap.terminal import wait_tree

    target = terminal_command.target(**named)
    terminal_command.run(wait_tree.show(target, select, as_json), log_file, verbose)
