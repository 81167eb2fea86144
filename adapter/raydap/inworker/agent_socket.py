"""A socket of an agent, in a program that may close all its descriptors.

Programs do that, for example to become daemons. The files that they open next get the same descriptor numbers. An agent
must not read, write or close those files. So each use of the socket first checks that the descriptor is still the
agent's.
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
    """A Unix stream socket that checks its descriptor before each use.

    Without `number` it is a new socket. Otherwise it takes over the descriptor with this number and moves it (`high`).
    It has no timeout. Its methods raise OSError (EBADF) when the program has closed the descriptor; `close` and `drop`
    raise nothing.
    """

    def __init__(self, number: int | None = None) -> None:
        if number is None:
            number = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM).detach()
        super().__init__(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, high(number))
        self.settimeout(None)  # The program may have set another default.
        self._file = self._present()
        """The device and the inode of the socket."""
        self.reading = allocate_lock()
        """Held by each `recv`. Hold it to keep other threads from reading."""

    def accept(self) -> AgentSocket:
        """Wait for a connection and return its socket.

        Do not wait in accept(2): it would reserve the lowest free descriptor number, so the program's next files would
        get other numbers than without an agent.
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
        """Receive up to this many bytes, b'' at the end of the stream."""
        with self.reading:
            self._check()
            return super().recv(*args)

    def sendall(self, *args: Any) -> None:
        """Send all bytes."""
        self._check()
        super().sendall(*args)

    def setsockopt(self, *args: Any) -> None:
        """Set an option of the socket."""
        self._check()
        super().setsockopt(*args)

    def shutdown(self, how: int) -> None:
        """Shut down one direction or both."""
        self._check()
        super().shutdown(how)

    def close(self) -> None:
        """Close the descriptor, unless the program has closed it and may have reused its number."""
        if self._is_ours():
            super().close()
        else:
            self.detach()

    def drop(self) -> None:
        """Close the descriptor in a forked child, without ending the connection of its parent."""
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
"""Descriptor numbers from here on are rarely used by programs. The second is for a limit of 256 descriptors, the first
for 1024."""


def high(number: int) -> int:
    """Move a descriptor to a high number; return the new number, or the old one if that fails.

    The program's files then get the same numbers as without an agent. Numbers below 192 are left to the program.
    """
    for lowest in HIGH_NUMBERS:
        try:
            moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
        os.close(number)
        return moved
    return number
