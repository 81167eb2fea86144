"""Ends a debugpy adapter that reads nothing more from its worker; runs in the worker.

An adapter that was sent a message of more than 16 MiB lives on, but reads no more (message_limit.py). Then pydevd's
writer waits for ever, no request has an answer, and nobody can resume the worker. message_limit.py keeps such messages
back. If one comes all the same, the adapter is killed: pydevd notices that and lets the worker run on, and raydap
notices it and tells the user.
"""

import os
import signal
import socket
import struct
import sys
import threading
from typing import Any

from .thread_frames import current_frames

SEND_TIMEOUT_S = 30
"""Seconds for a part of a message, if nothing of it can be written. An adapter reads at once what it is sent."""

_MAX_BODY_SIZE = 0xFFFFFF


def end_stuck_adapter(debugger: Any) -> None:
    """Does nothing in a child process, whose adapter is that of its parent, too."""
    if sys.platform != "linux" or debugger.get_arg_ppid():
        return

    def dispose_and_kill_all_pydevd_threads(*args: Any, **kwargs: Any) -> None:
        kill_adapter(debugger)
        type(debugger).dispose_and_kill_all_pydevd_threads(debugger, *args, **kwargs)

    debugger.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    set_send_timeout(debugger, SEND_TIMEOUT_S)
    # What is being sent already has no timeout.
    frame = current_frames().get(debugger.writer.ident)
    if frame is not None and len(frame.f_locals.get("as_bytes", b"")) > _MAX_BODY_SIZE:
        _kill(debugger)


def set_send_timeout(debugger: Any, seconds: int) -> None:
    """With 0 there is none. It ends the writer, and so the debugger (pydevd_comm.py, WriterThread)."""
    if sys.platform == "linux":
        debugger.writer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", seconds, 0))


def kill_adapter(debugger: Any) -> None:
    """To be called before the debugger is disposed of. Does nothing unless its writer does that."""
    if threading.current_thread() is debugger.writer and not debugger.pydb_disposed:
        _kill(debugger)


def _kill(debugger: Any) -> None:
    """The adapter has daemonized; its command line has a token that is known to nobody else."""
    option = b"\0--server-access-token\0" + str(debugger.authentication.access_token).encode() + b"\0"
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            # Another user's process can make reading its command line last forever.
            with open("/proc/" + pid + "/status", "rb") as file:
                if b"\nUid:\t%d\t" % os.getuid() not in file.read():
                    continue
            with open("/proc/" + pid + "/cmdline", "rb") as file:
                if option in file.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass  # It has ended, or belongs to somebody else.
