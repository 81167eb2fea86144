"""A socket of an agent, in a program that may close all its descriptors.

Programs do that, for example to become daemons. What they open next gets the same numbers. An agent must not read from
there, write to it, or close it. So each use first looks whether the number is still that of the agent's socket.
"""

import contextlib
import errno
import os
import socket
import sys
import threading
from typing import Any


class AgentSocket(socket.socket):
    """Takes over the descriptor of another socket, which is of no use then. Its methods raise OSError (EBADF) when the
    program has closed the descriptor; `close` and `drop` raise nothing. Nobody reads from it while somebody else holds
    `reading`."""

    def __init__(self, taken: socket.socket) -> None:
        timeout = taken.gettimeout()
        super().__init__(fileno=taken.detach())
        self.settimeout(timeout)
        self._file = self._present()
        self.reading = threading.Lock()

    def accept(self) -> "tuple[AgentSocket, Any]":
        self._check()
        connection, address = super().accept()
        return AgentSocket(connection), address

    def bind_privately(self, path: str) -> None:
        """Bind to a path where only this user can connect. Raises OSError.

        The mode of a socket before it is bound is that of the file, which takes the bits of the umask away (Linux,
        net/unix/af_unix.c, unix_bind). The umask is the whole process's: other threads make files at the same time.
        """
        with contextlib.suppress(OSError):
            os.fchmod(self.fileno(), 0o600)
        self.bind(path)
        if sys.platform != "linux":
            os.chmod(path, 0o600)  # Nobody can connect before it listens.

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
