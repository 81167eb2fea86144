"""The command `raydap`. It composes and decides nothing; what takes time to import is imported when it is needed."""

import click

import raydap
from raydap.cli import options
from raydap.cli.connect import connect
from raydap.cli.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(raydap.__version__, prog_name="raydap")
def main() -> None:
    """One debug session for a whole Ray cluster."""


@main.command()
@click.option("--listen", type=options.Address(), help="Serve DAP on this TCP address; port 0 takes a free one.")
@options.log_file
@options.verbose
def adapter(listen: tuple[str, int] | None, log_file: str | None, verbose: bool) -> None:
    """Speak the Debug Adapter Protocol, on standard input and output unless --listen is given."""
    from raydap.cli.adapter import run

    options.start_log(log_file, verbose)
    raise SystemExit(run(listen))


dashboard = click.option(
    "--dashboard", metavar="URL", help="The cluster; default: RAY_API_SERVER_ADDRESS, RAY_ADDRESS, this machine's."
)


@main.command()
@dashboard
@click.option(
    "--listen",
    type=options.Address(anywhere=True),
    default="127.0.0.1:0",
    show_default=True,
    help="The hub's address on the cluster's head node; port 0 takes a free one.",
)
@click.option(
    "--hold",
    metavar="forever|SECONDS|no",
    type=options.Hold(),
    default="forever",
    show_default=True,
    help="How long the hub keeps workers when its last client has gone.",
)
@click.option(
    "--shared-files/--no-shared-files",
    help="Whether editors have the files of the head node, under the same paths; default: no.",
)
@click.option("--pip/--no-pip", help="Have the cluster install what its Python lacks; default: no.")
@click.option("--python", default="python", show_default=True, help="The interpreter on the cluster.")
@click.option("--replace", is_flag=True, help="End the hub that runs there already, and start anew.")
def up(
    dashboard: str | None,
    listen: tuple[str, int],
    hold: float | None,
    shared_files: bool,
    pip: bool,
    python: str,
    replace: bool,
) -> None:
    """Start a hub inside a cluster, as a Ray job, and say how to reach it."""
    from raydap.cli.up import up
    from raydap.hub.deploy import Plan

    raise SystemExit(up(dashboard, Plan(listen, hold, shared_files, python, pip), replace))


@main.command()
@dashboard
def down(dashboard: str | None) -> None:
    """Let the workers of the hub that `raydap up` started go, and end it."""
    from raydap.cli.up import down

    raise SystemExit(down(dashboard))


main.add_command(serve)
main.add_command(connect)
