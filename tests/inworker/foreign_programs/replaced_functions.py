"""Functions that raydap replaces have the attributes, errors and effects of Python's own."""

import _posixsubprocess
import builtins
import copy
import inspect
import os
import pickle
import signal
import sys

FUNCTIONS = {
    "fork": os.fork,
    "forkpty": os.forkpty,
    "execv": os.execv,
    "execve": os.execve,
    "posix_spawn": os.posix_spawn,
    "posix_spawnp": os.posix_spawnp,
    "fork_exec": _posixsubprocess.fork_exec,
    "breakpoint": builtins.breakpoint,
    "breakpointhook": sys.breakpointhook,
}

WRONG_CALLS = {
    "fork": [((1,), {}), ((), {"name": 1})],
    "forkpty": [((1,), {})],
    "execv": [((), {}), (("/missing",), {}), (("/missing", ()), {}), (("/missing", ["a"]), {}), ((1, ["a"]), {})],
    "execve": [
        ((), {}),
        (("/missing", ["a"]), {}),
        (("/missing", ["a"], None), {}),
        (("/missing", ["a"], {"A": 1}), {}),
        ((), {"path": "/missing", "argv": ["a"], "env": {}}),
    ],
    "posix_spawn": [((), {}), (("/missing", ["a"], {}), {}), (("/missing", ["a"], {}), {"wrong": 1})],
    "posix_spawnp": [(("missing-program", ["a"], {}), {}), (("missing-program", [], {}), {})],
    "fork_exec": [((), {}), ((1, 2, 3), {})],
}


class Owner:
    """A class with the functions as attributes: functions of C do not become methods there."""


def signature(function):
    try:
        return str(inspect.signature(function))
    except ValueError as error:
        return str(error)


def call(function, args, named):
    try:
        return function(*args, **named)
    except Exception as error:
        return type(error).__name__, str(error), getattr(error, "filename", None)


def look(name, function):
    print(name, function.__name__, function.__qualname__, function.__module__, bool(function.__doc__))
    print("  ", signature(function), callable(function), bool(function))
    if name.startswith("breakpoint"):
        return  # These are Python functions during a session, as in other debuggers.
    print("  ", repr(function), isinstance(function, type(len)), inspect.isbuiltin(function))
    print("  ", pickle.loads(pickle.dumps(function)) is function, copy.copy(function) is function)
    print("  ", function == function, hash(function) == hash(function), function in {function}, function == len)
    setattr(Owner, name, function)
    print("  ", getattr(Owner(), name) is function)
    for args, named in WRONG_CALLS[name]:
        print("    ", args, sorted(named), call(function, args, named))


def children():
    """Check that a child of each kind has the environment that it was given, and its exit code."""
    before = dict(os.environ)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, b"forked")
        os._exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.read(read, 100))
    command = ["/bin/sh", "-c", "echo $0 $A; exit 4", "spawned"]
    pid = os.posix_spawn("/bin/sh", command, {"A": "given"}, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.read(read, 100))
    for execute in (lambda: os.execv("/bin/sh", command), lambda: os.execve("/bin/sh", command, {"A": "given"})):
        pid = os.fork()
        if pid == 0:
            os.dup2(write, 1)
            os.environ["A"] = "own"
            execute()
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.read(read, 100))
    print(dict(os.environ) == before)


def inside():
    """Call a replaced function while it runs: from a signal handler, and from a function that runs around a fork."""
    begun = []
    seen = []

    def before():
        if not begun:
            begun.append(1)
            signal.raise_signal(signal.SIGUSR1)

    def fork_again(number, frame):
        pid = os.fork()
        if pid == 0:
            os._exit(5)
        seen.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    signal.signal(signal.SIGUSR1, fork_again)
    os.register_at_fork(before=before)
    pid = os.fork()
    if pid == 0:
        os._exit(6)
    print(seen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def as_if_patched():
    """Replace a function, as gevent does, and put the original back."""
    original = os.fork
    calls = []

    def fork():
        calls.append(1)
        return original()

    os.fork = fork
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    os.fork = original
    print(calls, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.fork is original)


for each in FUNCTIONS.items():
    look(*each)
sys.stdout.flush()
children()
sys.stdout.flush()
inside()
sys.stdout.flush()
as_if_patched()
