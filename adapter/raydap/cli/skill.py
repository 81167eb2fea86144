"""The command `raydap skill`, which prints instructions for coding agents that have a shell."""

from pathlib import Path

import click

from raydap.cli import options


@click.command()
def skill() -> None:
    """Print instructions for coding agents that have a shell, in the form of a skill.

    They say which command answers which question. Write them to a file where your agent looks for skills.

    \b
    Examples:
      raydap skill
      raydap skill --help
    """
    options.print_result(Path(__file__).with_suffix(".md").read_text(encoding="utf-8").rstrip())
