"""DAP on standard input and output.

Threads read and write, because event loops refuse files, and would set a terminal or pipe to non-blocking mode, also
for the other processes that share it.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from raydap.transport.peer import Peer
from raydap.wire.framing import Decoder

_CHUNK = 65536
_MAX_UNREAD_CHUNKS = 16


def connect(
    on_message: Callable[[bytes], None], on_gone: Callable[[str], None], decoder: Decoder | None = None
) -> Peer:
    """Use standard input and output for DAP, or for the messages that `decoder` reads, until the process ends.

    Must be called while the event loop runs. Afterwards descriptor 1 leads to standard error, so that output of a
    library or child process cannot corrupt the stream, and descriptor 0 leads to /dev/null.
    """
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    peer = Peer(on_message, on_gone, decoder=decoder)
    DescriptorTransport(peer, source, sink).start()
    return peer


class DescriptorTransport(asyncio.Transport):
    """An asyncio transport over two blocking file descriptors: pipes, sockets, terminals or files.

    The connection ends when the input ends, as for every DAP client on stdio.
    """

    def __init__(self, protocol: asyncio.Protocol, source: int, sink: int) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._source = source
        self._sink = sink
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._queued = 0
        self._high = _CHUNK
        self._unread = threading.Semaphore(_MAX_UNREAD_CHUNKS)
        self._closing = False
        self._lost = False

    def start(self) -> None:
        """Connect the protocol and start the two threads."""
        self._protocol.connection_made(self)
        # Daemon threads, because a read of standard input cannot be interrupted when the process ends.
        threading.Thread(target=self._read, name="stdio reader", daemon=True).start()
        threading.Thread(target=self._write, name="stdio writer", daemon=True).start()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the number of queued bytes above which `pause_writing` is called. `low` is ignored."""
        self._high = _CHUNK if high is None else high

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that are not written yet."""
        return self._queued

    def is_closing(self) -> bool:
        """Return whether the transport is closing or closed."""
        return self._closing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Queue bytes for the writing thread; drop them if the transport is closing."""
        if self._closing:
            return
        self._queued += len(data)
        self._queue.put(bytes(data))
        if self._queued > self._high:
            self._protocol.pause_writing()

    def close(self) -> None:
        """Close the transport when all queued bytes are written."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def abort(self) -> None:
        """End the connection without waiting for queued bytes."""
        self._closing = True
        self._queue.put(None)
        self._loop.call_soon(self._end, None)

    # In the threads.

    def _read(self) -> None:
        while True:
            self._unread.acquire()
            try:
                data = os.read(self._source, _CHUNK)
            except OSError as error:
                self._call(self._end, error)
                return
            self._call(self._received, data)
            if not data:
                return

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) is not None and not self._lost:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
                self._call(self._written, len(data))
        except OSError as error:
            self._call(self._end, error)
        else:
            self._call(self._end, None)
        finally:
            os.close(self._sink)

    def _call(self, function: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            # The loop is closed because the process is ending.
            self._lost = True

    # In the event loop.

    def _received(self, data: bytes) -> None:
        self._unread.release()
        if self._closing:
            return
        if data:
            self._protocol.data_received(data)
        else:
            self.close()

    def _written(self, size: int) -> None:
        self._queued -= size

    def _end(self, error: Exception | None) -> None:
        self._closing = True
        if not self._lost:
            self._lost = True
            self._queue.put(None)
            self._protocol.connection_lost(error)
