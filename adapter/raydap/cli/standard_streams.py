"""Standard input, output and error of a command: they may be closed, or on a full disk."""

import errno
import os
import sys
from contextlib import suppress
from typing import Any

_MODES = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))
"""The descriptors, their names in `sys`, and how each is opened if it is closed. Writing to standard output still
fails, because a command must not lose its result without an error."""

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of a write. Commands that write files handle theirs."""


def prepare() -> None:
    """Let no write to standard error fail, and open the standard descriptors that are closed.

    Otherwise a socket gets the number of a closed one, and raydap takes the one for the other. Programs that raydap
    starts do not inherit what is opened here.
    """
    for descriptor, name, flags in _MODES:
        try:
            os.fstat(descriptor)
        except OSError:
            if os.open(os.devnull, flags) == descriptor:  # It is the lowest free number.
                stream: Any = open(descriptor, "r" if name == "stdin" else "w", closefd=False)  # noqa: SIM115
                setattr(sys, name, stream)
    if not isinstance(sys.stderr, ErrorStream):
        stderr: Any = ErrorStream(sys.stderr)
        sys.stderr = stderr


class ErrorStream:
    """Standard error. It may be on a full disk: a failed write is no reason for a command to fail."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def flush() -> None:
    """Write what is left for standard output. Raises OSError."""
    with suppress(ValueError):  # A command has closed it.
        sys.stdout.flush()


def explain(error: OSError) -> str:
    """Return a sentence for an error that no part of a command has handled."""
    if error.errno is None:
        return str(error)
    reason = error.strerror
    if error.filename is None and error.errno in _UNWRITABLE:
        # Python would try again when it ends, and print another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return f"Standard output cannot be written: {reason}. Send it to another place."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"raydap cannot open another file or socket: {reason}. Raise the limit, as by `ulimit -n 1024`."
    try:
        os.getcwd()
    except FileNotFoundError:
        return "The current folder was removed. Change to another folder."
    if error.filename is None:
        return f"The system refused what raydap needs: {reason}."
    return f'"{error.filename}" cannot be used: {reason}.'
