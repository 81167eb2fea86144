"""A loop that forks a process for each request.

Programs run in these processes, so this file imports only the standard library.
"""

import fcntl
import gc
import io
import json
import os
import signal
import socket
import sys
import termios

REQUEST_BYTES = 1 << 18
"""The maximum size of a request, larger than any environment."""


def next_arguments(requests: socket.socket) -> list[str]:
    """Fork for each request, and return the arguments in each forked process.

    A request is `[arguments, environment, folder]` in JSON with four descriptors: standard input, output and error, and
    a pipe for the pid and then the exit code.

    Raises SystemExit when the other side has closed its end.
    """
    # A run of the collector would copy the pages of all modules into each process.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 4)
        if not request:
            raise SystemExit
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _fork_and_report(descriptors[:3], descriptors[3])
            arguments, environment, folder = json.loads(request)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(folder)
            return list(arguments)
        for descriptor in descriptors:
            os.close(descriptor)


def _fork_and_report(streams: list[int], ends: int) -> None:
    """Return in a new process, whose parent writes its pid and then its exit code to `ends`, one per line."""
    if pid := os.fork():
        for descriptor in streams:
            os.close(descriptor)
        os.write(ends, b"%d\n" % pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(ends, b"%d\n" % code)
        os._exit(0)
    os.close(ends)
    os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _open_streams()


def _open_streams() -> None:
    """Open the streams of `sys` again. Python looks only at the start whether they are terminals and can be sought."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        former = getattr(sys, name)
        # Tests set PYTHONUNBUFFERED.
        raw = open(number, "rb" if number == 0 else "wb", buffering=-1 if number == 0 else 0, closefd=False)  # noqa: SIM115
        stream = io.TextIOWrapper(
            raw, former.encoding, former.errors, line_buffering=number == 2 or raw.isatty(), write_through=number > 0
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
