"""Removes the token from a client's `attach` and `launch`, and checks it, before the core gets the message."""

import logging
from asyncio import Task
from collections import deque
from collections.abc import Callable

from raydap.hub.hub_token import TokenVerifier
from raydap.tasks import Tasks
from raydap.wire import envelope

log = logging.getLogger("raydap")

UNAUTHENTICATED_MAX_MESSAGES = 100
"""Messages that a client may send in all without the token.

A limit of bytes is not enough, because a short message can have a long answer.
"""

_COMMANDS = ("attach", "launch")
_ARGUMENT = "token"


class TokenFilter:
    """Passes the messages of one client to `on_message`, in order and without the token.

    At the first right token it calls `on_authenticated`, and then passes the message on. It passes a message with a
    wrong token on after the verifier's delay; the core refuses that message, because `on_authenticated` was not called.

    `abort` ends the connection. `authenticated` is true for a client that has already sent the token in another way, or
    needs none. `on_session` is called when an authenticated client begins or enters a session, unless it only observes,
    joins the session, or lists the workers. A client that has listed them counts when it attaches to a worker.
    """

    def __init__(
        self,
        verifier: TokenVerifier,
        on_message: Callable[[bytes], None],
        on_authenticated: Callable[[], None],
        abort: Callable[[str], None],
        tasks: Tasks,
        authenticated: bool = False,
        on_session: Callable[[], None] = lambda: None,
    ) -> None:
        self._verifier = verifier
        self._on_message = on_message
        self._on_authenticated = on_authenticated
        self._abort = abort
        self._tasks = tasks
        self._authenticated = authenticated
        self._on_session = on_session
        self._may_attach = False
        self._unauthenticated_messages = 0
        self._held: deque[bytes] = deque()
        self._delaying: Task[None] | None = None

    def receive(self, data: bytes) -> None:
        """Take one message of the client."""
        if not self._authenticated:
            self._unauthenticated_messages += 1
            if self._unauthenticated_messages > UNAUTHENTICATED_MAX_MESSAGES:
                self._abort("sent too many messages without the right token")
                return
        if self._delaying is None:
            self._filter(data)
        else:
            self._held.append(data)

    def close(self) -> None:
        """Drop the messages that wait, because the client is gone."""
        self._held.clear()
        if self._delaying is not None:
            self._delaying.cancel()

    def _filter(self, data: bytes) -> None:
        try:
            message = envelope.read(data)
            if self._may_attach and message.type == "request" and message.command == "raydap/attach":
                self._on_session()
            checked = message.type == "request" and message.command in _COMMANDS
            arguments = envelope.load(message.arguments or b"{}") if checked else None
        except envelope.EnvelopeError:
            arguments = None
        if not isinstance(arguments, dict):
            self._on_message(data)
            return
        if _ARGUMENT in arguments:
            token = arguments.pop(_ARGUMENT)
            data = envelope.request(message.seq, message.command, envelope.dump(arguments))
        else:
            token = None
        if not self._authenticated:
            if not self._verifier.accepts(token if isinstance(token, str) else None):
                log.warning("a client over TCP sent %s token", "no" if token is None else "a wrong")
                self._delaying = self._tasks.spawn(self._pass_on_later(data))
                return
            self._authenticated = True
            self._on_authenticated()
        self._may_attach = arguments.get("join") is not True and arguments.get("role") != "observer"
        if self._may_attach and arguments.get("autoAttach") is not False:
            self._on_session()
        self._on_message(data)

    async def _pass_on_later(self, data: bytes) -> None:
        await self._verifier.delay_refusal()
        self._delaying = None
        self._on_message(data)
        while self._held and self._delaying is None:
            self._filter(self._held.popleft())
