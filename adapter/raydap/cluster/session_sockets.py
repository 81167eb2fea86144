"""Finds the folder of this machine where the processes of a Ray session have their sockets."""

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path


def find(session: str, environ: Mapping[str, str] = os.environ, proc: Path = Path("/proc")) -> str:
    """The folder; "" if no node of the session runs here. `session` is its name, which no other cluster has.

    Ray's default is looked at first, and then the raylets' command lines, for `--temp-dir` (ray/_private/services.py,
    start_raylet). Reads files, so it does not belong into an event loop.
    """
    # ray/_common/utils.py, get_default_system_temp_dir.
    default = os.path.join(environ.get("RAY_TMPDIR") or "/tmp", "ray", session)
    for folder in chain((default,), _session_dirs(session, proc)):
        sockets = os.path.join(folder, "sockets")
        if os.path.isdir(sockets):
            return sockets
    return ""


def _session_dirs(session: str, proc: Path) -> Iterator[str]:
    """Those in the command lines of all raylets, of whichever user."""
    for _, words in raylets(proc):
        folders = (word.partition("=")[2] for word in words if word.startswith("--session_dir="))
        yield from (folder for folder in folders if os.path.basename(folder) == session)


def raylets(proc: Path) -> Iterator[tuple[Path, list[str]]]:
    """The folders of all raylets in /proc, of whichever user, and the words of their command lines."""
    for name in os.listdir(proc) if proc.is_dir() else ():
        try:
            # A machine has thousands of processes, and a Path for each takes longer than to read it.
            with open(f"{proc}/{name}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")
        except OSError:
            continue  # It has ended, or is no process.
        if os.path.basename(words[0]) == "raylet":
            yield proc / name, words
