"""The arguments of `attach` and `launch`, checked.

Editors add keys of their own (VS Code: `name`, `type`, `__sessionId`, ...), which are dropped. Any other unknown key is
an error that names it, because a misspelt filter would silently attach to everything.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from raydap.core.arguments import decode
from raydap.core.errors import Code, Problem, ProblemError


class PathMapping(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """One folder as the client sees it and as the worker sees it; `remote_root` "." is the worker's cwd."""

    local_root: str
    remote_root: str


class AttachSettings(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of `attach`. `None` and empty mean: no restriction.

    dashboard: URL of the Ray dashboard, or a Ray address from which it can be found.
    workers: explicit `host:port` targets instead of discovery.
    job, actor, task, node: attach only to workers that match; shell patterns, case-sensitive.
    workspace_folder: the client's folder that jobs take as their working_dir.
    sessions: one session for all workers, or a child session for each (spec: StartDebugging Request).
    max_workers: attach to at most that many at a time; the others stay paused.
    role: an observer can look, but cannot change anything.
    join: take part in what another client debugs, and wait until one does; all other arguments but `role` are its.
    auto_attach: false only lists workers, and attaches to one when `raydap/attach` names it.
    sub_process: debug the subprocesses of workers, too.
    reach: where breakpoints hold: in all workers; in all processes that are prepared; or only in those that wait at a
        breakpoint().
    redirect_output, show_return_value, break_on_system_exit_zero, variable_presentation: debugpy's own; None leaves
    them to debugpy.
    """

    dashboard: str | None = None
    workers: tuple[str, ...] | None = None
    job: str | None = None
    actor: str | None = None
    task: str | None = None
    node: str | None = None
    just_my_code: bool = True
    path_mappings: tuple[PathMapping, ...] = ()
    workspace_folder: str | None = None
    tune_workers: bool = True
    max_workers: int | None = None
    sessions: Literal["merged", "perWorker"] = "merged"
    role: Literal["debugger", "observer"] = "debugger"
    join: bool = False
    auto_attach: bool = True
    redirect_output: bool | None = None
    show_return_value: bool | None = None
    sub_process: bool = True
    reach: Literal["paused", "prepared", "any"] = "prepared"
    break_on_system_exit_zero: bool | None = None
    variable_presentation: dict[str, str] | None = None

    @property
    def needs_labels(self) -> bool:
        """Whether the filters need Ray's task and actor lists."""
        return self.job is not None or self.actor is not None or self.task is not None

    def debugpy_options(self) -> dict[str, Any]:
        """The arguments that are passed on to each worker's debugpy as they are."""
        return {name: value for name, field in _PASSED_ON.items() if (value := getattr(self, field)) is not None}


class LaunchSettings(AttachSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The further arguments of `launch`, for the driver program. It runs as a child of the bridge or as a Ray job.

    Exactly one of `program` (a file) and `module`. `env` adds to the environment; a value of None removes a name.
    `python` is the interpreter, default the one that runs raydap (on the cluster: `python`).
    """

    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: dict[str, str | None] = {}
    python: str | None = None
    submit: bool = False


class HubSettings(msgspec.Struct, frozen=True):
    """The settings of a hub, which outlives its clients. `settings` are the arguments that it was started with. `hold`:
    the seconds for which it keeps workers when the last client has gone; None is for ever, 0 lets them run on at once.
    `shared_files`: the clients have the files of this machine, under the same paths."""

    settings: AttachSettings
    hold: float | None = None
    relay: Literal["auto", "always", "never"] = "auto"
    shared_files: bool = True


_VSCODE_KEYS = {"name", "type", "request", "presentation", "preLaunchTask", "postDebugTask", "debugServer"}
_VSCODE_KEYS |= {"internalConsoleOptions", "serverReadyAction", "suppressMultipleSessionWarning", "restart", "noDebug"}
_VSCODE_KEYS |= {"windows", "linux", "osx"}
_EMACS_KEYS = {"host", "port", "dap-server-path", "program-to-start", "wait-for-port", "environment-variables"}
_EMACS_KEYS |= {"skip-debug-session", "output-filter-function", "startup-function", "adapterID", "server", "console"}
# The Python Debugger extension fills these in when raydap is reached through its debugger type by `debugServer`.
_PYTHON_KEYS = {
    "debugOptions",
    "clientOS",
    "envFile",
    "pythonPath",
    "debugAdapterPython",
    "debugLauncherPython",
    "purpose",
}
_EDITOR_KEYS = frozenset(_VSCODE_KEYS | _PYTHON_KEYS | _EMACS_KEYS)

_PASSED_ON = {
    "redirectOutput": "redirect_output",
    "showReturnValue": "show_return_value",
    "breakOnSystemExitZero": "break_on_system_exit_zero",
    "variablePresentation": "variable_presentation",
}

_ALL_RUN = "workers run already when raydap attaches to them; set a breakpoint where they are to stop"
_BY_RAYDAP = "raydap finds and reaches the workers itself"
_NO_TEMPLATES = "breakpoints in templates are not supported"
REFUSED = {
    "stopOnEntry": _ALL_RUN,
    "connect": _BY_RAYDAP,
    "listen": _BY_RAYDAP,
    "processId": _BY_RAYDAP,
    "django": _NO_TEMPLATES,
    "flask": _NO_TEMPLATES,
    "jinja": _NO_TEMPLATES,
    "pyramid": _NO_TEMPLATES,
    "gevent": "Ray workers do not run under gevent",
    "sudo": "raydap starts programs as the user that it runs as",
    "autoReload": "workers keep the code that they were started with",
    "logToFile": "each worker's debugger would write on its own node; raydap's own log is --log-file",
    "rules": "raydap needs rules of its own for Ray's breakpoint(); justMyCode is supported",
    "steppingResumesAllThreads": "a step resumes its own thread only, so that no other thread's stop is lost",
}
"""debugpy's other options, and why each is refused. Their empty values are accepted, because editors fill some in."""

_PORT = re.compile("[0-9]{1,5}")

S = TypeVar("S", bound=AttachSettings)


def parse(kind: type[S], arguments: Any) -> S:
    """Turns the arguments of a request into settings. Raises ProblemError that names a wrong argument."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The arguments must be an object, not {_kind(arguments)}."))
    _refuse(arguments)
    given = {
        key: value
        for key, value in arguments.items()
        if key not in _EDITOR_KEYS and key not in REFUSED and not key.startswith("__") and value is not None
    }
    settings = decode(kind, given)
    _check(settings)
    return settings


def complete(hub: HubSettings, settings: S) -> S:
    """A client's settings, completed by those of the hub. Raises ProblemError if they contradict each other."""
    filled = {}
    for field in msgspec.structs.fields(AttachSettings):
        ours, theirs = getattr(hub.settings, field.name), getattr(settings, field.name)
        if theirs == field.default:
            filled[field.name] = ours
        elif ours not in (field.default, theirs):
            text = f'The hub was started with another "{field.encode_name}"; leave that argument out.'
            raise ProblemError(Problem(Code.OTHER_SESSION, text))
    return msgspec.structs.replace(settings, **filled)


def _refuse(arguments: Mapping[str, Any]) -> None:
    for key, reason in REFUSED.items():
        if arguments.get(key):
            text = f'The argument "{key}" is not supported: {reason}.'
            raise ProblemError(Problem(Code.BAD_ARGUMENT, text))


def _check(settings: AttachSettings) -> None:
    for target in settings.workers or ():
        host, _, port = target.rpartition(":")
        if not host or not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
            raise _bad("workers", f'holds "{target}", which is not host:port')
    if settings.workers == ():
        raise _bad("workers", "is empty; name at least one host:port, or leave it out to ask the Ray dashboard")
    if settings.workers is not None and settings.dashboard is not None:
        raise _bad("workers", "replaces discovery, so it cannot be combined with dashboard")
    if settings.max_workers is not None and settings.max_workers < 1:
        raise _bad("maxWorkers", "must be at least 1")
    if isinstance(settings, LaunchSettings) and (settings.program is None) == (settings.module is None):
        raise _bad("program", "or module is needed: exactly one of the two")


def _bad(name: str, what: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" {what}.'))


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
