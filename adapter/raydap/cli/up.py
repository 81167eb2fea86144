"""The command `raydap up`: a hub inside a cluster, for a machine that reaches only its dashboard."""

import click

from raydap.cli import options


@click.command()
@options.dashboard
@click.option(
    "--listen",
    type=options.Address(anywhere=True),
    default="127.0.0.1:0",
    show_default=True,
    help="The hub's address on the cluster's head node; port 0 chooses a free one.",
)
@click.option(
    "--hold",
    metavar="forever|SECONDS|no",
    type=options.Hold(),
    default="forever",
    show_default=True,
    help="How long the hub holds stopped workers after its last client has left.",
)
@click.option(
    "--shared-files/--no-shared-files",
    help="Whether editors have the files of the head node, under the same paths; default: no.",
)
@click.option("--pip/--no-pip", help="Let the cluster install the packages that its Python lacks; default: no.")
@click.option("--python", default="python", show_default=True, help="The interpreter on the cluster.")
@click.option("--replace", is_flag=True, help="End the hub that already runs there, and start a new one.")
def up(
    dashboard: str | None,
    listen: tuple[str, int],
    hold: float | None,
    shared_files: bool,
    pip: bool,
    python: str,
    replace: bool,
) -> None:
    """Start a hub inside a cluster, as a Ray job, and print how to reach it.

    \b
    Examples:
      raydap up
      raydap up --dashboard http://127.0.0.1:8265 --pip
      raydap up --listen 127.0.0.1:4711 --replace
    """
    from raydap.cli import cluster_command
    from raydap.hub import deploy
    from raydap.hub.hub_job import HubJobOptions

    job = HubJobOptions(listen, hold, shared_files, python, pip)
    # Ctrl-C stops the job if the hub does not serve yet.
    code = cluster_command.run(
        dashboard, lambda rest: deploy.up(rest, job, replace, options.print_result, options.note)
    )
    raise SystemExit(code)
