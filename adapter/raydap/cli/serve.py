"""The command `raydap serve`: one hub near the cluster, for editors elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from raydap.cli import completing, options, system_limits
from raydap.cli.options import Address, Hold

if TYPE_CHECKING:
    from raydap.hub.server import ServerOptions


@click.command()
@click.option("--dashboard", metavar="URL", help="The cluster's dashboard; by default the first client chooses it.")
@click.option(
    "--listen",
    type=Address(anywhere=True),
    default="127.0.0.1:0",
    show_default=True,
    help="Serve on this address; port 0 chooses a free one.",
)
@click.option(
    "--token-file", metavar="FILE", shell_complete=completing.files, help="The token is the first line of this file."
)
@click.option("--token-sha256", metavar="HEX", help="The token's SHA-256 digest.")
@click.option(
    "--no-token",
    is_flag=True,
    help="Require no token; only on loopback, where other users of this machine cannot connect.",
)
@click.option(
    "--connection-file", type=click.Path(dir_okay=False), help="Write the address and the token to this file."
)
@click.option(
    "--hold",
    metavar="forever|SECONDS|no",
    type=Hold(),
    default="forever",
    show_default=True,
    help="How long to hold stopped workers after the last client has left.",
)
@click.option(
    "--once",
    is_flag=True,
    help="End when the last client has left. Clients that attach to no worker, observe or join do not count.",
)
@click.option(
    "--tls-cert", metavar="FILE", shell_complete=completing.files, help="Serve TLS, with this certificate (PEM)."
)
@click.option("--tls-key", metavar="FILE", shell_complete=completing.files, help="The certificate's key (PEM).")
@click.option(
    "--allow-host", "names", metavar="NAME", multiple=True, help="Also accept this host name in WebSocket requests."
)
@click.option(
    "--relay",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to reach workers through Ray if their ports cannot be reached.",
)
@options.no_shared_files
@options.log_file
@options.verbose
def serve(
    dashboard: str | None,
    listen: tuple[str, int],
    token_file: str | None,
    token_sha256: str | None,
    no_token: bool,
    connection_file: str | None,
    hold: float | None,
    once: bool,
    tls_cert: str | None,
    tls_key: str | None,
    names: tuple[str, ...],
    relay: Literal["auto", "always", "never"],
    no_shared_files: bool,
    log_file: str | None,
    verbose: bool,
) -> None:
    """Serve DAP to remote editors on one port, and hold stopped workers while no editor is connected.

    Editors connect over TCP or WebSocket.

    \b
    Examples:
      raydap serve
      raydap serve --listen 127.0.0.1:4711 --hold 600
      raydap serve --dashboard http://127.0.0.1:8265 --once
    """
    if sum((token_file is not None, token_sha256 is not None, no_token)) > 1:
        raise click.UsageError("Give only one of --token-file, --token-sha256 and --no-token.")
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("Give both --tls-cert and --tls-key, or neither.")
    import asyncio

    from raydap.cli.signals import end_signal
    from raydap.core.settings import AttachSettings, HubSettings
    from raydap.hub import hub_token, server
    from raydap.hub.server import ServerOptions, StartRefused

    options.start_log(log_file, verbose)
    system_limits.warn()

    async def run(server_options: ServerOptions) -> None:
        await server.serve(server_options, end_signal(), options.note)

    try:
        token = digest = None
        if token_sha256 is not None:
            digest = token_sha256.strip().lower()
            if not hub_token.is_digest(digest):
                raise click.BadParameter("it is not a SHA-256 digest in hex.", param_hint="--token-sha256")
        elif not no_token:
            token = hub_token.new() if token_file is None else hub_token.read(token_file)
            digest = hub_token.digest(token)
        settings = AttachSettings(dashboard=dashboard)
        server_options = ServerOptions(
            *listen,
            hub_settings=HubSettings(settings, hold, relay, shared_files=not no_shared_files),
            digest=digest,
            token=token,
            has_own_token=token is not None and token_file is None,
            print_token=sys.stderr.isatty(),
            # With only a digest there is no token for the user's runtime folder: the token stays where it was made.
            write_connection_file=token_sha256 is None or connection_file is not None,
            connection_file=None if connection_file is None else Path(connection_file),
            names=names,
            once=once,
            tls=server.tls_context(tls_cert, tls_key) if tls_cert is not None and tls_key is not None else None,
        )
        asyncio.run(run(server_options))
    except (StartRefused, hub_token.TokenError) as refused:
        options.note(str(refused))
        raise SystemExit(1) from None
