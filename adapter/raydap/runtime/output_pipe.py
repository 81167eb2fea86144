"""A pipe for the output of a launched program, which may outlive the bridge.

A pipe breaks when its reader is killed, and the program then fails at the next line that it prints. So a process
between the program and the bridge keeps reading when the bridge is gone, and discards the output.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack

_COMMAND = ("/bin/sh", "-c", "exec 3<&0; { cat; exec cat >/dev/null; } <&3 3<&- &")
"""The first `cat` ends when its reader is gone, or all its writers are; the second one discards what is left. Both run
in the background, so they are not children of the bridge, which they may outlive. A command in the background has no
input unless it is redirected (POSIX, "Asynchronous Lists")."""


class OutputPipe(asyncio.Protocol):
    """A pipe that passes written bytes to `on_data`, and calls `on_end` once when no writer is left. POSIX only.

    It calls neither before `read`.
    """

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._transport: asyncio.ReadTransport | None = None

    async def open(self) -> int:
        """Create the pipe, and return the descriptor to write to, which the caller closes. Raises OSError."""
        with ExitStack() as failed, ExitStack() as both:
            between, sink = os.pipe()
            both.callback(os.close, between)
            failed.callback(os.close, sink)
            source, output = os.pipe()
            both.callback(os.close, output)
            file = failed.enter_context(os.fdopen(source, "rb", buffering=0))
            shell = await asyncio.create_subprocess_exec(
                *_COMMAND,
                stdin=between,
                stdout=output,
                stderr=asyncio.subprocess.DEVNULL,
                # A signal to the bridge's process group, such as SIGINT after Ctrl+C, must not end the shell before the
                # program.
                start_new_session=True,
            )
            if await shell.wait():
                raise OSError("/bin/sh cannot run cat")
            self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, file)
            self._transport.pause_reading()
            failed.pop_all()
        return sink

    def read(self) -> None:
        """Begin reading. Call it once, after `open`."""
        assert self._transport is not None
        self._transport.resume_reading()

    def close(self) -> None:
        """Stop reading. The program can still write."""
        if self._transport is not None:
            self._transport.close()

    # Callbacks of asyncio.Protocol.

    def data_received(self, data: bytes) -> None:
        """Pass on the bytes."""
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the output."""
        self._on_end()
