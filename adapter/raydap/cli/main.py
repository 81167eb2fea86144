"""The command `raydap`. It composes and decides nothing; what takes time to import is imported when it is needed."""

import click

import raydap
from raydap.cli import options


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
