"""Gives the Pythons that a process with an agent starts an agent, too; runs in the process, and in its forked children.

raydap's variables (at_start/sitecustomize.py) are in no process's environment, because Ray's own processes would be
disturbed. So they are added for each command by itself: where Python starts another program, and only if that program
is a Python, or a script of one. What Ray, debugpy and multiprocessing start for themselves is left alone.

A shell, or any other program, that starts a Python in its turn does not have the variables.
"""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping

from .agent_lines import is_wanted
from .light_start import to_json
from .raydap_calls import path_here
from .replaced_functions import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .replaced_functions import Prepare

OWN_MODULES = ("ray._private.services", "debugpy.server.api", "multiprocessing.resource_tracker")
"""Modules that start Pythons in which the program's code does not run: Ray's daemons (start_ray_process), debugpy's
adapter (listen), and the process that tidies up for multiprocessing."""


Environment = Mapping[bytes, bytes]


class PythonCommands:
    """`agent` is the one agent of the process (agent.py). `at_start` returns the folder of sitecustomize.py, or raises
    OSError; it is called when a Python is started."""

    def __init__(self, agent: Any, at_start: Callable[[], str]) -> None:
        self.agent = agent
        self.at_start = at_start
        self._complained = False

    def follow(self) -> None:
        """Replace the functions by which Python starts programs. All others use these (os.py, subprocess.py,
        multiprocessing/util.py)."""
        import _posixsubprocess

        self._execve: Callable[..., Any] = os.execve
        modules = [each for each in (_posixsubprocess, sys.modules.get("subprocess")) if each is not None]
        places = [(each, name) for each in modules for name in ("fork_exec", "_fork_exec") if hasattr(each, name)]
        replace(_posixsubprocess.fork_exec, self._prepare_fork_exec(_posixsubprocess.fork_exec), *places)
        replace_in_os("execv", self._prepare_execv)
        replace_in_os("execve", self._prepare_execve)
        for name in ("posix_spawn", "posix_spawnp"):
            if hasattr(os, name):
                replace_in_os(name, self._prepare_spawn(getattr(os, name)))

    def _prepare_fork_exec(self, original: Callable[..., int]) -> Prepare:
        def prepare(
            args: Any, executables: Any, close_fds: Any, pass_fds: Any, cwd: Any, env: Any, *more: Any
        ) -> Callable[[], int] | None:
            added = self._added(executables, args, env, child=True)
            if added is None:
                return None
            if env is None and any(map(callable, more)):
                # Only preexec_fn is callable. Its place depends on the version of Python.
                more = tuple(self._adding(each, executables, args) if callable(each) else each for each in more)
            else:
                env = [name + b"=" + value for name, value in added.items()]
            return lambda: original(args, executables, close_fds, pass_fds, cwd, env, *more)

        return prepare

    def _adding(self, preexec_fn: Callable[[], Any], executables: Any, args: Any) -> Callable[[], None]:
        """A preexec_fn that calls this one. It runs in the forked child, whose environment the Python gets."""

        def new_preexec_fn() -> None:
            preexec_fn()
            try:
                added = self._added(executables, args, None, child=False)
            except Exception:
                added = None
            if added is not None:
                for name in (b"PYTHONPATH", b"RAYDAP_AGENT"):
                    os.putenv(name, added[name])

        return new_preexec_fn

    def _prepare_execv(self, path: Any, argv: Any, /) -> Callable[[], Any] | None:
        added = self._added([path], argv, None, child=False)
        return None if added is None else lambda: self._execve(path, argv, added)

    def _prepare_execve(self, path: Any, argv: Any, env: Any) -> Callable[[], Any] | None:
        # It refuses None, which means this process's own environment below.
        added = None if env is None else self._added([path], argv, env, child=False)
        return None if added is None else lambda: self._execve(path, argv, added)

    def _prepare_spawn(self, original: Callable[..., int]) -> Prepare:
        accepts_none = sys.version_info >= (3, 13)

        def prepare(path: Any, argv: Any, env: Any, /, **named: Any) -> Callable[[], int] | None:
            added = self._added([path], argv, env, child=True) if env is not None or accepts_none else None
            return None if added is None else lambda: original(path, argv, added, **named)

        return prepare

    def _added(self, executables: Iterable[Any], args: Any, env: Any, child: bool) -> Environment | None:
        """The environment for a Python; None if it needs nothing of ours. `env` is a mapping or a list of NAME=VALUE;
        None is that of this process. Without `child` the Python takes the place of this process. Raises any exception
        for wrong arguments."""
        raydap = self.agent.raydap and path_here(self.agent.raydap, self.agent.folder)
        gone = raydap and not os.path.exists(raydap)
        if gone or not is_python(executables, args) or is_own():
            return None
        given = environment_of(env)
        folder = self._folder() if is_wanted(given) else ""
        if not folder:
            return None
        ours = os.fsencode(folder)
        own_path = given.get(b"PYTHONPATH")
        kept = None if own_path is None else b":".join(each for each in own_path.split(b":") if each != ours)
        settings = {
            "raydap": raydap,
            "folder": self.agent.folder,
            "children": True,
            "identity": self.agent.identity_of_child() if child else self.agent.identity,
            "pythonpath": None if kept is None else os.fsdecode(kept),
        }
        path = ours + b":" + kept if kept else ours
        return {**given, b"PYTHONPATH": path, b"RAYDAP_AGENT": to_json(settings).encode()}

    def _folder(self) -> str:
        """`at_start`, or "" if there is none."""
        try:
            return self.at_start()
        except OSError as error:
            if not self._complained:
                self._complained = True
                sys.stderr.write(f"raydap cannot debug the Pythons that this process starts: {error}\n")
            return ""


def replace_in_os(name: str, prepare: Prepare) -> None:
    """Replace a function of os, and of posix, where os has it from."""
    original = getattr(os, name)
    replace(original, prepare, (os, name), (sys.modules[original.__module__], name))


def environment_of(env: Any) -> Environment:
    if env is None:
        return own_environment()
    if isinstance(env, Mapping):
        return {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    return {name: value for name, _, value in (each.partition(b"=") for each in env)}


def own_environment() -> Environment:
    """Return the environment that a program gets which is started without one.

    That is C's `environ`, in which `os.putenv` and libraries such as those of MPI set variables. os.environ has them
    not.
    """
    found: list[bytes] = []
    try:
        import ctypes

        variables = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    except (ImportError, OSError, ValueError):
        return dict(os.environb)  # This Python has no ctypes, or the system another name.
    while variables and (variable := variables[len(found)]) is not None:
        found.append(variable)
    return {name: value for name, _, value in (each.partition(b"=") for each in found)}


def is_python(executables: Iterable[Any], args: Any) -> bool:
    """Return whether the first of these paths that can be run is a Python that imports `sitecustomize` when it has
    these arguments, or a script that begins with `#!` and names one."""
    for each in executables:
        path = os.fsdecode(each)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            if has_name_of_python(path) or os.path.samefile(path, sys.executable):
                return imports_sitecustomize(args[1:])
            with open(path, "rb") as file:
                first = file.readline(200)
            if not first.startswith(b"#!") or b"python" not in first:
                return False
            interpreter, *options = first[2:].split()
            return not has_name_of_python(os.fsdecode(interpreter)) or imports_sitecustomize(options)
    return False


def imports_sitecustomize(args: Iterable[Any]) -> bool:
    """Return whether a Python with these arguments imports `sitecustomize` from PYTHONPATH: without -I, -E and -S.

    Source: Python/getopt.c and its SHORT_OPTS; -W, -X and one long option take a value.
    """
    words = iter(args)
    for each in words:
        word = os.fsdecode(each)
        if word == "--check-hash-based-pycs":
            next(words, None)
        if word.startswith("--"):
            continue
        if not word.startswith("-") or word == "-":
            return True
        for index, letter in enumerate(word):
            if letter in "IES":
                return False
            if letter in "cm":
                return True
            if letter in "WX":
                if index == len(word) - 1:
                    next(words, None)
                break
    return True


def has_name_of_python(path: str) -> bool:
    """Return whether the file has a name such as `python3.12` or `python3.13t`."""
    name = os.path.basename(path)
    for kind in ("python", "pypy"):
        if name.startswith(kind):
            abi = name[len(kind) :].lstrip("0123456789.")
            return abi == "" or (len(abi) == 1 and "a" <= abi <= "z")
    return False


def is_own() -> bool:
    """Whether one of OWN_MODULES starts it."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") in OWN_MODULES:
            return True
        frame = frame.f_back
    return False
