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
    """Those in the command lines of all raylets."""
    for _, words in raylets(proc):
        folders = (word.partition("=")[2] for word in words if word.startswith("--session_dir="))
        yield from (folder for folder in folders if os.path.basename(folder) == session)


def raylets(proc: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders in /proc of this user's and root's raylets, and the words of their command lines.

    Another user can start any program with the command line of a raylet.
    """
    for name in os.listdir(proc) if proc.is_dir() else ():
        if not (name.isdigit() and _has_trusted_user(f"{proc}/{name}")):
            continue  # Another user's process can make reading its command line last forever.
        try:
            # A machine has thousands of processes, and a Path for each takes longer than to read it.
            with open(f"{proc}/{name}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")
        except OSError:
            continue  # It has ended, or is no process.
        if os.path.basename(words[0]) == "raylet" and _is_raylet(f"{proc}/{name}"):
            yield proc / name, words


def _has_trusted_user(process: str) -> bool:
    """Return whether a process, by its folder in /proc, belongs to this user or root.

    A program with the setuid bit also belongs to the user who has started it.
    """
    return {0, os.getuid()}.issuperset(user_ids(process) or {-1})


def _is_raylet(process: str) -> bool:
    """Return whether a process, by its folder in /proc, runs the program `raylet` (proc(5), /proc/PID/exe)."""
    try:
        return os.path.basename(os.readlink(f"{process}/exe")).partition(" ")[0] == "raylet"
    except PermissionError:
        return True  # It is root's.
    except OSError:
        return False


def user_ids(process: str) -> set[int]:
    """Return the real, effective and saved user ids of a process, by its folder in /proc; none if it has ended.

    The owner of the folder does not suffice: root owns that of a process that may not be traced (proc(5), /proc/PID).
    """
    try:
        with open(f"{process}/status", encoding="utf-8", errors="replace") as file:
            return {int(uid) for line in file if line.startswith("Uid:") for uid in line.split()[1:4]}
    except OSError:
        return set()
