"""The arguments of `attach` and `launch`, checked.

Editors add keys of their own (VS Code: `name`, `type`, `__sessionId`, ...); those are dropped. Any
other unknown key is an error that names it, because a misspelt filter would silently attach to everything.
"""

import re
from typing import Any, Literal, TypeVar

import msgspec

from raydap.core.errors import Code, Problem, ProblemError


class PathMapping(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """One folder as the client sees it and as the worker sees it; `remote_root` "." is the worker's cwd."""

    local_root: str
    remote_root: str


class AttachSettings(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `attach` takes. `None` and empty mean: no restriction.

    dashboard: URL of the Ray dashboard, or a Ray address from which it can be found.
    workers: explicit `host:port` targets instead of discovery.
    job, actor, task, node: attach only to workers that match; shell patterns, case-sensitive.
    workspace_folder: the client's folder that jobs take as their working_dir.
    sessions: one session for all workers, or a child session for each (spec: StartDebugging Request).
    max_workers: attach to at most that many at a time; the others stay paused.
    role: an observer looks, and changes nothing.
    auto_attach: without it workers are only listed, and attached when `raydap/attach` names them.
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
    auto_attach: bool = True

    @property
    def needs_labels(self) -> bool:
        """Whether the filters ask for what only Ray's task and actor lists say of a worker."""
        return self.job is not None or self.actor is not None or self.task is not None


class LaunchSettings(AttachSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `launch` takes besides: the driver program, run as a child of the bridge or as a Ray job.

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


class Hosting(msgspec.Struct, frozen=True):
    """How a hub outlives its clients. `settings` are what it was started with. `hold`: the seconds for which it keeps
    workers when the last client has gone; None is for ever, 0 lets them run on at once. `shared_files`: the clients
    have the files of this machine, under the same paths."""

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
_PYTHON_KEYS = {"debugOptions", "clientOS", "showReturnValue", "redirectOutput", "subProcess"}
_PYTHON_KEYS |= {"stopOnEntry", "envFile", "pythonPath", "debugAdapterPython", "debugLauncherPython", "purpose"}
_EDITOR_KEYS = frozenset(_VSCODE_KEYS | _PYTHON_KEYS | _EMACS_KEYS)

_PORT = re.compile("[0-9]{1,5}")

S = TypeVar("S", bound=AttachSettings)


def parse(kind: type[S], arguments: Any) -> S:
    """Turns the arguments of a request into settings; raises ProblemError naming the argument that is wrong."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The arguments must be an object, not {_kind(arguments)}."))
    given = {
        key: value
        for key, value in arguments.items()
        if key not in _EDITOR_KEYS and not key.startswith("__") and value is not None
    }
    known = msgspec.structs.fields(kind)
    names = {field.encode_name for field in known}
    for key in given:
        if key not in names:
            raise ProblemError(
                Problem(Code.UNKNOWN_ARGUMENT, f'Unknown argument "{key}"{_did_you_mean(key, names)}; see docs/usage.')
            )
    try:
        settings = msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, _sentence(str(error)), str(error))) from None
    except UnicodeEncodeError as error:
        # msgspec compares choices and names of fields in UTF-8, where a lone surrogate has no form.
        text = "The arguments hold half of a character (a lone surrogate) where it cannot be."
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text, str(error))) from None
    _check(settings)
    return settings


def under(hosting: Hosting, settings: S) -> S:
    """A client's settings, completed by those of the hub; raises ProblemError where they contradict each other."""
    filled = {}
    for field in msgspec.structs.fields(AttachSettings):
        ours, theirs = getattr(hosting.settings, field.name), getattr(settings, field.name)
        if theirs == field.default:
            filled[field.name] = ours
        elif ours not in (field.default, theirs):
            text = f'The hub was started with another "{field.encode_name}"; leave that argument out.'
            raise ProblemError(Problem(Code.OTHER_SESSION, text))
    return msgspec.structs.replace(settings, **filled)


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


def _sentence(complaint: str) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.maxWorkers`" as a sentence that begins with the argument."""
    what, _, where = complaint.partition(" - at ")
    name = where.strip("`").removeprefix("$").removeprefix(".") or "arguments"
    return f'The argument "{name}" is wrong: {what[:1].lower()}{what[1:]}.'


def _did_you_mean(key: str, names: set[str]) -> str:
    folded = {name.casefold(): name for name in names}
    near = folded.get(key.casefold().replace("_", "").replace("-", ""))
    return f', did you mean "{near}"?' if near else ""


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
