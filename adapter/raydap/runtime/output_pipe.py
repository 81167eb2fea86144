"""A pipe for the output of a launched program, which may outlive the bridge.

A pipe breaks when its reader is killed, and a program fails at the next line that it prints into such a pipe. So a
process between the program and the bridge reads on when the bridge is gone, and drops what nobody reads.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack

_COMMAND = ("/bin/sh", "-c", "exec 3<&0; { cat; exec cat >/dev/null; } <&3 3<&- &")
"""The first `cat` ends when nobody reads from it, or nobody can write to it. They are no children of the bridge, which
they may outlive. A command in the background has no input unless it is redirected (POSIX, "Asynchronous Lists")."""


class OutputPipe(asyncio.Protocol):
    """Calls `on_data` with the bytes that are written, and `on_end` once when no process can write any more. POSIX
    only."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._transport: asyncio.BaseTransport | None = None

    async def open(self) -> int:
        """Returns the descriptor to write to; the caller closes it. Raises OSError."""
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
                # Signals to the bridge's group, such as that of Ctrl+C, must not end it before the program.
                start_new_session=True,
            )
            if await shell.wait():
                raise OSError("the shell cannot run cat")
            self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, file)
            failed.pop_all()
        return sink

    def close(self) -> None:
        """Reads no more. The program can write all the same."""
        if self._transport is not None:
            self._transport.close()

    # What the event loop calls.

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()
