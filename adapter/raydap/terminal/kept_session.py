"""`raydap session`: a debug session in the background, which the commands that only look join.

It attaches to no worker, and only these commands join it, so no worker stays stopped when it ends.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from raydap import safe_output
from raydap.bounded_wait import wait_for
from raydap.client import joining
from raydap.client.dap_connection import SessionError
from raydap.client.joining import JoinedSession
from raydap.errors import ProblemError
from raydap.exit_codes import ExitCode
from raydap.presentation.durations import duration
from raydap.runtime import session_socket
from raydap.terminal.live_session import LiveSession
from raydap.terminal.progress import Progress
from raydap.transport import runtime_folder

IDLE_S = 1800.0
"""Seconds without a client after which a kept session ends."""

GONE_S = 60.0
"""Seconds without an answer of the cluster after which a kept session ends."""

LOOK_S = 5.0
"""The most seconds between two checks of these limits."""

START_TIMEOUT_S = 60.0
"""Seconds for the process in the background to start, and to find the cluster."""

END_TIMEOUT_S = 30.0
"""Seconds for a kept session to end."""

MAX_LOG = 1_000_000
"""The bytes of the log above which the next session starts it anew."""

log = logging.getLogger(__name__)


async def start(dashboard: str | None, idle_s: float) -> int:
    """Start a session in the background, unless there is one, and print where it is. Return the exit code.

    Raises OSError.
    """
    kept = await joining.kept_for(dashboard)
    for session in kept:
        await session.close()
    if kept:
        safe_output.line(f"There is {kept[0].name}, which debugs {kept[0].debugs}. `raydap session end` ends it.")
        return ExitCode.DONE
    path = log_file()
    process = _in_background(path, dashboard, idle_s)
    try:
        report = await wait_for(_report(process), START_TIMEOUT_S)
    except BaseException as error:
        process.terminate()
        if not isinstance(error, asyncio.TimeoutError):
            raise
        report = {"failed": f"The session did not start within {START_TIMEOUT_S:g} s; see {path}."}
    if "failed" in report:
        await asyncio.to_thread(process.wait)
        safe_output.line(report["failed"], error=True)
        return ExitCode.FAILED
    safe_output.line(
        f"The process {process.pid} keeps a session with {report['ready']}. "
        "ps, stacks, hang, eval and compare join it. "
        f"It ends {duration(idle_s)} after the last of them, or by `raydap session end`."
    )
    return ExitCode.DONE


def _in_background(path: Path, dashboard: str | None, idle_s: float) -> "subprocess.Popen[bytes]":
    """Start the process of the session. Its problems go to the log at `path`. Raises OSError."""
    named = [] if dashboard is None else ["--dashboard", dashboard]
    command = [sys.executable, "-m", "raydap", "session", "keep", *named, "--idle", f"{idle_s:g}s"]
    with open(open_log(path), "ab") as errors:
        # A session of its own (setsid) survives the shell. The folder "/" keeps no file system busy.
        return subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )


async def _report(process: "subprocess.Popen[bytes]") -> dict[str, str]:
    """Return the line that the new process prints when it is ready, or has failed."""
    assert process.stdout is not None
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, process.stdout)
    try:
        line = await reader.readline()
    finally:
        transport.close()
    with suppress(ValueError):
        found: dict[str, str] = json.loads(line)
        return found
    return {"failed": f"The session did not start; see {log_file()}."}


def log_file() -> Path:
    """Return the path of the log of kept sessions. Raises OSError."""
    return runtime_folder.directory() / "kept-session.log"


def open_log(path: Path) -> int:
    """Open the log for appending. Raises OSError."""
    is_long = path.exists() and path.stat().st_size > MAX_LOG
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags | (os.O_TRUNC if is_long else 0), 0o600)


async def keep(dashboard: str | None, idle_s: float) -> int:
    """Keep a session until no client needs it. The standard output gets one line: JSON with `ready` or `failed`.

    Return the exit code. If this is cancelled, the session ends, too.
    """
    log.setLevel(logging.INFO)
    live = LiveSession(Progress())
    try:
        await live.make()
        own = live.session.own
        assert own is not None
        await live.begin("attach", {"dashboard": dashboard, "autoAttach": False})
        await live.wait_listed()
        if not await own.share(session_socket.KEPT):
            raise SessionError("The session cannot listen for commands in your runtime folder; see the log.")
    except (ProblemError, SessionError, OSError) as error:
        _print_report(failed=str(error.problem) if isinstance(error, ProblemError) else str(error))
        if hasattr(live, "session"):
            await live.session.leave()
        return ExitCode.FAILED
    try:
        log.info("keeping a session with %s", live.cluster)
        _print_report(ready=live.cluster)
        log.info("the session with %s ends: %s", live.cluster, await _end_reason(live, idle_s))
    finally:
        await live.session.leave()
    return ExitCode.DONE


def _print_report(**report: str) -> None:
    """Print the line for the command that has started this process, and print nothing else from now on.

    If that command has been killed, the user cannot know of this session. Raises BrokenPipeError then.
    """
    safe_output.line(json.dumps(report))
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())


async def _end_reason(live: LiveSession, idle_s: float) -> str:
    """Wait until the session is to end, and return why."""
    own = live.session.own
    assert own is not None
    clock = asyncio.get_running_loop().time
    used_at = answered_at = clock()
    joined = 0
    while True:
        with suppress(asyncio.TimeoutError):
            await wait_for(live.ended.wait(), min(LOOK_S, idle_s / 4))
            return live.lost or "the session has ended"
        now = clock()
        if own.guests or own.joined != joined:
            used_at, joined = now, own.joined
        if not live.outage:
            answered_at = now
        if now - used_at >= idle_s:
            return f"no command has joined it for {duration(idle_s)}"
        if now - answered_at >= GONE_S:
            return f"the cluster has not answered for {GONE_S:g} s"


async def end(dashboard: str | None) -> int:
    """End the kept sessions of the cluster that the user names, or all. Return the exit code. Raises OSError."""
    kept = await joining.kept_for(dashboard)
    if not kept:
        safe_output.line("There is no kept session.")
        return ExitCode.DONE
    for session in kept:
        await session.close()
    still = await _end(kept)
    for session in kept:
        if session not in still:
            safe_output.line(f"{_begin(session)}, which debugged {session.debugs}, has ended.")
    for session in still:
        text = f"{_begin(session)} did not end within {END_TIMEOUT_S:g} s; see {log_file()}."
        safe_output.line(text, error=True)
    return ExitCode.FAILED if still else ExitCode.DONE


def _begin(session: JoinedSession) -> str:
    return session.name[0].upper() + session.name[1:]


async def _end(kept: Sequence[JoinedSession]) -> list[JoinedSession]:
    """End these sessions, and return those that still run."""
    # A process has just answered at the socket with its id, so the id is not that of another process.
    processes = {session_socket.process_of(session.way): session for session in kept}
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    await asyncio.to_thread(_wait_ended, list(processes))
    return [session for pid, session in processes.items() if _runs(pid)]


def _wait_ended(pids: Sequence[int]) -> None:
    """Return when these processes have ended, or after END_TIMEOUT_S. They are not children of this process."""
    until = time.monotonic() + END_TIMEOUT_S
    while time.monotonic() < until and any(map(_runs, pids)):
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Return whether a process has not ended. A zombie, which the machine's first process has not reaped, has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    return True
