"""The command `raydap session`, which keeps a debug session for the commands that look at a cluster."""

import click

from raydap.cli import options, terminal_command

_idle = click.option(
    "--idle",
    metavar="DURATION",
    type=options.Duration(),
    default="30m",
    show_default=True,
    help="End after this time unused.",
)


@click.group()
def session() -> None:
    """Keep a debug session in the background, so that ps, stacks, hang, eval and compare answer at once.

    It attaches to no worker. Without it, each of these commands starts a session of its own, unless an editor or a hub
    debugs the cluster.

    \b
    Examples:
      raydap session start
      raydap session start --dashboard http://127.0.0.1:8265 --idle 2h
      raydap session end
    """


@session.command()
@options.dashboard
@_idle
def start(dashboard: str | None, idle: float) -> None:
    """Start a session in the background, unless there is one for this cluster.

    \b
    Examples:
      raydap session start
      raydap session start --idle 2h
    """
    from raydap.terminal import kept_session

    terminal_command.run(kept_session.start(dashboard, idle), None, False)


@session.command()
@options.dashboard
def end(dashboard: str | None) -> None:
    """End the kept session of this cluster, or of all clusters.

    \b
    Examples:
      raydap session end
      raydap session end --dashboard http://127.0.0.1:8265
    """
    from raydap.terminal import kept_session

    terminal_command.run(kept_session.end(dashboard), None, False)


@session.command(hidden=True)
@options.dashboard
@_idle
@options.log_file
@options.verbose
def keep(dashboard: str | None, idle: float, log_file: str | None, verbose: bool) -> None:
    """Keep a session, in the process that `start` starts."""
    from raydap.terminal import kept_session

    options.start_log(log_file, verbose)
    terminal_command.run(kept_session.keep(dashboard, idle), log_file, True)
