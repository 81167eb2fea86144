"""The command `raydap status`: the hubs, sessions and clusters of this user on this machine."""

import os

import click

from raydap.cli import options, signals


@click.command()
@options.dashboard
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option("--follow", is_flag=True, help="Print only the addresses of your clusters, again after each change.")
def status(dashboard: str | None, as_json: bool, follow: bool) -> None:
    """Show your hubs, sessions and clusters on this machine, and their paused workers.

    Clusters of other users are listed, but raydap sends them no requests. A worker is stuck if nothing listens at its
    debug port. With --follow, raydap prints the list of addresses as a line of JSON until its standard input ends.

    \b
    Examples:
      raydap status
      raydap status --json
      raydap status --dashboard http://127.0.0.1:8265
    """
    if follow:
        from raydap.cluster.machine import own_clusters

        own_clusters.follow(options.print_result)
        return
    from raydap.hub import machine_status
    from raydap.terminal import screen, status_lines
    from raydap.terminal.progress import Progress

    async def look() -> machine_status.MachineStatus:
        with Progress.of_command().during("looking at this machine"):
            return await machine_status.look(dashboard, os.environ)

    found = signals.run(look())
    if as_json:
        screen.print_json(found)
    else:
        options.print_result(status_lines.render(found))
