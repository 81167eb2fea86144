"""Recovery from a debugpy adapter that no longer reads from its worker; runs in the worker.

An adapter that receives a message of more than 16 MiB keeps running, but stops reading (message_limit.py). Then
pydevd's writer waits forever, no request gets an answer, and no client can resume the worker. message_limit.py prevents
such messages. If one is sent anyway, the adapter is killed: pydevd notices that and resumes the worker, and raydap
notices it and reports it to the user.
"""

import os
import signal
import socket
import struct
import sys
import threading
from typing import Any

from .replaced_functions import install
from .thread_frames import current_frames

SEND_TIMEOUT_S = 30
"""Seconds after which sending fails if the adapter reads nothing. A working adapter reads at once."""

_MAX_BODY_SIZE = 0xFFFFFF
"""The longest message in bytes that debugpy's adapter reads (messaging.py, MAX_BODY_SIZE)."""


def end_stuck_adapter(debugger: Any) -> None:
    """Kill the adapter if it is stuck, now or later.

    Do nothing on systems other than Linux, and in a child process, whose adapter is also its parent's.
    """
    if sys.platform != "linux" or debugger.get_arg_ppid():
        return

    def dispose_and_kill_all_pydevd_threads(*args: Any, **kwargs: Any) -> None:
        kill_adapter(debugger)
        type(debugger).dispose_and_kill_all_pydevd_threads(debugger, *args, **kwargs)

    install("debugger:dispose_and_kill_all_pydevd_threads", dispose_and_kill_all_pydevd_threads, debugger)
    set_send_timeout(debugger, SEND_TIMEOUT_S)
    # A message that is already being sent has no timeout.
    frame = current_frames().get(debugger.writer.ident)
    if frame is not None and len(frame.f_locals.get("as_bytes", b"")) > _MAX_BODY_SIZE:
        _kill(debugger)


def set_send_timeout(debugger: Any, seconds: int) -> None:
    """Set the timeout for sending to the adapter; 0 means none.

    A timeout ends pydevd's writer, and so the debugger (pydevd_comm.py, WriterThread).
    """
    if sys.platform == "linux":
        debugger.writer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", seconds, 0))


def kill_adapter(debugger: Any) -> None:
    """Kill the adapter if the current thread is pydevd's writer and the debugger is not disposed of yet.

    Call this before disposing of the debugger.
    """
    if threading.current_thread() is debugger.writer and not debugger.pydb_disposed:
        _kill(debugger)


def _kill(debugger: Any) -> None:
    """Kill the adapter, which is found by its command line.

    The adapter has daemonized. Its command line has a token that no other process has.
    """
    option = b"\0--server-access-token\0" + str(debugger.authentication.access_token).encode() + b"\0"
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            # Another user's process can make a read of its command line block forever.
            with open("/proc/" + pid + "/status", "rb") as file:
                if b"\nUid:\t%d\t" % os.getuid() not in file.read():
                    continue
            with open("/proc/" + pid + "/cmdline", "rb") as file:
                if option in file.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass  # The process has ended, or belongs to another user.
