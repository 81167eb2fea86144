"""Lines of standard input if it is not a terminal."""

import asyncio
import os
import sys
import threading
from contextlib import suppress


class StandardInput:
    """Reads lines from a file descriptor.

    A read that never ends does not keep the process alive: it is in a daemon thread, and holds no lock of Python's
    streams.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._buffer = bytearray()
        self._has_ended = False

    async def read_line(self) -> str | None:
        """Return the next line without its end; None at the end of the input. Raises OSError."""
        while b"\n" not in self._buffer and not self._has_ended:
            data = await self._read()
            self._has_ended = not data
            self._buffer += data
        if not self._buffer:
            return None
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return line.decode(errors="replace").removesuffix("\r")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes | OSError] = loop.create_future()

        def give(data: bytes | OSError) -> None:
            if not answer.done():
                answer.set_result(data)

        def read() -> None:
            data: bytes | OSError
            try:
                data = os.read(self._descriptor, 65536)
            except OSError as error:
                data = error
            with suppress(RuntimeError):  # The event loop is closed.
                loop.call_soon_threadsafe(give, data)

        threading.Thread(target=read, name="raydap-standard-input", daemon=True).start()
        data = await answer
        if isinstance(data, OSError):
            raise data
        return data
