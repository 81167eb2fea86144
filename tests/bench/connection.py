"""A DAP client for measurements: one thread and blocking calls, with nothing between the socket and the clock.

It works with raydap and with debugpy, and behaves like an editor: one write per message, TCP_NODELAY, and the kernel's
own acknowledgements.
"""

import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

Message = dict[str, Any]


class Connection:
    """A connection that decodes messages only while a call waits. Events stay in `events` until a call takes them."""

    def __init__(self, host: str, port: int, timeout: float = 60) -> None:
        self.events: list[Message] = []
        self.answers: dict[int, Message] = {}
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._seq = 0

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.close()

    def send(self, command: str, arguments: Mapping[str, Any] | None = None) -> int:
        """Send a request and return its seq."""
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments or {}}
        body = msgspec.json.encode(message)
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return self._seq

    def answer(self, seq: int) -> Message:
        """Wait for the response to a request and return its body. Raises RuntimeError if the request failed."""
        while seq not in self.answers:
            self._receive()
        answer = self.answers.pop(seq)
        if not answer["success"]:
            raise RuntimeError(f"{answer['command']} failed: {answer.get('message')}")
        return answer.get("body") or {}

    def request(self, command: str, **arguments: Any) -> Message:
        return self.answer(self.send(command, arguments))

    def event(self, name: str, where: Callable[[Message], bool] = lambda _: True) -> Message:
        """Wait for an event and return its body. Each event is returned once."""
        seen = 0
        while True:
            for place in range(seen, len(self.events)):
                event = self.events[place]
                if event["event"] == name and where(event.get("body") or {}):
                    del self.events[place]
                    return event.get("body") or {}
            seen = len(self.events)
            self._receive()

    def take(self, name: str, count: int) -> list[Message]:
        """Wait for this many events of this name, and return their bodies."""
        bodies: list[Message] = []
        while True:
            bodies += [event.get("body") or {} for event in self.events if event["event"] == name]
            self.events.clear()
            if len(bodies) >= count:
                return bodies
            self._receive()

    def start(self, arguments: Mapping[str, Any], breakpoints: Mapping[str, Any] | None = None) -> None:
        """Attach as an editor does, up to the response. `breakpoints` are the arguments of a setBreakpoints request."""
        self.request("initialize", adapterID="raydap", clientID="bench", linesStartAt1=True, columnsStartAt1=True)
        attach = self.send("attach", arguments)
        self.event("initialized")
        if breakpoints is not None:
            self.request("setBreakpoints", **breakpoints)
        self.request("setExceptionBreakpoints", filters=["uncaught"])
        done = self.send("configurationDone")
        self.answer(done)
        self.answer(attach)

    def leave(self) -> None:
        self.request("disconnect", terminateDebuggee=False)

    def _receive(self) -> None:
        """Wait for more bytes. Raises ConnectionError or TimeoutError with the last events."""
        chunk = self._socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError(f"the connection was closed; last events: {self.events[-5:]}")
        self._buffer += chunk
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            size = int(self._buffer[:end].rpartition(b":")[2])
            if len(self._buffer) < end + 4 + size:
                return
            message = msgspec.json.decode(bytes(self._buffer[end + 4 : end + 4 + size]))
            del self._buffer[: end + 4 + size]
            if message["type"] == "event":
                self.events.append(message)
            elif message["type"] == "response":
                self.answers[message["request_seq"]] = message


def milliseconds(since: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter()`."""
    return (time.perf_counter() - since) * 1000


def processor(pid: int) -> float:
    """Return the processor time so far, in seconds (proc(5): utime and stime are fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
