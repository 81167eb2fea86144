"""`raydap down`: ends the hub that `raydap up` started."""

import click

from raydap.cli import cluster_command, options
from raydap.hub import deploy


@click.command()
@options.dashboard
def down(dashboard: str | None) -> None:
    """Let the workers of the hub that `raydap up` started go, and end it."""
    raise SystemExit(cluster_command.run(dashboard, lambda rest: deploy.down(rest, click.echo)))
