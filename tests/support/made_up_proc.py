"""Folders of processes as in /proc (proc(5)), with what raydap reads there."""

import os
from collections.abc import Sequence
from pathlib import Path


def add_process(
    proc: Path, pid: int, *words: str, uids: Sequence[int] | None = None, program: str = "/x/raylet"
) -> Path:
    """Add a process with the words of this command line; return its folder.

    `uids` are its real, effective, saved and filesystem user ids, those of this process by default. `program` is the
    executable, which can differ from the first argument.
    """
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes("\0".join(words).encode())
    ids = "\t".join(map(str, uids or 4 * [os.getuid()]))
    (folder / "status").write_text(f"Name:\t{words[0]}\nUid:\t{ids}\nGid:\t0\t0\t0\t0\n")
    (folder / "exe").symlink_to(program)
    return folder
