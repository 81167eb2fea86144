"""The table of the debugger's commands, with one row for each."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from raydap.terminal.debugger import (
    breakpoint_commands,
    looking_commands,
    moving,
    pdb_commands,
    value_commands,
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
        _LOOK, ("where", "w", "bt"), "w(here)", "the stack; [SET] w: those of many, as one tree", looking_commands.where
    ),
    Command(_LOOK, ("up", "u"), "u(p) [COUNT]", "to the caller", looking_commands.up),
    Command(_LOOK, ("down", "d"), "d(own) [COUNT]", "back to what it has called", looking_commands.down),
    Command(
        _LOOK,
        ("list", "l"),
        "l(ist) [FIRST[, LAST] | .]",
        "source around the present line, and on",
        looking_commands.list_lines,
    ),
    Command(_LOOK, ("longlist", "ll"), "ll | longlist", "source of the whole function", looking_commands.long_list),
    Command(_LOOK, ("args", "a"), "a(rgs)", "the arguments of the function", looking_commands.args),
    Command(
        _LOOK, ("stacks",), "stacks [SET]", "the stacks of all that are stopped, as one tree", looking_commands.stacks
    ),
    Command(
        _LOOK,
        ("hang",),
        "hang [SET]",
        "what each worker waits for, from the driver down",
        looking_commands.hang,
        follows_focus=False,
    ),
    Command(_MOVE, ("next", "n"), "n(ext)", "to the next line", moving.next_line),
    Command(_MOVE, ("step", "s"), "s(tep)", "the same, into functions", moving.step_in),
    Command(_MOVE, ("return", "r"), "r(eturn)", "out of the function", moving.step_out),
    Command(_MOVE, ("until", "unt"), "unt(il) [LINE]", "to a line behind this one: out of a loop", moving.until),
    Command(_MOVE, ("continue", "cont", "c"), "c(ont(inue))", "run on, to the next stop", moving.go_on),
    Command(_MOVE, ("jump", "j"), "j(ump) LINE", "make another line the next one", moving.jump),
    Command(
        _MOVE,
        ("pause",),
        "pause [SET]",
        "stop those that run, where they are; Ctrl-C does it, too",
        worker_commands.pause,
        follows_focus=False,
    ),
    Command(_MOVE, ("wait",), "wait [SET] [SECONDS]", "wait until somebody stops", moving.wait, follows_focus=False),
    Command(_VALUES, ("p",), "p EXPRESSION", "its value; [SET] p: in many, equal ones together", value_commands.p),
    Command(_VALUES, ("pp",), "pp EXPRESSION", "the same, on several lines", value_commands.pp),
    Command(_VALUES, ("whatis",), "whatis EXPRESSION", "its type", value_commands.whatis),
    Command(
        _VALUES,
        ("compare",),
        "compare EXPRESSION",
        "values of any size in many, with what is different",
        value_commands.compare,
    ),
    Command(_VALUES, ("display",), "display [EXPRESSION]", "show it at each stop", value_commands.display),
    Command(_VALUES, ("undisplay",), "undisplay [EXPRESSION]", "no longer", value_commands.undisplay),
    Command(
        _BREAK,
        ("break", "b"),
        "b(reak) [FILE:]LINE | FUNCTION[, CONDITION]",
        "set a breakpoint in all workers; alone it lists them",
        breakpoint_commands.set_break,
    ),
    Command(_BREAK, ("tbreak",), "tbreak ...", "one that goes when it is hit", breakpoint_commands.set_temporary),
    Command(
        _BREAK, ("clear", "cl"), "cl(ear) [NUMBER ... | [FILE:]LINE]", "remove breakpoints", breakpoint_commands.clear
    ),
    Command(_BREAK, ("condition",), "condition NUMBER [CONDITION]", "when it stops", breakpoint_commands.condition),
    Command(
        _BREAK,
        ("barrier",),
        "barrier [[FILE:]LINE [16] [60s] | show | release]",
        "hold all until they have arrived; alone it says who waits",
        breakpoint_commands.barrier,
    ),
    Command(
        _WORKERS,
        ("workers",),
        "workers [SET]",
        "who runs, what, and where",
        worker_commands.workers,
        follows_focus=False,
    ),
    Command(
        _WORKERS,
        ("focus", "f"),
        "f(ocus) [SET]",
        "look at another worker, or at many",
        worker_commands.focus,
        follows_focus=False,
    ),
    Command(_WORKERS, ("attach",), "attach [SET]", "attach to workers", worker_commands.attach, follows_focus=False),
    Command(
        _WORKERS,
        ("detach",),
        "detach [SET]",
        "let workers run on without a debugger",
        worker_commands.detach,
        follows_focus=False,
    ),
    Command(
        _WORKERS,
        ("pdb",),
        "pdb [NUMBER | SET]",
        "join a breakpoint of Ray's old debugger (RAY_DEBUG=legacy); alone it lists them",
        pdb_commands.pdb,
        follows_focus=False,
    ),
    Command(_WORKERS, ("help", "h", "?"), "h(elp) [COMMAND]", "this", show_help),
    Command(_WORKERS, ("quit", "q", "exit"), "q(uit)", "leave; the workers run on", leave),
)

FOOTER = """\
[SET] COMMAND: the same for a set of workers, such as [actor:Trainer not rank:0], [Rollout 0-3] or [all].
Anything else is Python; ! before it makes it so. An empty line repeats the last command. Ctrl-C pauses or cancels."""

BY_NAME = {name: command for command in COMMANDS for name in command.names}
