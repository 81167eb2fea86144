"""The table of the debugger's commands, with one row for each."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from raydap.terminal.debugger import (
    breakpoint_commands,
    looking_commands,
    moving,
    pdb_commands,
    reload_command,
    value_commands,
    watch_terminal,
    worker_commands,
)
from raydap.terminal.debugger.debugger import CommandError, Debugger

Handler = Callable[[Debugger, "str | None", str], Awaitable[None]]
"""A function that carries out a command. Raises CommandError and SessionError.

The second argument is the set, None for the thread that the user looks at. The third is the text after the name.
"""


class Leave(Exception):
    """The user leaves the debugger."""


class Command(NamedTuple):
    """A command of the debugger."""

    topic: str
    """The heading above the command in the list of `help`."""
    names: tuple[str, ...]
    """The names that the user can type."""
    usage: str
    """The syntax, as `help` shows it."""
    text: str
    """The explanation that `help` and the completion show."""
    handler: Handler
    """The function that carries out the command."""
    follows_focus: bool = True
    """Whether the command applies to the set of the focus if the line names no set."""


async def leave(debugger: Debugger, select: str | None, rest: str) -> None:
    """Raise Leave."""
    raise Leave


async def show_help(debugger: Debugger, select: str | None, rest: str) -> None:
    """Print the help of one command, or the list of all commands."""
    if rest:
        found = BY_NAME.get(rest)
        if found is None:
            raise CommandError(f"There is no command {rest}; `help` lists them.")
        debugger.out.text(f"{found.usage}\n{found.text}")
        return
    width = max(len(command.usage) for command in COMMANDS)
    for topic in dict.fromkeys(command.topic for command in COMMANDS):
        debugger.out.text(f"{topic}:", "bold")
        for command in COMMANDS:
            if command.topic == topic:
                debugger.out.text(f"  {command.usage.ljust(width)}  {command.text}")
    debugger.out.text(FOOTER)


_LOOK, _MOVE, _VALUES, _BREAK, _WORKERS = "Look", "Run", "Values", "Breakpoints", "Workers"

COMMANDS = (
    Command(
        _LOOK,
        ("where", "w", "bt"),
        "w(here)",
        "print the stack; [SET] w: the stacks of a set as one tree",
        looking_commands.where,
    ),
    Command(_LOOK, ("up", "u"), "u(p) [COUNT]", "move to the caller", looking_commands.up),
    Command(_LOOK, ("down", "d"), "d(own) [COUNT]", "move back to the called function", looking_commands.down),
    Command(
        _LOOK,
        ("list", "l"),
        "l(ist) [FIRST[, LAST] | .]",
        "print the source around the current line; again: the next lines",
        looking_commands.list_lines,
    ),
    Command(
        _LOOK, ("longlist", "ll"), "ll | longlist", "print the source of the whole function", looking_commands.long_list
    ),
    Command(_LOOK, ("args", "a"), "a(rgs)", "print the arguments of the function", looking_commands.args),
    Command(
        _LOOK,
        ("stacks",),
        "stacks [SET]",
        "print the stacks of all stopped threads as one tree",
        looking_commands.stacks,
    ),
    Command(
        _LOOK,
        ("hang",),
        "hang [SET]",
        "print what each worker waits for, starting at the driver",
        looking_commands.hang,
        follows_focus=False,
    ),
    Command(_MOVE, ("next", "n"), "n(ext)", "step to the next line", moving.next_line),
    Command(
        _MOVE,
        ("step", "s", "remote"),
        "s(tep) | remote",
        "step to the next line, into functions, tasks and methods of actors",
        moving.step_in,
    ),
    Command(
        _MOVE,
        ("return", "r", "get"),
        "r(eturn) | get",
        "step out of the function; of a task: to where its result is taken",
        moving.step_out,
    ),
    Command(_MOVE, ("until", "unt"), "unt(il) [LINE]", "run to a later line (out of a loop), or to LINE", moving.until),
    Command(_MOVE, ("continue", "cont", "c"), "c(ont(inue))", "resume, and wait for the next stop", moving.resume),
    Command(_MOVE, ("jump", "j"), "j(ump) LINE", "make LINE the next line to execute", moving.jump),
    Command(
        _MOVE,
        ("pause",),
        "pause [SET]",
        "stop running workers where they are; Ctrl-C does so, too",
        worker_commands.pause,
        follows_focus=False,
    ),
    Command(_MOVE, ("wait",), "wait [SET] [SECONDS]", "wait for the next stop", moving.wait, follows_focus=False),
    Command(
        _VALUES, ("p",), "p EXPRESSION", "print the value; [SET] p: the values in a set, grouped", value_commands.p
    ),
    Command(_VALUES, ("pp",), "pp EXPRESSION", "print the value on several lines", value_commands.pp),
    Command(_VALUES, ("whatis",), "whatis EXPRESSION", "print the type", value_commands.whatis),
    Command(
        _VALUES,
        ("compare",),
        "compare EXPRESSION",
        "compare values of any size in many workers",
        value_commands.compare,
    ),
    Command(
        _VALUES,
        ("display",),
        "display [EXPRESSION]",
        "print the value at each stop; alone: print all these values",
        value_commands.display,
    ),
    Command(
        _VALUES,
        ("undisplay",),
        "undisplay [EXPRESSION]",
        "stop printing the value at each stop; alone: all values",
        value_commands.undisplay,
    ),
    Command(
        _BREAK,
        ("break", "b"),
        "b(reak) [FILE:]LINE | FUNCTION[, CONDITION]",
        "set a breakpoint in all workers; alone: list the breakpoints",
        breakpoint_commands.set_break,
    ),
    Command(
        _BREAK,
        ("tbreak",),
        "tbreak ...",
        "set a breakpoint that is removed when it is hit",
        breakpoint_commands.set_temporary,
    ),
    Command(
        _BREAK, ("clear", "cl"), "cl(ear) [NUMBER ... | [FILE:]LINE]", "remove breakpoints", breakpoint_commands.clear
    ),
    Command(
        _BREAK,
        ("condition",),
        "condition NUMBER [CONDITION]",
        "change or remove the condition of a breakpoint",
        breakpoint_commands.condition,
    ),
    Command(
        _BREAK,
        ("barrier",),
        "barrier [[FILE:]LINE [16] [60s] | show | release]",
        "hold workers until all have arrived; alone: list the barriers",
        breakpoint_commands.barrier,
    ),
    Command(
        _BREAK,
        ("watch",),
        "watch [--log] [--hits N] [--at FILE:LINE] EXPRESSION",
        "stop after each line that changes the value, or makes it true: watch loss != loss; alone: list these",
        watch_terminal.watch,
    ),
    Command(
        _BREAK, ("unwatch",), "unwatch [NUMBER]", "stop watching an expression; alone: all", watch_terminal.unwatch
    ),
    Command(
        _WORKERS,
        ("workers",),
        "workers [SET]",
        "list the workers, their tasks and where they are",
        worker_commands.workers,
        follows_focus=False,
    ),
    Command(
        _WORKERS,
        ("focus", "f"),
        "f(ocus) [SET]",
        "switch to another worker, or to a set of workers",
        worker_commands.focus,
        follows_focus=False,
    ),
    Command(_WORKERS, ("attach",), "attach [SET]", "attach to workers", worker_commands.attach, follows_focus=False),
    Command(
        _WORKERS,
        ("detach",),
        "detach [SET]",
        "detach; the workers keep running without a debugger",
        worker_commands.detach,
        follows_focus=False,
    ),
    Command(
        _WORKERS,
        ("pdb",),
        "pdb [NUMBER | SET]",
        "join a breakpoint of Ray's old debugger (RAY_DEBUG=legacy); alone: join the only one, or list them",
        pdb_commands.pdb,
        follows_focus=False,
    ),
    Command(
        _WORKERS,
        ("reload",),
        "reload [FILE]",
        "give all workers the new code of a file; alone: of the file of this frame",
        reload_command.reload,
        follows_focus=False,
    ),
    Command(_WORKERS, ("help", "h", "?"), "h(elp) [COMMAND]", "print this help", show_help),
    Command(_WORKERS, ("quit", "q", "exit"), "q(uit)", "leave; the workers keep running", leave),
)

FOOTER = """\
[SET] COMMAND: run the command for a set of workers, such as [actor:Trainer not rank:0], [Rollout 0-3] or [all].
Any other line runs as Python, as does a line that begins with !. An empty line repeats the last command.
Ctrl-C pauses or cancels."""

BY_NAME = {name: command for command in COMMANDS for name in command.names}
