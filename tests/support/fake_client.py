"""The editor in the scripts of sessions (support/playbook.py)."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from raydap.core.events import ClientGone, ClientMessage
from raydap.errors import Code
from raydap.protocol.types import ClientId
from support.conformance import validate

if TYPE_CHECKING:
    from support.playbook import Play


class FakeClient:
    """A scripted editor.

    It checks that `seq` grows by one, and that each response answers an open request. `modules` are the bodies of the
    `module` events. They may come at any time, so they do not wait in the inbox.
    """

    def __init__(self, play: "Play", client: ClientId) -> None:
        self.play = play
        self.id = client
        self.open: dict[int, str] = {}
        self.inbox: list[dict[str, Any]] = []
        self.modules: list[dict[str, Any]] = []
        self.transcript: list[dict[str, Any]] = []
        self.dropped = False
        self.left = False
        self._seq = 0
        self._expected = 1

    def raw(self, data: bytes) -> None:
        """Send any bytes."""
        self.play.feed(ClientMessage(self.id, data))

    def send(self, command: str, /, **arguments: Any) -> int:
        """Send a request and return its seq."""
        self._seq += 1
        message: dict[str, Any] = {"seq": self._seq, "type": "request", "command": command}
        if arguments:
            message["arguments"] = arguments
        self.open[self._seq] = command
        self.transcript.append(message)
        seq = self._seq
        self.left = self.left or command == "disconnect"
        self.raw(json.dumps(message).encode())
        return seq

    def request(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Send a request that must succeed, and return the body of the response."""
        return self.answer(self.send(command, **arguments))

    def refused(self, code: Code | None, command: str, /, **arguments: Any) -> str:
        """Send a request that must fail with this code, or if None with the worker's own error. Return the text."""
        return self.refusal(code, self.send(command, **arguments))

    def answer(self, seq: int) -> dict[str, Any]:
        response = self._response(seq)
        assert response["success"] is True, response
        body: dict[str, Any] = response.get("body", {})
        return body

    def refusal(self, code: Code | None, seq: int) -> str:
        response = self._response(seq)
        assert response["success"] is False, response
        text: str = response["message"]
        number = response["body"].get("error", {}).get("id")
        assert number == (None if code is None else code.value), response
        return text

    def event(self, name: str) -> dict[str, Any]:
        """Take the oldest message of the inbox, which must be this event. Return its body."""
        assert self.inbox, f"no {name} came"
        message = self.inbox.pop(0)
        assert message.get("event") == name, message
        body: dict[str, Any] = message.get("body", {})
        return body

    def stop(self) -> dict[str, Any]:
        """Take a `stopped` event, and before it a new thread's `thread` event. Return the body of `stopped`."""
        if self.inbox and self.inbox[0].get("event") == "thread":
            started = self.event("thread")
            stopped = self.event("stopped")
            assert started == {"reason": "started", "threadId": stopped["threadId"]}
        else:
            stopped = self.event("stopped")
        assert stopped["allThreadsStopped"] is False
        return stopped

    def told(self, code: Code) -> str:
        """Take the output and the log line about a problem that no failed request reports. Return the text."""
        body = self.event("output")
        text: str = body["output"]
        assert body["category"] == "important"
        assert body["data"] == {"raydap": {"code": code.value}}
        assert f"[raydap {code.value}]" in text, text
        self.play.warned(text.rstrip())
        return text

    def resume(self, thread: int, command: str = "continue") -> None:
        """Resume a thread, and take the answer and the event that follow."""
        self.request(command, threadId=thread)
        assert self.event("continued") == {"threadId": thread, "allThreadsContinued": False}

    def nothing(self) -> None:
        assert not self.inbox, self.inbox

    def hang_up(self, reason: str = "closed") -> None:
        self.left = True
        self.play.feed(ClientGone(self.id, reason))

    def leave(self) -> None:
        self.request("disconnect")
        assert self.dropped

    def received(self, data: bytes) -> None:
        message = json.loads(data)
        assert message["seq"] == self._expected, message
        self._expected += 1
        command = None
        if message["type"] == "response":
            command = self.open.pop(message["request_seq"], None)
            assert command is not None, f"answered twice or unasked: {message}"
        self.play.identify(message.get("body"))
        if self.play.conform:
            validate(message, command)
        self.transcript.append(message)
        if message.get("event") == "module":
            self.modules.append(message["body"])
        else:
            self.inbox.append(message)

    def _response(self, seq: int) -> dict[str, Any]:
        for place, message in enumerate(self.inbox):
            if message["type"] == "response" and message["request_seq"] == seq:
                return self.inbox.pop(place)
        raise AssertionError(f"request {seq} ({self.open.get(seq)}) has no answer; received: {self.inbox}")


def names(messages: Iterable[dict[str, Any]]) -> list[str]:
    """Return the command or the event of each message, for comparisons."""
    return [message.get("event") or message["command"] for message in messages]
