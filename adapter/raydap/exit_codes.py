"""The exit codes of commands (docs/usage/command-line.md)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code of raydap's own, with one meaning in all commands.

    A command that launches a program ends with the program's exit code, which can be any number.
    """

    DONE = 0
    """The command succeeded."""
    FAILED = 1
    """The command failed, or it found a failure, such as a failed job or a warning of `raydap doctor`."""
    USAGE = 2
    """The arguments are wrong."""
    NO_WORKER = 3
    """No worker is in the set, or none answers."""
    DEADLOCK = 4
    """`raydap hang` found a deadlock."""
    INTERRUPTED = 130
    """Ctrl-C ended the command."""
