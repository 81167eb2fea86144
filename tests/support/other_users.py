"""The users of a shared machine. A test that uses them needs root, which can become any user."""

import codecs
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

ATTACKER = 65534

ORDINARY = 20001 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
"""An ordinary user, one for each process that runs tests."""

VICTIMS = (0, ORDINARY)

codecs.lookup("ascii")  # An ordinary user may be unable to read Python's library.

LIMIT_S = 20.0
"""Seconds after which a step that hangs is interrupted, so that its test fails."""

# The program of another user's process. sys.argv: the user id, "listen" or "connect", and the path of the socket.
STRANGER = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
what, path = sys.argv[2:]
with socket.socket(socket.AF_UNIX) as own:
    own.settimeout(30)
    if what == "listen":
        own.bind(path)
        os.chmod(path, 0o777)
        own.listen()
        print("listening", flush=True)
        with own.accept()[0] as connection:
            print("received", connection.recv(100), flush=True)
    else:
        try:
            own.connect(path)
            print("received", own.recv(100))
        except PermissionError:
            print("kept out")
        except ConnectionResetError:
            print("received", b"")
"""


class Hangs(BaseException):
    """A step took too long. This is not an Exception, so that no `except Exception` in the tested code catches it."""


@contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """Run the block as the user with this id, in all threads of this process. Calls can be nested."""
    users, groups = os.getresuid(), os.getresgid()
    os.seteuid(0)
    os.setgroups([])
    os.setresgid(uid, uid, 0)
    os.setresuid(uid, uid, 0)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setresgid(*groups)
        os.setresuid(*users)


@contextmanager
def not_forever() -> Iterator[None]:
    """Interrupt a step that hangs, by an exception in the main thread."""

    def end(number: int, frame: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stranger(what: str, path: str, uid: int = ATTACKER) -> "subprocess.Popen[str]":
    """Start a process of another user that listens at a path, or connects to it."""
    command = [sys.executable, "-c", STRANGER, str(uid), what, path]
    with acting_as(0):
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextmanager
def listening_stranger(path: str) -> Iterator[Callable[[], str]]:
    """Let another user listen at this path. Yield a function that returns what the first connection there has sent."""
    with stranger("listen", path) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            yield process.stdout.readline
        finally:
            with acting_as(0):
                process.kill()


def received(path: str, uid: int = ATTACKER) -> str:
    """Return what a process of another user receives when it connects to this path."""
    with stranger("connect", path, uid) as process:
        return process.communicate(timeout=LIMIT_S)[0].strip()
