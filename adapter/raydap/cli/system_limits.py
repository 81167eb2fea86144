"""Warnings about limits of the system that make raydap miss workers: too few descriptors, no /proc."""

import os
import resource
import sys
from collections.abc import Iterator

from raydap.cli import options

FEW_DESCRIPTORS = 64
"""The fewest descriptors for which raydap does not warn.

With fewer, `raydap ps` does not find where four workers are. Each worker of a session needs one or two more.
"""


def warn() -> None:
    """Print each warning to standard error. `raydap run` prints none, because its standard error is the program's."""
    for text in warnings():
        options.note(text)


def warnings(proc: str = "/proc") -> Iterator[str]:
    """Yield a sentence with what to do for each limit that is too low. `proc` is another folder in tests."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < FEW_DESCRIPTORS:
        yield (
            f"raydap may open only {limit} files and sockets, so it can miss workers; "
            "raise the limit, for example: `ulimit -n 1024`."
        )
    if sys.platform == "linux" and not os.path.exists(f"{proc}/self/status"):
        yield "/proc is not mounted, so raydap cannot inspect the processes of this machine; mount it."
