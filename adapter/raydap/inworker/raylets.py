"""Finds the raylets of this machine, and reads facts about their clusters from their command lines.

Ray starts raylets in ray/_private/services.py, start_raylet. All functions read files, so they must not be called in an
event loop. The text of this module also runs in the drivers of jobs, where raydap need not be installed
(prepared_job.py).
"""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def sockets_folder(session: str, environ: Mapping[str, str] = os.environ, proc: Path = PROC) -> str:
    """Return the folder of this machine where the processes of a Ray session have their sockets.

    `session` is the name of the session, which no other cluster has. Return "" if no node of the session runs here.
    """
    # Ray's default, without `--temp-dir` (ray/_common/utils.py, get_default_system_temp_dir).
    default = os.path.join(environ.get("RAY_TMPDIR") or "/tmp", "ray", session, "sockets")
    if os.path.isdir(default):
        return default
    for _, options in raylets(proc):
        folder = options.get("--session_dir", "")
        sockets = os.path.join(folder, "sockets")
        if os.path.basename(folder) == session and os.path.isdir(sockets):
            return sockets
    return ""


def cluster_of(nodes: Collection[str], proc: Path = PROC) -> tuple[str, str] | None:
    """Return the name of the Ray session and the address of the GCS (host:port) of the cluster of these nodes.

    `nodes` are Ray's hex ids. Return None if none of these nodes runs here.
    """
    for _, options in raylets(proc):
        if options.get("--node_id") in nodes and "--session-name" in options and "--gcs-address" in options:
            return options["--session-name"], options["--gcs-address"]
    return None


def raylets(proc: Path = PROC, anyone: bool = False) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the process id of each raylet, and the options of its command line by names such as "--gcs-address".

    Only raylets of this user and of root are found: another user can start any program with the command line of a
    raylet, and can make reading that line last forever. With `anyone`, the raylets of all users are found.
    """
    if not proc.is_dir():
        yield from _raylets_without_proc(anyone)
        return
    for name in os.listdir(proc):
        if not (name.isdigit() and (anyone or _has_trusted_user(f"{proc}/{name}"))):
            continue
        try:
            # A machine has thousands of processes, and making a Path for each takes longer than reading it.
            with open(f"{proc}/{name}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")
        except OSError:
            continue  # The process has ended, or the folder is not that of a process.
        if os.path.basename(words[0]) == "raylet" and _is_raylet(f"{proc}/{name}"):
            yield int(name), _options(words)


def _raylets_without_proc(anyone: bool) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the raylets on a system without /proc, such as macOS, if Ray's psutil can be imported."""
    try:
        import psutil  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return
    for process in psutil.process_iter():
        # The process may just have ended.
        with suppress(psutil.Error):
            if not (anyone or {0, os.getuid()}.issuperset(process.uids())):
                continue
            words = process.cmdline() or [""]
            if os.path.basename(words[0]) == "raylet":
                with suppress(psutil.AccessDenied):  # The process is root's.
                    if os.path.basename(process.exe()) != "raylet":
                        continue
                yield process.pid, _options(words)


def _options(words: list[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words if word.startswith("--"))


def _has_trusted_user(process: str) -> bool:
    """Return whether a process, given by its folder in /proc, belongs to this user or root.

    A program with the setuid bit also belongs to the user who has started it.
    """
    return {0, os.getuid()}.issuperset(user_ids(process) or {-1})


def _is_raylet(process: str) -> bool:
    """Return whether a process, given by its folder in /proc, runs the program `raylet` (proc(5), /proc/PID/exe)."""
    try:
        return os.path.basename(os.readlink(f"{process}/exe")).partition(" ")[0] == "raylet"
    except PermissionError:
        return True  # The process is root's or another user's.
    except OSError:
        return False


def user_ids(process: str) -> set[int]:
    """Return the real, effective and saved user ids of a process, given by its folder in /proc; none if it has ended.

    The owner of the folder is not enough: root owns the folder of a process that may not be traced (proc(5),
    /proc/PID).
    """
    try:
        with open(f"{process}/status", encoding="utf-8", errors="replace") as file:
            return {int(uid) for line in file if line.startswith("Uid:") for uid in line.split()[1:4]}
    except OSError:
        return set()
