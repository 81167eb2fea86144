"""The processes of a test session: how they are recognised, and how leftover ones are ended."""

import contextlib
import os
import select
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

MARK = "RAYDAP_TEST_SESSION"
"""A variable in the environment of every process that descends from the test session, daemons included.

Its value is an id. With pytest-xdist each worker has its own, which begins with that of the leading process and a dot.
So the leading process can end what a worker left behind, and no worker ends what another one started.
"""


def mark() -> None:
    """Mark the environment of this process, and so of every process that it starts from now on."""
    own = uuid.uuid4().hex
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    os.environ[MARK] = f"{os.environ[MARK]}.{own}" if is_worker else own


def marked() -> Iterator[int]:
    """Return the pids of the marked processes, without this one. Return none where there is no /proc."""
    wanted = f"{MARK}={os.environ[MARK]}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (entry / "environ").read_bytes().split(b"\0")
            is_ours = any(variable == wanted or variable.startswith(wanted + b".") for variable in variables)
            if is_ours and int(entry.name) != os.getpid():
                yield int(entry.name)


def listening_on(port: int) -> int:
    """Return the pid of the marked process that listens on a TCP port, such as debugpy's adapter (proc_net_tcp)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (inode,) = {row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port}
    (pid,) = (pid for pid in marked() if f"socket:[{inode}]" in set(_open_files(pid)))
    return pid


def _open_files(pid: int) -> Iterator[str]:
    for entry in Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):  # It was closed after it was listed.
            yield os.readlink(entry)


def end_marked(grace: float) -> list[str]:
    """End the marked processes. Return the pid, command line and test of each that did not end by itself.

    An adapter of debugpy ends soon after its debuggee and client are gone: `grace` is in seconds. It never ends if its
    debuggee was killed before it connected to the adapter (debugpy/adapter/servers.py, wait_until_disconnected, waits
    for a first connection). No test can end such an adapter, so it is ended here and not returned.
    """
    overdue = []
    for pid in marked():
        with contextlib.suppress(OSError):
            described = describe(pid)
            descriptor = os.pidfd_open(pid)
            try:
                if not select.select([descriptor], [], [], grace)[0]:
                    if not waits_for_debuggee(pid):
                        overdue.append(described)
                    os.kill(pid, signal.SIGKILL)
            finally:
                os.close(descriptor)
    return overdue


def freeze(pid: int) -> None:
    """Stop a process, and return when all of its threads have stopped.

    `kill` returns earlier: on a busy machine, a thread that is running or has just been woken continues for
    milliseconds.
    """
    os.kill(pid, signal.SIGSTOP)
    while any(_thread_state(thread) not in "TX" for thread in Path(f"/proc/{pid}/task").iterdir()):
        os.sched_yield()


def _thread_state(thread: Path) -> str:
    """Return the letter of the thread's state (proc_pid_stat), or X if the thread has ended."""
    try:
        return (thread / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def describe(pid: int) -> str:
    """Return the pid, the command line and the test that ran when the first process of its kind was started."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    variables = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    tests = [value for name, _, value in (text.partition("=") for text in variables) if name == "PYTEST_CURRENT_TEST"]
    return f"{pid}: {command}({', '.join(tests) or 'no test ran'})"


def waits_for_debuggee(pid: int) -> bool:
    """Return whether the process is an adapter of debugpy.listen() that has no connection."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    connected = {f"socket:[{row[9]}]" for row in rows if row[3] == "01"}
    return b"--for-server" in command and connected.isdisjoint(_open_files(pid))


def waiting_connections(pid: int) -> int:
    """Return how many connections to its Unix sockets the process has not accepted (proc(5), /proc/net/unix)."""
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # It was closed after it was listed.
            sockets.add(os.readlink(descriptor))
    listening = {row[7] for row in rows if len(row) == 8 and f"socket:[{row[6]}]" in sockets}
    return sum(len(row) == 8 and row[6] == "0" and row[7] in listening for row in rows)


def until_ended(pid: int) -> None:
    """Wait until a process has ended. Raises AssertionError after 30 s."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            assert select.select([descriptor], [], [], 30)[0], f"process {pid} still runs"
        finally:
            os.close(descriptor)
