"""Standard input, output and error of a command, which may be closed or on a full disk."""

import errno
import os
import sys
from contextlib import suppress
from typing import Any

_MODES = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))
"""Each standard descriptor, its name in `sys`, and the flags for opening it if it is closed.

Standard output is opened for reading, so that writing to it fails: a command must not lose its result without an error.
"""

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of writing to standard output. Commands that write files handle their own errors."""


def prepare() -> None:
    """Make writing to standard error never fail, and open the standard descriptors that are closed.

    Otherwise a socket could get the number of a closed descriptor, and raydap would use it as a standard stream.
    Programs that raydap starts do not inherit the descriptors that are opened here.
    """
    for descriptor, name, flags in _MODES:
        try:
            os.fstat(descriptor)
        except OSError:
            if os.open(os.devnull, flags) == descriptor:  # The system opens the lowest free number.
                stream: Any = open(descriptor, "r" if name == "stdin" else "w", closefd=False)  # noqa: SIM115
                setattr(sys, name, stream)
    if not isinstance(sys.stderr, ErrorStream):
        stderr: Any = ErrorStream(sys.stderr)
        sys.stderr = stderr


class ErrorStream:
    """Standard error that ignores failed writes, as on a full disk, because a command must not fail for them."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if possible, and return its length in any case."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream if possible."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def flush() -> None:
    """Write what is buffered for standard output. Raises OSError."""
    with suppress(ValueError):  # A command may have closed it.
        sys.stdout.flush()


def explain(error: OSError) -> str:
    """Return a sentence for the user about an error that the command has not handled."""
    if error.errno is None:
        return str(error)
    reason = error.strerror
    if error.filename is None and error.errno in _UNWRITABLE:
        # Otherwise Python would try to write again at exit, and print another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return f"Standard output cannot be written: {reason}. Redirect it to another file."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"raydap cannot open another file or socket: {reason}. Raise the limit, for example: `ulimit -n 1024`."
    try:
        os.getcwd()
    except FileNotFoundError:
        return "The current folder was removed. Change to another folder."
    if error.filename is None:
        return f"The operating system refused a request of raydap: {reason}."
    return f'"{error.filename}" cannot be used: {reason}.'
