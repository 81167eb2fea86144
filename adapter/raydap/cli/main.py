"""The command `raydap`. It composes and decides nothing."""

import logging

import click

import raydap


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(raydap.__version__, prog_name="raydap")
def main() -> None:
    """One debug session for a whole Ray cluster."""


class Address(click.ParamType[tuple[str, int]]):
    """HOST:PORT on this machine. Whoever connects can run code in every worker, hence nothing but loopback."""

    name = "HOST:PORT"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        host, _, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
            self.fail(f'"{value}" is not HOST:PORT; write it like 127.0.0.1:5678.', param, ctx)
        if host not in ("127.0.0.1", "localhost", "::1"):
            text = f'"{host}" is not a loopback address; listen on 127.0.0.1 and forward the port by SSH.'
            self.fail(text, param, ctx)
        return host, int(port)


@main.command()
@click.option("--listen", type=Address(), help="Serve DAP on this TCP address; port 0 takes a free one.")
@click.option("--log-file", type=click.Path(dir_okay=False, writable=True), help="Write the log there, not to stderr.")
@click.option("--verbose", "-v", is_flag=True, help="Log every step, not only problems.")
def adapter(listen: tuple[str, int] | None, log_file: str | None, verbose: bool) -> None:
    """Speak the Debug Adapter Protocol, on standard input and output unless --listen is given."""
    from raydap.cli.adapter import run

    try:
        logging.basicConfig(
            filename=log_file,
            format="%(asctime)s %(levelname)s %(message)s",
            level=logging.INFO if verbose else logging.WARNING,
        )
    except OSError as error:
        text = f'"{log_file}" cannot be written: {error.strerror}.'
        raise click.BadParameter(text, param_hint="--log-file") from None
    raise SystemExit(run(listen))
