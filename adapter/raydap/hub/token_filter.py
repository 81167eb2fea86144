"""Takes the token out of a client's `attach` and `launch`, and checks it, before the core sees the message."""

import logging
from asyncio import Task
from collections import deque
from collections.abc import Callable

from raydap.hub.hub_token import TokenVerifier
from raydap.tasks import Tasks
from raydap.wire import envelope

log = logging.getLogger("raydap")

_MAX_HELD = 100
"""Messages that may wait behind one with a wrong token."""

_COMMANDS = ("attach", "launch")
_ARGUMENT = "token"


class TokenFilter:
    """Passes the messages of one client on, in their order and without the token.

    `on_authenticated` is called at the first right token, before its message is passed on. A message with a wrong token
    is passed on after the verifier's delay; the core refuses it, because `on_authenticated` has not been called.
    `abort` ends the connection. `authenticated`: the client has shown the token in another way.
    """

    def __init__(
        self,
        verifier: TokenVerifier,
        on_message: Callable[[bytes], None],
        on_authenticated: Callable[[], None],
        abort: Callable[[str], None],
        tasks: Tasks,
        authenticated: bool = False,
    ) -> None:
        self._verifier = verifier
        self._on_message = on_message
        self._on_authenticated = on_authenticated
        self._abort = abort
        self._tasks = tasks
        self._authenticated = authenticated
        self._held: deque[bytes] = deque()
        self._delaying: Task[None] | None = None

    def receive(self, data: bytes) -> None:
        """One message of the client."""
        if self._delaying is None:
            self._filter(data)
        elif len(self._held) < _MAX_HELD:
            self._held.append(data)
        else:
            self._abort("sent too much without the right token")

    def close(self) -> None:
        """The client is gone."""
        self._held.clear()
        if self._delaying is not None:
            self._delaying.cancel()

    def _filter(self, data: bytes) -> None:
        try:
            message = envelope.read(data)
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
                log.warning("a client over TCP has %s token", "no" if token is None else "a wrong")
                self._delaying = self._tasks.spawn(self._pass_on_later(data))
                return
            self._authenticated = True
            self._on_authenticated()
        self._on_message(data)

    async def _pass_on_later(self, data: bytes) -> None:
        await self._verifier.delay_refusal()
        self._delaying = None
        self._on_message(data)
        while self._held and self._delaying is None:
            self._filter(self._held.popleft())
