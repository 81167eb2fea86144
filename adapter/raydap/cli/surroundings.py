"""What is wrong around raydap that would let it miss workers: too few descriptors, no /proc."""

import os
import resource
import sys
from collections.abc import Iterator

from raydap.cli import options

FEW_DESCRIPTORS = 64
"""With fewer, `raydap ps` finds no places of four workers; each worker of a session needs one or two more."""


def note_problems() -> None:
    """Write a line to standard error for each problem. `raydap run` does not: there standard error is the program's."""
    for text in problems():
        options.note(text)


def problems(proc: str = "/proc") -> Iterator[str]:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < FEW_DESCRIPTORS:
        yield (
            f"raydap may open only {limit} files and sockets, and misses workers if it needs more; "
            "raise the limit, as by `ulimit -n 1024`."
        )
    if sys.platform == "linux" and not os.path.exists(f"{proc}/self/status"):
        yield "/proc is not mounted here, so raydap cannot see what processes of this machine do; mount it."
