"""Processes that run without raydap, with an idle agent, during a session, and after one."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from raydap.inworker import bundle
from support.agents import attach_to, hanging_up, read_line
from support.entered import EnteredWorker

MODES = ("idle", "left", "attached")
"""How raydap is in a process: an agent that no raydap uses, an agent whose session has ended, an agent with a session
without breakpoints. The Pythons that the process starts have idle agents. "" is a process without raydap."""

IN_SESSION = ("left", "attached")
"""The modes in which a process has to wait until its session has begun, or has ended."""


def start_in_mode(
    command: Sequence[str],
    mode: str,
    folder: Path,
    stack: ExitStack,
    python_path: str = "",
    variables: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a process in the folder `tests` of this folder; `stack` ends it, and all processes of its group.

    In the modes of IN_SESSION the process has to open the FIFO `fifo` of the folder before it begins. `variables` are
    added to its environment, and it has no other PYTHONPATH. It writes to the files `log` and `errors` of the folder.
    """
    (folder / "tests").mkdir()
    listener = stack.enter_context(listening(folder / "raydap")) if mode in IN_SESSION else None
    if listener is not None:
        os.mkfifo(folder / "fifo")
    with (folder / "log").open("wb") as log, (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            env={**environment(mode, folder, python_path), **(variables or {})},
            cwd=folder / "tests",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=errors,
            start_new_session=True,
        )
    stack.callback(end_group, process)
    if listener is not None:
        worker, path = attach(listener, stack)
        if mode == "left":
            worker.leave()
            wait_for_end_of_session(path)
        with open(folder / "fifo", "w"):
            stack.enter_context(hanging_up(listener))
    return process


def environment(mode: str, folder: Path, python_path: str) -> dict[str, str]:
    """Return the environment for a process in this mode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    at_start = str(Path(bundle.__file__).parent / "at_start")
    path = [*([at_start] if mode else []), *([python_path] if python_path else [])]
    if path:
        kept["PYTHONPATH"] = os.pathsep.join(path)
    if mode:
        raydap = "" if mode == "idle" else str(folder / "raydap")
        kept["RAYDAP_AGENT"] = json.dumps({"raydap": raydap, "folder": str(folder), "wait": False, "children": True})
    return kept


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.settimeout(60)
    listener.bind(str(path))
    listener.listen()
    return listener


def attach(listener: socket.socket, stack: ExitStack) -> tuple[EnteredWorker, str]:
    """Attach to the process that connects to this socket. Return the connection and the path of its agent's socket."""
    connection = stack.enter_context(listener.accept()[0])
    connection.settimeout(60)
    path = read_line(connection)["socket"]
    return attach_to(connection, stack, Path(os.devnull), filters=()), path


def wait_for_end_of_session(path: str) -> None:
    """Wait until nothing of pydevd is left: only then does the agent send a hello that names no holder."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        assert read_line(connection)["holder"] == ""


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all processes of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
