"""A small Debug Adapter Protocol client for scripts; needs nothing but the standard library.

    with Client.connect("127.0.0.1", 5678) as client:
        client.start_session("attach", {"dashboard": "http://127.0.0.1:8265"}, filters=["uncaught"])
        stop = client.wait_event("stopped")
        frames = client.request("stackTrace", threadId=stop["threadId"])["stackFrames"]
        client.request("continue", threadId=stop["threadId"])

Messages are the plain dictionaries of the protocol
(https://microsoft.github.io/debug-adapter-protocol/specification).
"""

import contextlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import IO, Any


class RequestFailed(Exception):
    """The adapter has refused a request. `body` is the response's body, {} if it has none."""

    def __init__(self, command: str, text: str, body: dict[str, Any]) -> None:
        super().__init__(f"{command}: {text}")
        self.command, self.text, self.body = command, text, body


class Client:
    """One connection to a debug adapter."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes], hang_up: Callable[[], None], timeout: float = 30) -> None:
        self.timeout = timeout
        """The limit of each wait, in seconds."""
        self.received: list[dict[str, Any]] = []
        """All messages of the adapter, in the order in which they have arrived."""
        self.answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
        """Functions for the adapter's own requests (`startDebugging`, ...), from arguments to response body.

        A request that has no function here is refused.
        """
        self._reader, self._writer, self._hang_up = reader, writer, hang_up
        self._taken: set[int] = set()
        self._pending: dict[int, tuple[str, Future[dict[str, Any]]]] = {}
        self._seq = 0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, name="dap-reader", daemon=True)
        self._thread.start()

    @classmethod
    def connect(cls, host: str, port: int, timeout: float = 30) -> "Client":
        """Connect over TCP. Raises OSError."""
        connection = socket.create_connection((host, port), timeout)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader, writer = connection.makefile("rb"), connection.makefile("wb")

        def hang_up() -> None:
            with contextlib.suppress(OSError):  # The adapter has closed it first.
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

        return cls(reader, writer, hang_up, timeout)

    @classmethod
    def spawn(cls, command: Sequence[str], timeout: float = 30, **popen: Any) -> "Client":
        """Start an adapter that uses its stdio and ends with the client. `popen` goes to subprocess.Popen."""
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        assert child.stdin is not None
        assert child.stdout is not None
        stdin = child.stdin

        def hang_up() -> None:
            try:
                stdin.close()
                child.wait(5)
            except (OSError, subprocess.TimeoutExpired):
                child.kill()
                child.wait()

        return cls(child.stdout, stdin, hang_up, timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Requests and waits without a result fail with ConnectionError."""
        self._hang_up()
        self._thread.join(5)
        for stream in (self._writer, self._reader):
            with contextlib.suppress(OSError):  # The adapter has not read the last bytes.
                stream.close()

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events so far, in the order in which they have arrived."""
        with self._changed:
            return [message for message in self.received if message["type"] == "event"]

    def send(self, command: str, /, **arguments: Any) -> Future[dict[str, Any]]:
        """Send a request without waiting. The future returns the response's body, or raises RequestFailed."""
        future: Future[dict[str, Any]] = Future()
        with self._changed:
            if self._closed:
                raise ConnectionError(f"{command}: the adapter has closed the connection")
            self._seq += 1
            self._pending[self._seq] = (command, future)
            self._write({"seq": self._seq, "type": "request", "command": command, "arguments": arguments})
        return future

    def request(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return the response's body, {} if it has none. Raises RequestFailed and TimeoutError."""
        return self.result(self.send(command, **arguments), command)

    def result(self, future: Future[dict[str, Any]], what: str = "response") -> dict[str, Any]:
        """Return the result of a future that `send` has returned. Raises TimeoutError after `timeout`."""
        try:
            return future.result(self.timeout)
        except FutureTimeout:  # From Python 3.11 on, this is the built-in TimeoutError.
            raise self._timed_out(what, self.timeout) from None

    def wait_event(
        self,
        name: str,
        where: Callable[[dict[str, Any]], bool] = lambda body: True,
        unless: Future[dict[str, Any]] | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Wait for an event that no call has returned yet, and return its body.

        `where` selects among the events by their bodies. If the request of `unless` fails, its error is raised.
        `timeout` is in seconds, by default the client's. Raises TimeoutError and ConnectionError, whose texts list the
        events that have arrived.
        """
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for place, message in enumerate(self.received):
                    if place not in self._taken and message["type"] == "event" and message["event"] == name:
                        body: dict[str, Any] = message.get("body") or {}
                        if where(body):
                            self._taken.add(place)
                            return body
                if unless is not None and unless.done():
                    unless.result()
                if self._closed:
                    raise ConnectionError(f"{name}: the adapter has closed the connection; {self._heard()}")
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise self._timed_out(f'event "{name}"', timeout)
                self._changed.wait(remaining)

    def start_session(
        self,
        request: str,
        arguments: Mapping[str, Any],
        *,
        breakpoints: Mapping[str, Sequence[int]] | None = None,
        filters: Iterable[str] = (),
        **capabilities: Any,
    ) -> dict[str, Any]:
        """Begin a session as an editor does, up to the answer to `request`. Return the adapter's capabilities.

        `request` is "attach" or "launch". `breakpoints` maps paths to lines, `filters` are exception filters, and
        `capabilities` go to `initialize`. debugpy refuses an `attach` whose `arguments` are empty.
        """
        offered = self.request("initialize", **{"adapterID": "raydap", "clientID": "script", **capabilities})
        started = self.send(request, **arguments)
        self.wait_event("initialized", unless=started)
        for path, lines in (breakpoints or {}).items():
            self.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": line} for line in lines])
        self.request("setExceptionBreakpoints", filters=list(filters))
        self.request("configurationDone")
        self.result(started, request)
        return offered

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._writer.flush()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # The connection has ended, or `close` has closed it.
            while (message := self._read_message()) is not None:
                self._take_in(message)
        with self._changed:
            self._closed = True
            orphans = list(self._pending.values())
            self._pending.clear()
            self._changed.notify_all()
        for command, future in orphans:
            future.set_exception(ConnectionError(f"{command}: the adapter closed the connection without an answer"))

    def _read_message(self) -> dict[str, Any] | None:
        length = 0
        while (line := self._reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._reader.read(length) if line else b""
        if not body or len(body) < length:
            return None
        message: dict[str, Any] = json.loads(body)
        return message

    def _take_in(self, message: dict[str, Any]) -> None:
        with self._changed:
            self.received.append(message)
            command, future = self._pending.pop(message.get("request_seq", 0), ("", None))
            if message["type"] == "request":
                self._answer(message)
            elif future is not None and message["success"]:
                future.set_result(message.get("body") or {})
            elif future is not None:
                body = message.get("body") or {}
                text = body.get("error", {}).get("format") or message.get("message", "failed")
                future.set_exception(RequestFailed(command, text, body))
            self._changed.notify_all()

    def _answer(self, request: dict[str, Any]) -> None:
        self._seq += 1
        answer = self.answers.get(request["command"])
        response = {"seq": self._seq, "type": "response", "request_seq": request["seq"], "command": request["command"]}
        if answer is None:
            self._write({**response, "success": False, "message": "not supported by this client"})
        else:
            self._write({**response, "success": True, "body": answer(request.get("arguments") or {})})

    def _timed_out(self, what: str, timeout: float) -> TimeoutError:
        return TimeoutError(f"{what}: nothing within {timeout} s; {self._heard()}")

    def _heard(self) -> str:
        lines = [f"  {message['event']} {json.dumps(message.get('body'))[:200]}" for message in self.events]
        return "\n".join(["events so far:", *lines]) if lines else "no event so far"
