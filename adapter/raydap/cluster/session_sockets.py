"""Finds the folder of this machine where the processes of a Ray session have their sockets."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path


def find(session: str, environ: Mapping[str, str] = os.environ, proc: Path = Path("/proc")) -> str:
    """The folder; "" if no node of the session runs here. `session` is its name, which no other cluster has.

    Ray's default is looked at first, and then the raylets' command lines, for `--temp-dir` (ray/_private/services.py,
    start_raylet). Reads files, so it does not belong into an event loop.
    """
    # ray/_common/utils.py, get_default_system_temp_dir.
    default = os.path.join(environ.get("RAY_TMPDIR") or "/tmp", "ray", session)
    for folder in (default, *_session_dirs(session, proc)):
        sockets = os.path.join(folder, "sockets")
        if os.path.isdir(sockets):
            return sockets
    return ""


def _session_dirs(session: str, proc: Path) -> list[str]:
    """Those in the command lines of all raylets, of whichever user."""
    found = []
    for _, words in raylets(proc):
        found += [word.partition("=")[2] for word in words if word.startswith("--session_dir=")]
    return [folder for folder in found if os.path.basename(folder) == session]


def raylets(proc: Path) -> Iterator[tuple[Path, list[str]]]:
    """The folders of all raylets in /proc, of whichever user, and the words of their command lines."""
    for path in proc.glob("[0-9]*/cmdline"):
        try:
            words = os.fsdecode(path.read_bytes()).split("\0")
        except OSError:
            continue  # It has ended.
        if os.path.basename(words[0]) == "raylet":
            yield path.parent, words
