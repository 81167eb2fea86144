"""Code that several commands share: types of arguments, options, the log, and printing for the user."""

import logging
import re

import click

from raydap import safe_output
from raydap.cli import completing
from raydap.presentation.durations import seconds_in

_PORT = re.compile(r"[0-9]{1,5}")

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Address(click.ParamType[tuple[str, int]]):
    """An argument HOST:PORT.

    Only `anywhere` allows addresses other than loopback, because each client there can run code in workers.
    """

    name = "HOST:PORT"

    def __init__(self, anywhere: bool = False) -> None:
        self._anywhere = anywhere

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the host, without brackets, and the port."""
        host, _, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not _PORT.fullmatch(port) or int(port) > 65535:
            self.fail(f'"{value}" is not HOST:PORT; write it like 127.0.0.1:5678.', param, ctx)
        if host not in LOOPBACK and not self._anywhere:
            text = f'"{host}" is not a loopback address; listen on 127.0.0.1 and forward the port by SSH.'
            self.fail(text, param, ctx)
        return host, int(port)


class Hold(click.ParamType[float | None]):
    """An argument for how long a hub holds workers after its last client has left."""

    name = "forever|SECONDS|no"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return seconds; None for `forever`, 0 for `no`."""
        if value == "forever":
            return None
        if value == "no":
            return 0.0
        if not value.isascii() or not value.isdecimal():
            self.fail(f'"{value}" is not a number of seconds; write it like 600, forever or no.', param, ctx)
        return float(value)


class Duration(click.ParamType[float]):
    """An argument for a duration, such as 30s, 5m or 1h."""

    name = "DURATION"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the duration in seconds."""
        try:
            return value if isinstance(value, float) else seconds_in(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


dashboard = click.option(
    "--dashboard", metavar="URL", help="The cluster; default: RAY_API_SERVER_ADDRESS, RAY_ADDRESS, or this machine's."
)
log_file = click.option(
    "--log-file",
    type=click.Path(dir_okay=False, writable=True),
    help="Write the log to this file, not to standard error.",
)
no_shared_files = click.option(
    "--no-shared-files",
    is_flag=True,
    help="Editors do not have the files of the hub's machine: read files without a path mapping from the workers.",
)
tls_ca = click.option(
    "--tls-ca",
    metavar="FILE",
    shell_complete=completing.files,
    help="Also trust the certificates in this PEM file, such as a self-signed one.",
)
token_file = click.option(
    "--token-file",
    metavar="FILE",
    shell_complete=completing.files,
    help="The hub's token is the first line of this file.",
)
python = click.option(
    "--python",
    metavar="FILE",
    shell_complete=completing.files,
    help="The program's interpreter; default: the one that runs raydap.",
)
worker_set = click.argument("select", metavar="[SET]", required=False, shell_complete=completing.sets)
verbose = click.option("--verbose", "-v", is_flag=True, help="Log every step, not only problems.")


def note(text: str) -> None:
    """Print a line for the user to standard error, which carries neither DAP nor results.

    Further lines, such as those of a worker's error, are indented, so that none looks like a line of raydap.
    """
    safe_output.line(re.sub("\n(?!  )", "\n  ", text), error=True)


def print_result(text: str) -> None:
    """Print a result to standard output."""
    safe_output.line(text)


def start_log(log_file: str | None, verbose: bool) -> None:
    """Write the log to `log_file`, or else to standard error: every step if `verbose`, else only problems.

    Raises click.BadParameter if the file cannot be written.
    """
    try:
        handler = logging.StreamHandler() if log_file is None else logging.FileHandler(log_file)
        handler.setFormatter(safe_output.LogFormatter("%(asctime)s %(levelname)s %(message)s"))
        logging.basicConfig(handlers=[handler], level=logging.INFO if verbose else logging.WARNING)
    except OSError as error:
        text = f'"{log_file}" cannot be written: {error.strerror}.'
        raise click.BadParameter(text, param_hint="--log-file") from None
