"""The command `raydap`. A command is one file here, and has an entry in COMMANDS."""

from importlib import import_module

import click

import raydap

COMMANDS = ["adapter", "compare", "connect", "debug", "doctor", "down", "eval", "hang", "lsp", "prepare", "ps"]
COMMANDS += ["report", "run", "serve", "stacks", "status", "up"]

PLACES = {"compare": ("folded", "compare"), "eval": ("folded", "evaluate"), "stacks": ("folded", "stacks")}
PLACES |= {"run": ("run_program", "run")}
"""The file and the function of a command, where they have other names than the command: a file's name is unique in the
package, and commands that are alike share one."""


class _Commands(click.Group):
    """Imports the file of a command when it is needed, because some of their imports take long."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file, function = PLACES.get(cmd_name, (cmd_name, cmd_name))
        command = getattr(import_module(f"raydap.cli.{file}"), function)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(raydap.__version__, prog_name="raydap")
def main() -> None:
    """One debug session for a whole Ray cluster."""
