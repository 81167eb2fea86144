"""A FakeWorker behind a TCP port, for behaviour that real debugpy cannot produce."""

import contextlib
import socket
import threading
from types import TracebackType

from raydap.core.events import Event, WorkerMessage
from raydap.core.process_info import ProcessInfo
from raydap.protocol.types import WorkerKey
from raydap.wire.framing import Decoder, encode
from support.fake_worker import FakeWorker


class RemoteWorker:
    """A FakeWorker with a TCP port.

    `address` is its `host:port`. A thread answers the bridge, so the test uses the FakeWorker in `with remote as
    worker:`, which holds the lock. `attached` is set when the handshake is over, `closed` when the bridge has closed
    the connection.
    """

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        host, port = self._server.getsockname()
        self.address = f"{host}:{port}"
        self.attached = threading.Event()
        self.closed = threading.Event()
        self._worker = FakeWorker(self._feed, ProcessInfo(WorkerKey(self.address), host, port), None)
        self._connection: socket.socket | None = None
        self._lock = threading.RLock()
        self._heard = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._serve, name="remote worker")
        self._thread.start()

    def __enter__(self) -> FakeWorker:
        self._lock.acquire()
        return self._worker

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()

    def wait_for_request(self, command: str, count: int, timeout_s: float) -> bool:
        """Wait until this many of these requests are in `heard`; return False after `timeout_s`."""
        heard = self._worker.heard
        with self._heard:
            return bool(
                self._heard.wait_for(lambda: sum(each["command"] == command for each in heard) >= count, timeout_s)
            )

    def send(self, data: bytes) -> None:
        """Send any bytes. Ignore that the bridge may have closed the connection."""
        assert self._connection is not None
        with contextlib.suppress(OSError):
            self._connection.sendall(data)

    def end(self) -> None:
        """Close the connection and the port."""
        for each in (self._server, self._connection):
            if each is not None:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                self._connection = connection
                self._talk(connection)
            self.closed.set()

    def _talk(self, connection: socket.socket) -> None:
        decoder = Decoder()
        with self as worker:
            worker.dialled(worker.row.host, worker.row.port)
        with contextlib.suppress(OSError):
            while data := connection.recv(1 << 18):
                with self as worker:
                    for body in decoder.feed(data):
                        worker.received(body)
                    self._heard.notify_all()
                    if worker.complete:
                        self.attached.set()
        with self as worker:
            worker.connected = False

    def _feed(self, event: Event) -> None:
        # A connection has no message of its own: the bridge sees that it is open.
        if isinstance(event, WorkerMessage):
            self.send(encode(event.data))
