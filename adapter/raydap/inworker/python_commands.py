"""Agents for the Pythons that a process with an agent starts; runs in the process, and in its forked children.

raydap's variables (at_start/sitecustomize.py) are in no process's environment, because they would disturb Ray's own
processes. So they are added only to the commands that need them: where Python starts another program, and that program
is a Python or a Python script. The Pythons that Ray, debugpy and multiprocessing start for themselves are left alone.

A Python that is started by a shell, or by any other program, does not get the variables.
"""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping

from .agent_lines import is_wanted
from .light_start import to_json
from .raydap_calls import path_here
from .replaced_functions import Replacement, install, original

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .replaced_functions import Prepare

OWN_MODULES = ("ray._private.services", "debugpy.server.api", "multiprocessing.resource_tracker")
"""Modules that start Pythons in which the program's code does not run: Ray's daemons (start_ray_process), debugpy's
adapter (listen), and multiprocessing's resource tracker."""


Environment = Mapping[bytes, bytes]


class PythonCommands:
    """The replaced functions by which this process starts programs; they give each Python an agent."""

    def __init__(self, agent: Any, at_start: Callable[[], str]) -> None:
        self.agent = agent
        """The one agent of the process (agent.py)."""
        self.at_start = at_start
        """A function that returns the folder of sitecustomize.py, or raises OSError. It is called when a Python is
        started."""
        self._complained = False

    def follow(self) -> None:
        """Replace the functions by which Python starts programs.

        All its other functions call these (os.py, subprocess.py, multiprocessing/util.py).
        """
        import _posixsubprocess

        self._execve: Callable[..., Any] = os.execve
        replacement = Replacement(_posixsubprocess.fork_exec, self._prepare_fork_exec(_posixsubprocess.fork_exec))
        for path in ("_posixsubprocess:fork_exec", "subprocess:_fork_exec"):
            if original(path) is not None:
                install(path, replacement)
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
                # Only preexec_fn is callable. Its position depends on the version of Python.
                more = tuple(self._adding(each, executables, args) if callable(each) else each for each in more)
            else:
                env = [name + b"=" + value for name, value in added.items()]
            return lambda: original(args, executables, close_fds, pass_fds, cwd, env, *more)

        return prepare

    def _adding(self, preexec_fn: Callable[[], Any], executables: Any, args: Any) -> Callable[[], None]:
        """Return a preexec_fn that calls the given one and then adds raydap's variables.

        It runs in the forked child, whose environment the Python gets.
        """

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
        # execve refuses None, but for `_added` None is the environment of this process.
        added = None if env is None else self._added([path], argv, env, child=False)
        return None if added is None else lambda: self._execve(path, argv, added)

    def _prepare_spawn(self, original: Callable[..., int]) -> Prepare:
        accepts_none = sys.version_info >= (3, 13)

        def prepare(path: Any, argv: Any, env: Any, /, **named: Any) -> Callable[[], int] | None:
            added = self._added([path], argv, env, child=True) if env is not None or accepts_none else None
            return None if added is None else lambda: original(path, argv, added, **named)

        return prepare

    def _added(self, executables: Iterable[Any], args: Any, env: Any, child: bool) -> Environment | None:
        """Return the environment for a Python with an agent; None if the command needs no change.

        `env` is a mapping or a list of NAME=VALUE; None is the environment of this process. `child` is False if the
        Python replaces this process. Raises any exception for wrong arguments.
        """
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
        """Return the folder from `at_start`. If that fails, return "" and write the reason once on standard error."""
        try:
            return self.at_start()
        except OSError as error:
            if not self._complained:
                self._complained = True
                sys.stderr.write(f"raydap cannot debug the Pythons that this process starts: {error}\n")
            return ""


def replace_in_os(name: str, prepare: Prepare) -> None:
    """Replace a function in `os` and in `posix`, from which `os` imports it."""
    replacement = Replacement(getattr(os, name), prepare)
    for module in ("os", "posix"):
        install(f"{module}:{name}", replacement)


def environment_of(env: Any) -> Environment:
    """Return the environment that `env` stands for: a mapping, a list of NAME=VALUE, or None for this process's."""
    if env is None:
        return own_environment()
    if isinstance(env, Mapping):
        return {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    return {name: value for name, _, value in (each.partition(b"=") for each in env)}


def own_environment() -> Environment:
    """Return the environment that a program inherits when it is started without one.

    It is C's `environ`. `os.putenv`, and libraries such as those of MPI, set variables there that os.environ lacks.
    """
    found: list[bytes] = []
    try:
        import ctypes

        variables = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    except (ImportError, OSError, ValueError):
        return dict(os.environb)  # This Python lacks ctypes, or the system lacks this name.
    while variables and (variable := variables[len(found)]) is not None:
        found.append(variable)
    return {name: value for name, _, value in (each.partition(b"=") for each in found)}


def is_python(executables: Iterable[Any], args: Any) -> bool:
    """Return whether a command starts a Python that imports `sitecustomize`.

    The command runs the first of these paths that can be run. It is a Python with these arguments, or a script whose
    `#!` line names a Python.
    """
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
    """Return whether a Python with these arguments imports `sitecustomize` from PYTHONPATH.

    -I, -E and -S prevent that. Source: Python/getopt.c and its SHORT_OPTS; -W, -X and one long option take a value.
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
    """Return whether the file is named like a Python, such as `python3.12` or `python3.13t`."""
    name = os.path.basename(path)
    for kind in ("python", "pypy"):
        if name.startswith(kind):
            abi = name[len(kind) :].lstrip("0123456789.")
            return abi == "" or (len(abi) == 1 and "a" <= abi <= "z")
    return False


def is_own() -> bool:
    """Return whether one of OWN_MODULES is on the current stack, and so starts the program."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") in OWN_MODULES:
            return True
        frame = frame.f_back
    return False
