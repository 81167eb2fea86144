"""The command `raydap`. A command is one file here, and has an entry in COMMANDS."""

from importlib import import_module

import click

import raydap

COMMANDS = ("adapter", "connect", "down", "lsp", "prepare", "run", "serve", "status", "up")

MODULES = {"run": "run_program"}
"""The files that have another name than their command, because a name is unique in the package."""


class _Commands(click.Group):
    """Imports the file of a command when it is needed, because some of their imports take long."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"raydap.cli.{MODULES.get(cmd_name, cmd_name)}"), cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(raydap.__version__, prog_name="raydap")
def main() -> None:
    """One debug session for a whole Ray cluster."""
