"""A socket of an agent, in a program that may close all its descriptors.

Programs do that, for example to become daemons. What they open next gets the same numbers. An agent must not read from
there, write to it, or close it. So each use first looks whether the number is still that of the agent's socket.
"""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
from _thread import allocate_lock
from select import POLLIN, poll

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class AgentSocket(_socket.socket):
    """A new Unix socket without a timeout, or one with this `number` as its descriptor, which moves (`high`).

    Its methods raise OSError (EBADF) when the program has closed the descriptor; `close` and `drop` raise nothing.
    Hold `reading` to keep other threads from reading.
    """

    def __init__(self, number: int | None = None) -> None:
        if number is None:
            number = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM).detach()
        super().__init__(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, high(number))
        self.settimeout(None)  # The program may have another default.
        self._file = self._present()
        self.reading = allocate_lock()

    def accept(self) -> AgentSocket:
        """Wait for a connection.

        accept(2) would keep the lowest free descriptor number while it waits. So the program's next files would get
        other numbers than without an agent.
        """
        self.setblocking(False)
        while True:
            self._check()
            waiting = poll()
            waiting.register(self.fileno(), POLLIN)
            waiting.poll()
            self._check()
            try:
                number, _ = self._accept()  # type: ignore[attr-defined]
            except BlockingIOError:
                continue
            return AgentSocket(number)

    def recv(self, *args: Any) -> bytes:
        with self.reading:
            self._check()
            return super().recv(*args)

    def sendall(self, *args: Any) -> None:
        self._check()
        super().sendall(*args)

    def setsockopt(self, *args: Any) -> None:
        self._check()
        super().setsockopt(*args)

    def shutdown(self, how: int) -> None:
        self._check()
        super().shutdown(how)

    def close(self) -> None:
        if self._is_ours():
            super().close()
        else:
            self.detach()

    def drop(self) -> None:
        """Closes the descriptor of this process only; for a forked child, whose parent goes on with its own."""
        ours, number = self._is_ours(), self.detach()
        if ours:
            os.close(number)

    def _check(self) -> None:
        if not self._is_ours():
            raise OSError(errno.EBADF, "the program has closed the descriptor")

    def _is_ours(self) -> bool:
        try:
            return self._present() == self._file
        except OSError:
            return False

    def _present(self) -> tuple[int, int]:
        status = os.fstat(self.fileno())
        return status.st_dev, status.st_ino


HIGH_NUMBERS = (960, 192)
"""Descriptors from here on are rarely a program's, below a limit of 1024 or 256."""


def high(number: int) -> int:
    """Move a descriptor to a high number; return the new number.

    The program opens its files under the numbers that they have without an agent, and those below 192 are its own.
    """
    for lowest in HIGH_NUMBERS:
        try:
            moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
        os.close(number)
        return moved
    return number
