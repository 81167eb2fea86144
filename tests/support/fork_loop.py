"""A loop that forks a process for each request.

Programs run in these processes, so this file imports only the standard library.
"""

import gc
import json
import os
import signal
import socket

REQUEST_BYTES = 1 << 18
"""The maximum size of a request, larger than any environment."""


def next_arguments(requests: socket.socket) -> list[str]:
    """Fork for each request, and return the arguments in each forked process.

    A request is `[arguments, environment, folder]` in JSON with two descriptors: one for standard output and error, and
    a pipe for the pid and then the exit code.

    Raises SystemExit when the other side has closed its end.
    """
    # A run of the collector would copy the pages of all modules into each process.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 2)
        if not request:
            raise SystemExit
        output, ends = descriptors
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _fork_and_report(output, ends)
            arguments, environment, folder = json.loads(request)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(folder)
            return list(arguments)
        os.close(output)
        os.close(ends)


def _fork_and_report(output: int, ends: int) -> None:
    """Return in a new process, whose parent writes its pid and then its exit code to `ends`, one per line."""
    if pid := os.fork():
        os.close(output)
        os.write(ends, b"%d\n" % pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(ends, b"%d\n" % code)
        os._exit(0)
    os.close(ends)
    os.setsid()
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
