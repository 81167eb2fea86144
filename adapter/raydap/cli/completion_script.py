"""The command `raydap completion`, which prints a script that makes a shell complete raydap's commands."""

import click
from click.shell_completion import get_completion_class

from raydap import safe_output
from raydap.cli import shell_scripts

assert shell_scripts, "It gives click the scripts."


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete commands, options, sets of workers and files of raydap.

    In bash (4.4 or newer), add this line to ~/.bashrc:

    \b
      eval "$(raydap completion bash)"

    In zsh, add this line to ~/.zshrc, below the line with compinit:

    \b
      eval "$(raydap completion zsh)"

    In fish, write the script to a file:

    \b
      mkdir -p ~/.config/fish/completions
      raydap completion fish > ~/.config/fish/completions/raydap.fish

    \b
    Examples:
      raydap completion bash
      raydap completion zsh
      raydap completion fish
    """
    from raydap.cli.main import COMPLETE_VARIABLE, main

    found = get_completion_class(shell)
    assert found is not None
    safe_output.piece(found(main, {}, "raydap", COMPLETE_VARIABLE).source())
