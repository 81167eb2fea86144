"""The command `raydap mcp`, the server for coding agents."""

import os
import sys
from typing import Any

import click

from raydap.cli import options, terminal_command
from raydap.exit_codes import ExitCode

INSTALL = "raydap mcp needs the package mcp: python -m pip install 'raydap[mcp]'"


@click.command()
@click.option("--read-only", is_flag=True, help="Offer only tools that neither stop nor change anything.")
@click.option("--allow-code", is_flag=True, help="Execute statements, too, not only expressions.")
@click.option("--show-secrets", is_flag=True, help="Do not mask passwords, tokens and keys.")
@click.option(
    "--print-config",
    type=click.Choice(["claude", "codex", "cursor", "vscode"]),
    help="Print the configuration for this client, with the other options, and end.",
)
@terminal_command.session_options
def mcp(
    read_only: bool,
    allow_code: bool,
    show_secrets: bool,
    print_config: str | None,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Serve coding agents by the Model Context Protocol (MCP) on standard input and output.

    The agent joins the debug session of an editor or a hub if there is one for this cluster, else it gets one of its
    own. At the end, its breakpoints are removed, and the workers continue.

    \b
    Examples:
      raydap mcp --print-config claude
      raydap mcp --read-only
      raydap mcp --connect ws://127.0.0.1:5679
    """
    target = terminal_command.target(**named)
    if print_config is not None:
        from raydap.mcp_server.registration import config

        flags = {"--read-only": read_only, "--allow-code": allow_code, "--show-secrets": show_secrets}
        # The client starts the server in another folder.
        paths = {"--token-file": named["token_file"], "--tls-ca": named["tls_ca"], "--log-file": log_file}
        values = {"--dashboard": named["dashboard"], "--connect": named["connect"]}
        values |= {name: None if path is None else os.path.abspath(path) for name, path in paths.items()}
        given = [name for name, is_set in {**flags, "--verbose": verbose}.items() if is_set]
        given += [word for name, value in values.items() if value is not None for word in (name, value)]
        options.print_result(config(print_config, given))
        return
    try:
        from raydap.mcp_server import tool_server
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types", "anyio"):
            raise
        options.note(INSTALL)
        sys.exit(ExitCode.FAILED)
    from raydap.mcp_server.mcp_options import McpOptions

    allowed = McpOptions(show_secrets=show_secrets, allow_code=allow_code, read_only=read_only)
    terminal_command.run(tool_server.serve(target, allowed), log_file, verbose)
