"""The command `raydap down`, which ends the hub that `raydap up` started."""

import click

from raydap.cli import options


@click.command()
@options.dashboard
def down(dashboard: str | None) -> None:
    """End the hub that `raydap up` started. The hub detaches from its workers first.

    \b
    Examples:
      raydap down
      raydap down --dashboard http://127.0.0.1:8265
    """
    from raydap.cli import cluster_command
    from raydap.hub import deploy

    raise SystemExit(cluster_command.run(dashboard, lambda rest: deploy.down(rest, options.print_result)))
