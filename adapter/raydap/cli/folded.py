"""The commands `raydap stacks`, `eval` and `compare`, for the stacks of many workers and the value of an expression."""

from collections.abc import Callable
from typing import Any

import click

from raydap.cli import completing, options, terminal_command


@click.command()
@options.worker_set
@click.option("--locals", "has_locals", is_flag=True, help="Also show the local variables of the innermost frames.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option("--folded", is_flag=True, help="Print folded stacks, for flame graphs and speedscope.")
@click.option("--svg", metavar="FILE", shell_complete=completing.files, help="Write an SVG picture to this file.")
@terminal_command.session_options
def stacks(
    select: str | None,
    has_locals: bool,
    as_json: bool,
    folded: bool,
    svg: str | None,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Show the stacks of all workers as one tree, with the rarest stacks first. No worker is stopped.

    \b
    Examples:
      raydap stacks
      raydap stacks 'actor:Trainer not rank:0' --locals
      raydap stacks --svg stacks.svg
    """
    from raydap.terminal import folded_answers

    if sum((as_json, folded, svg is not None)) > 1:
        raise click.UsageError("Give only one of --json, --folded and --svg.")
    target = terminal_command.target(**named)
    terminal_command.run(folded_answers.stacks(target, select, has_locals, as_json, folded, svg), log_file, verbose)


def _arguments(command: Callable[..., None]) -> Callable[..., None]:
    for add in (
        terminal_command.session_options,
        click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs."),
        click.option(
            "--timeout", metavar="SECONDS", type=float, default=5.0, show_default=True, help="Limit for each worker."
        ),
        options.worker_set,
        click.argument("expression"),
    ):
        command = add(command)
    return command


@click.command("eval")
@_arguments
def evaluate(
    expression: str,
    select: str | None,
    timeout: float,
    as_json: bool,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Evaluate EXPRESSION in all workers that are stopped, wait at breakpoint() or have an agent.

    Equal answers share a line. No worker is stopped or resumed: the expression is evaluated in another thread, with the
    variables of the innermost frame of your code.

    \b
    Examples:
      raydap eval 'self.step'
      raydap eval 'len(self.buffer)' 'actor:Rollout*'
    """
    from raydap.terminal import folded_answers

    target = terminal_command.target(**named)
    terminal_command.run(folded_answers.evaluate(target, expression, select, timeout, as_json), log_file, verbose)


@click.command()
@_arguments
def compare(
    expression: str,
    select: str | None,
    timeout: float,
    as_json: bool,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Compare the value of EXPRESSION in all workers that are stopped, wait at breakpoint() or have an agent.

    The value can have any size. Numbers are shown as a histogram with the workers at both ends, containers by their
    differences, and arrays by shape and statistics.

    \b
    Examples:
      raydap compare 'self.loss'
      raydap compare 'self.model.state_dict()' 'actor:Trainer'
    """
    from raydap.terminal import folded_answers

    target = terminal_command.target(**named)
    terminal_command.run(folded_answers.compare(target, expression, select, timeout, as_json), log_file, verbose)
