"""The arguments of `attach` and `launch`, checked.

The arguments of editors and of other debuggers are translated first (editor_arguments.py). Any unknown key that is left
is an error that names it, because a misspelt filter would silently attach to everything.
"""

import re
from typing import Any, Literal, TypeVar

import msgspec

from raydap.core.arguments import decode
from raydap.core.editor_arguments import translate
from raydap.errors import Code, Problem, ProblemError


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

    def debugpy_options(self) -> dict[str, object]:
        """The arguments that are passed on to each worker's debugpy as they are."""
        return {name: value for name, field in _PASSED_ON.items() if (value := getattr(self, field)) is not None}


class LaunchSettings(AttachSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The further arguments of `launch`, for the driver program. It runs as a child of the bridge or as a Ray job.

    Exactly one of `program` (a file) and `module`. `env` adds to the environment; a value of None removes a name.
    `python` is the interpreter, default the one that runs raydap (on the cluster: `python`), and `python_args` are its
    own options. `env_file` is a file with further variables, which `env` overrides. `console` is where the client wants
    the program to run; raydap has no terminal for it.
    """

    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: dict[str, str | None] = {}
    env_file: str | None = None
    python: str | None = None
    python_args: tuple[str, ...] = ()
    console: Literal["internalConsole", "integratedTerminal", "externalTerminal"] = "internalConsole"
    submit: bool = False


class HubSettings(msgspec.Struct, frozen=True):
    """The settings of a hub, which outlives its clients. `settings` are the arguments that it was started with. `hold`:
    the seconds for which it keeps workers when the last client has gone; None is for ever, 0 lets them run on at once.
    `shared_files`: the clients have the files of this machine, under the same paths."""

    settings: AttachSettings
    hold: float | None = None
    relay: Literal["auto", "always", "never"] = "auto"
    shared_files: bool = True


_PASSED_ON = {
    "redirectOutput": "redirect_output",
    "showReturnValue": "show_return_value",
    "breakOnSystemExitZero": "break_on_system_exit_zero",
    "variablePresentation": "variable_presentation",
}

_PORT = re.compile("[0-9]{1,5}")

S = TypeVar("S", bound=AttachSettings)


def parse(kind: type[S], arguments: Any) -> S:
    """Turns the arguments of a request into settings. Raises ProblemError that names a wrong argument."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The arguments must be an object, not {_kind(arguments)}."))
    given = translate(arguments, launches=issubclass(kind, LaunchSettings), flags=_flags(kind))
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


def _flags(kind: type[AttachSettings]) -> frozenset[str]:
    """Return the arguments that can be false."""
    fields = msgspec.structs.fields(kind)
    return frozenset(field.encode_name for field in fields if field.type in (bool, bool | None))


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
    if isinstance(settings, LaunchSettings) and settings.submit and settings.python_args:
        raise _bad("pythonArgs", "(or a list as python) is not for submit: a job's Python gets no options")


def _bad(name: str, what: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" {what}.'))


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
