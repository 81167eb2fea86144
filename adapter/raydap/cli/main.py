"""The command `raydap`. Each of its commands has a file in this folder and an entry in SECTIONS."""

import errno
import gc
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

import raydap
from raydap.cli import standard_streams

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Inspect": {
        "ps": "List the workers: their state, what they run, where they are.",
        "stacks": "Show where all workers are, as one tree.",
        "eval": "Evaluate an expression in all workers.",
        "compare": "Compare the value of an expression in all workers.",
        "hang": "Show what each worker waits for, and find deadlocks.",
        "session": "Keep a session, so that these commands answer faster.",
        "status": "Show the hubs, sessions and clusters of this machine.",
    },
    "Debug": {
        "debug": "Debug a cluster or a program in the terminal.",
        "run": "Run a program that can be debugged at any time.",
        "prepare": "Print how to start jobs and clusters that raydap can debug.",
        "report": "Watch a program unattended and write an HTML report.",
        "doctor": "Find out what prevents debugging.",
    },
    "For editors": {
        "adapter": "Speak the Debug Adapter Protocol.",
        "connect": "Connect an editor to a hub.",
        "lsp": "Speak the Language Server Protocol.",
    },
    "For coding agents": {
        "mcp": "Speak the Model Context Protocol.",
        "skill": "Print instructions for agents that have a shell.",
    },
    "Hubs, for remote clusters": {
        "serve": "Start a hub on this machine.",
        "up": "Start a hub inside a cluster.",
        "down": "End the hub that `raydap up` started.",
    },
    "For your shell": {
        "completion": "Print the script that completes raydap's commands.",
    },
}
"""The summaries of commands in `raydap --help` and in shell completion, which need no import of a command."""

COMMANDS = sorted(name for section in SECTIONS.values() for name in section)

PLACES = {"compare": ("folded", "compare"), "eval": ("folded", "evaluate"), "stacks": ("folded", "stacks")}
PLACES |= {"run": ("run_program", "run"), "completion": ("completion_script", "completion")}
PLACES |= {"session": ("session_command", "session")}
"""The file and the function of each command that do not have the command's name.

A file's name is unique in the package, and similar commands share a file.
"""

GARBAGE_THRESHOLDS = (50_000, 20, 20)
"""For gc.set_threshold.

With Python's defaults and 10,000 workers, raydap spends most of its time in the search for reference cycles. It makes
few of them.
"""

COMPLETE_VARIABLE = "_RAYDAP_COMPLETE"
"""The environment variable that a shell sets when it completes a command line. The name is click's."""


class _Commands(click.Group):
    """The group of all commands. It imports a command's file only when needed, because some imports take long."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file, function = PLACES.get(cmd_name, (cmd_name, cmd_name))
        command = getattr(import_module(f"raydap.cli.{file}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        found = [
            CompletionItem(name, help=text)
            for section in SECTIONS.values()
            for name, text in section.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                standard_streams.flush()
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # click then exits quietly, as for `raydap ps | head`.
            raise click.ClickException(standard_streams.explain(error)) from None

    def main(self, *args: Any, **named: Any) -> Any:
        standard_streams.prepare()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        if COMPLETE_VARIABLE in os.environ:
            # The import registers the scripts of the shells with click.
            import_module("raydap.cli.shell_scripts")
        return super().main(*args, **named)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="[COMMAND] [ARGS]...",
)
@click.version_option(raydap.__version__, prog_name="raydap")
@click.pass_context
def main(context: click.Context) -> None:
    """One debug session for a whole Ray cluster.

    Without a command, raydap shows what runs on this machine and what to do next.

    \b
    Examples:
      raydap
      raydap debug
      raydap ps 'state:paused'
      raydap run train.py --lr 0.1
      raydap debug --help
    """
    if context.invoked_subcommand is None:
        from raydap.cli import terminal_command
        from raydap.terminal import overview

        terminal_command.run(overview.show(os.environ), None, False)
