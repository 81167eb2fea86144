"""A debug session with scripted responses, for tests of the terminal."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from raydap.client.dap_connection import DapConnection
from raydap.client.joining import JoinedSession, Kind
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.terminal.live_session import LiveSession
from raydap.wire import envelope


class ScriptedConnection(DapConnection):
    """A connection with a scripted answer for each command.

    An answer is a body, a function that returns the body for the arguments, or an exception. `requests` are the
    requests that were sent, with the arguments as they arrive.
    """

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__(lambda name, body: None, lambda reason: None)
        self.answers = dict(answers)
        self.requests: list[tuple[str, Any]] = []

    @property
    def commands(self) -> list[str]:
        return [command for command, _ in self.requests]

    async def request(self, command: str, arguments: Any = None, take: Callable[[Any], None] | None = None) -> Any:
        sent = json.loads(envelope.request(1, command, {} if arguments is None else arguments))
        self.requests.append((command, sent["arguments"]))
        answer = self.answers[command]
        body = answer(sent["arguments"]) if callable(answer) else answer
        if isinstance(body, Exception):
            raise body
        body = envelope.load(envelope.dump(body))
        if take is not None:
            take(body)
        return body


class ScriptedLive(LiveSession):
    """A live session that has begun, with these workers."""

    def __init__(self, *entries: WorkerEntry, kind: Kind = "own", **answers: Any) -> None:
        super().__init__()
        self.workers = {entry.key: entry for entry in entries}
        self.listed.set()
        self.session = JoinedSession(kind, "a session of its own", self._take_event, self._gone)
        self.connection = ScriptedConnection({name.replace("__", "/"): answer for name, answer in answers.items()})
        self.session.connection = self.connection
