"""The program of a `launch` request in a terminal of the editor."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import Any

from raydap.bounded_wait import wait_for
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeStarted, Event, TerminalNeeded
from raydap.core.settings import LaunchSettings
from raydap.errors import Code, Problem, ProblemError, reason_of
from raydap.runtime import terminal_launcher
from raydap.runtime.program_command import Prepare, not_run, program_command
from raydap.transport.unix import PrivateListener

OPEN_TIMEOUT_S = 60.0
"""Seconds for the editor to open the terminal and for its shell to run the launcher."""
_LONGEST_MESSAGE = 2**23
"""Bytes. The longest message has the environment, which Linux limits to 6 MiB (execve(2))."""


class TerminalProcess:
    """The launched program, started by runtime/terminal_launcher.py in a terminal that the client opens.

    It has the interface of runtime.debuggee_process.DebuggeeProcess, and emits no output. Emits TerminalNeeded, then
    DebuggeeStarted, and DebuggeeExited last, or DebuggeeFailed. POSIX only.
    """

    def __init__(
        self, settings: LaunchSettings, emit: Callable[[Event], None], prepare: Prepare = lambda _: {}
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._prepare = prepare
        self._connected: asyncio.Future[socket.socket | None] = asyncio.get_running_loop().create_future()
        """Has the launcher's connection; None if `stop` was called first."""
        self._writer: asyncio.StreamWriter | None = None
        """Writes to the launcher that has got the command."""
        self._stopping = False
        self._finished = asyncio.Event()

    async def start(self) -> None:
        """Start the program, and return when it has ended."""
        listener = None
        try:
            listener = PrivateListener("terminal", self._accepted)
            args = (sys.executable, "-I", terminal_launcher.__file__, listener.path)
            self._emit(TerminalNeeded(args, self._settings.cwd or os.getcwd(), self._settings.program_name))
            connection = await wait_for(self._connected, OPEN_TIMEOUT_S)
            if connection is not None:
                await self._follow(connection)
        except asyncio.TimeoutError:
            self._fail(f"the terminal did not run raydap's command within {OPEN_TIMEOUT_S:g} s")
        except OSError as error:
            self._fail(f"raydap cannot listen for its terminal ({reason_of(error)})")
        except ProblemError as error:
            self._emit(DebuggeeFailed(error.problem))
        finally:
            if listener is not None:
                listener.close()
            if self._writer is None and self._stopping:
                self._fail("the session has ended")
            self._finished.set()

    async def stop(self) -> None:
        """End the program, and return when it has ended. May be called while `start` runs."""
        self._stopping = True
        if not self._connected.done():
            self._connected.set_result(None)
        if self._writer is not None:
            _send(self._writer, stop=True)
        await self._finished.wait()

    def _accepted(self, connection: socket.socket) -> None:
        if self._connected.done():
            connection.close()
        else:
            self._connected.set_result(connection)

    async def _follow(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection, limit=_LONGEST_MESSAGE)
        with closing(writer):
            environ = (await _receive(reader)).get("environ", {})
            command = program_command(self._settings, environ, self._prepare)
            if self._stopping:
                return
            self._writer = writer
            _send(writer, args=command.args, cwd=command.cwd, environ=command.environ)
            started = await _receive(reader)
            if "pid" not in started:
                raise ProblemError(not_run(self._settings, started.get("failed", "its terminal was closed"), ""))
            with ExitStack() as stack:
                send_signal = _sender(started["pid"], stack)
                self._emit(DebuggeeStarted(self._settings.program_name, started["pid"], command.off))
                code = (await _receive(reader)).get("exit")
                if code is None:
                    # The launcher was killed. The program ends as if its terminal had been closed.
                    code = -signal.SIGHUP
                    send_signal(signal.SIGHUP)
            self._emit(DebuggeeExited(code if code >= 0 else 128 - code))

    def _fail(self, reason: str) -> None:
        self._emit(DebuggeeFailed(Problem(Code.LAUNCH_FAILED, f"The program was not started: {reason}.")))


def _sender(pid: int, stack: ExitStack) -> Callable[[int], None]:
    """Return a function that sends a signal to a process, on Linux never to a later one with the same pid.

    It does nothing if the process has ended. It works until the stack is unwound.
    """
    send = partial(os.kill, pid)
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return lambda _: None
        stack.callback(os.close, descriptor)
        send = partial(signal.pidfd_send_signal, descriptor)

    def send_signal(number: int) -> None:
        with suppress(ProcessLookupError):
            send(number)

    return send_signal


def _send(writer: asyncio.StreamWriter, **message: object) -> None:
    writer.write(f"{json.dumps(message)}\n".encode())


async def _receive(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Return the launcher's next message; {} if the launcher has ended."""
    try:
        line = await reader.readline()
    except OSError:
        line = b""
    return json.loads(line) if line.endswith(b"\n") else {}
