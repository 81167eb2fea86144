"""Stands between a client and the core: takes the token out of `attach` and `launch`, and looks at it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from raydap.hub.tokens import Guard
from raydap.wire import envelope

log = logging.getLogger("raydap")

_MAX_KEPT = 100
"""Messages that may wait while a wrong token does its penalty."""

_COMMANDS = ("attach", "launch")
_ARGUMENT = "token"


class Gate:
    """Passes the messages of one client on, in their order and without the token.

    `trusted` from the start is a client that has shown it in another way. With the first right token `on_trusted` is
    called, before the message that had it is passed on. One with a wrong token is passed on after the guard's penalty;
    whoever gets it refuses it, since `on_trusted` has not been called. `refuse` ends the connection.
    """

    def __init__(
        self,
        guard: Guard,
        on_message: Callable[[bytes], None],
        on_trusted: Callable[[], None],
        refuse: Callable[[str], None],
        trusted: bool = False,
    ) -> None:
        self._guard = guard
        self._on_message = on_message
        self._on_trusted = on_trusted
        self._refuse = refuse
        self._trusted = trusted
        self._kept: deque[bytes] = deque()
        self._penalty: asyncio.Task[None] | None = None

    def take(self, data: bytes) -> None:
        """One message of the client."""
        if self._penalty is None:
            self._look(data)
        elif len(self._kept) < _MAX_KEPT:
            self._kept.append(data)
        else:
            self._refuse("sent too much without the right token")

    def close(self) -> None:
        """The client is gone."""
        self._kept.clear()
        if self._penalty is not None:
            self._penalty.cancel()

    def _look(self, data: bytes) -> None:
        try:
            message = envelope.read(data)
            opening = message.type == "request" and message.command in _COMMANDS
            arguments = envelope.load(message.arguments or b"{}") if opening else None
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
        if not self._trusted:
            if not self._guard.admits(token if isinstance(token, str) else None):
                log.warning("a client over TCP has %s token", "no" if token is None else "a wrong")
                self._penalty = asyncio.get_running_loop().create_task(self._wait(data))
                return
            self._trusted = True
            self._on_trusted()
        self._on_message(data)

    async def _wait(self, data: bytes) -> None:
        await self._guard.penalty()
        self._penalty = None
        self._on_message(data)
        while self._kept and self._penalty is None:
            self._look(self._kept.popleft())
