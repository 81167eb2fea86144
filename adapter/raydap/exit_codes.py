"""The exit codes of commands, which docs/usage/command-line.md explains."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Each code has one meaning in all commands. A program that a command launches may end with any code."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NO_WORKER = 3
    DEADLOCK = 4
    INTERRUPTED = 130
