"""The command `raydap run`: a program in the foreground that raydap can debug at any time, with all of its workers."""

import os
import sys

import click

from raydap.cli import completing, options


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--wait", is_flag=True, help="Wait to begin until a session has attached and set its breakpoints.")
@options.python
@click.option("--module", "-m", is_flag=True, help="PROGRAM is a module, as for python -m.")
@click.argument("program", shell_complete=completing.files)
@click.argument("args", nargs=-1, type=click.UNPROCESSED, shell_complete=completing.files)
def run(wait: bool, python: str | None, module: bool, program: str, args: tuple[str, ...]) -> None:
    """Run PROGRAM so that a session can attach to it and to all of its workers at any time.

    The program needs no breakpoint(). It is an ordinary process, which replaces the process of raydap.

    \b
    Examples:
      raydap run train.py --lr 0.1
      raydap run --wait train.py
      raydap run -m package.train
    """
    from raydap.errors import SWITCHED_OFF
    from raydap.runtime import prepared_environment
    from raydap.runtime.program_files import interpreter_named
    from raydap.transport import runtime_folder

    mistake = "" if module else interpreter_named(program)
    if mistake:
        raise click.UsageError(f"{mistake}. To use another interpreter, give --python.")
    try:
        folder = str(runtime_folder.directory()) if wait else ""
    except OSError as error:
        raise click.ClickException(f"raydap cannot use its folder for sockets: {error}.") from None
    if prepared_environment.is_off(os.environ):
        options.note(f"raydap: {program}: {SWITCHED_OFF}")
    elif wait:
        options.note(f"raydap: {program} (pid {os.getpid()}) waits until a session has attached; Ctrl-C ends it.")
    python = python or sys.executable
    command = [python, *(["-m"] if module else []), program, *args]
    try:
        os.execvpe(python, command, {**os.environ, **prepared_environment.driver(os.environ, "", folder, wait)})
    except OSError as error:
        raise click.ClickException(f"{python} cannot be run: {error.strerror}.") from None
