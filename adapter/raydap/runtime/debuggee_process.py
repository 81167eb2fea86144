"""The program of a `launch` request as a child process of the bridge."""

import asyncio
import codecs
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import Literal

from raydap.bounded_wait import wait_for
from raydap.cluster.frozen_modules import FrozenModulesFilter
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.errors import Problem, ProblemError
from raydap.runtime.output_pipe import OutputPipe
from raydap.runtime.program_command import Prepare, not_run, program_command

TERMINATE_TIMEOUT_S = 5.0
"""Seconds between SIGTERM and SIGKILL."""
_DRAIN_TIMEOUT_S = 2.0
"""Seconds for the rest of the output after the program has ended."""
_CATEGORIES: dict[int, Literal["stdout", "stderr"]] = {1: "stdout", 2: "stderr"}


class DebuggeeProcess(asyncio.SubprocessProtocol):
    """The launched program, in a process group of its own. It keeps running if the bridge is killed.

    Emits DebuggeeStarted, then DebuggeeOutput in order, and DebuggeeExited last; or only DebuggeeFailed. If a signal
    has ended the process, the exit code is 128 plus the signal, as in shells. POSIX only.
    """

    def __init__(
        self,
        settings: LaunchSettings,
        emit: Callable[[Event], None],
        environ: Mapping[str, str] = os.environ,
        prepare: Prepare = lambda _: {},
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._environ = environ
        self._prepare = prepare
        self._transport: asyncio.SubprocessTransport | None = None
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {fd: decoder(errors="replace") for fd in _CATEGORIES}
        self._filters = {fd: FrozenModulesFilter() for fd in _CATEGORIES}
        self._pipes = {fd: OutputPipe(partial(self._received, fd), partial(self._ended, fd)) for fd in _CATEGORIES}
        self._off = False
        self._started = asyncio.Event()
        self._exited = asyncio.Event()
        self._finished = asyncio.Event()

    async def start(self) -> None:
        """Start the program. Emits DebuggeeFailed if the system cannot run it."""
        try:
            found = program_command(self._settings, self._environ, self._prepare)
            self._off = found.off
            with ExitStack() as descriptors:
                sinks = []
                for pipe in self._pipes.values():
                    sinks.append(await pipe.open())
                    descriptors.callback(os.close, sinks[-1])
                self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                    lambda: self,
                    *found.args,
                    cwd=found.cwd,
                    env=found.environ,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=sinks[0],
                    stderr=sinks[1],
                    start_new_session=True,
                )
        except ProblemError as error:
            self._fail(error.problem)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._fail(not_run(self._settings, reason, repr(error)))
        finally:
            self._started.set()

    async def stop(self) -> None:
        """End the program's process group, and return when DebuggeeExited has been emitted.

        The group gets SIGTERM, and SIGKILL after TERMINATE_TIMEOUT_S. May be called while `start` runs.
        """
        await self._started.wait()
        if self._transport is None:
            return
        if not self._exited.is_set():
            self._signal(signal.SIGTERM)
            try:
                await wait_for(self._exited.wait(), TERMINATE_TIMEOUT_S)
            except asyncio.TimeoutError:
                self._signal(signal.SIGKILL)
        await self._finished.wait()

    # Callbacks of asyncio.SubprocessProtocol and of the pipes.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Emit DebuggeeStarted, and begin reading the output, which a quick program has written by now."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self._emit(DebuggeeStarted(self._settings.program_name, transport.get_pid(), self._off))
        for pipe in self._pipes.values():
            pipe.read()

    def _received(self, fd: int, data: bytes) -> None:
        self._output(fd, self._decoders[fd].decode(data))

    def _ended(self, fd: int) -> None:
        decoder = self._decoders.pop(fd, None)
        if decoder is not None:
            self._output(fd, decoder.decode(b"", final=True))
        self._finish_when_drained()

    def process_exited(self) -> None:
        """Emit DebuggeeExited when all output has been read, or after _DRAIN_TIMEOUT_S."""
        self._exited.set()
        # A process that the program has started may outlive it and keep the output open.
        asyncio.get_running_loop().call_later(_DRAIN_TIMEOUT_S, self._finish)
        self._finish_when_drained()

    def _finish_when_drained(self) -> None:
        if self._exited.is_set() and not self._decoders:
            self._finish()

    def _finish(self) -> None:
        if self._finished.is_set():
            return
        assert self._transport is not None
        self._finished.set()
        code = self._transport.get_returncode() or 0
        self._transport.close()
        self._close_pipes()
        self._emit(DebuggeeExited(code if code >= 0 else 128 - code))

    def _output(self, fd: int, text: str) -> None:
        text = self._filters[fd].drop(text)
        if text and not self._finished.is_set():
            self._emit(DebuggeeOutput(_CATEGORIES[fd], text))

    def _signal(self, number: int) -> None:
        assert self._transport is not None
        # The process leads its group: because of start_new_session, its pid is also the id of the group.
        with suppress(ProcessLookupError):
            os.killpg(self._transport.get_pid(), number)

    def _close_pipes(self) -> None:
        for pipe in self._pipes.values():
            pipe.close()

    def _fail(self, problem: Problem) -> None:
        self._close_pipes()
        self._emit(DebuggeeFailed(problem))
