"""The command `raydap debug`: an interactive debugger for the terminal."""

import os
from typing import Any

import click

from raydap.cli import completing, options, terminal_command
from raydap.client.launched_program import Program


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@terminal_command.session_options
@click.option("--module", "-m", is_flag=True, help="PROGRAM is a module, as for python -m.")
@options.python
@click.option("--all-code", is_flag=True, help="Stop and step in libraries, too.")
@click.argument(
    "what",
    metavar="[SET | PROGRAM [ARGS]...]",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=completing.set_or_program,
)
def debug(
    what: tuple[str, ...],
    module: bool,
    python: str | None,
    all_code: bool,
    log_file: str | None,
    verbose: bool,
    **named: Any,
) -> None:
    """Debug the workers of a cluster, with the commands of pdb; or launch PROGRAM, as python -m pdb does.

    Attaches to each worker that waits at breakpoint(), now and later. With a SET, attaches only to the workers in it.

    \b
    Examples:
      raydap debug
      raydap debug 'actor:Rollout*'
      raydap debug train.py --lr 0.1
    """
    from raydap.runtime.program_files import interpreter_named
    from raydap.terminal.debugger.interactive import Interactive

    target = terminal_command.target(**named)
    program = None
    if module or (what and what[0].endswith(".py") and os.path.isfile(what[0])):
        if not what:
            raise click.UsageError("--module needs the name of a module.")
        program = Program(what[0] if module else os.path.abspath(what[0]), what[1:], module, python)
    elif what and what[0].endswith(".py") and ":" not in what[0]:
        # This is a mistyped name of a program, not a set.
        raise click.UsageError(f'There is no file "{what[0]}".')
    elif len(what) > 1 and (mistake := interpreter_named(what[0])):
        raise click.UsageError(f"{mistake}. To use another interpreter, give --python.")
    elif len(what) > 1:
        text = f'There is no program "{what[0]}" here. If it begins a set of several words, put the set in quotes.'
        raise click.UsageError(text)
    work = Interactive(target, what[0] if what and program is None else None, program, all_code)
    terminal_command.run(work.run(), log_file, verbose)
