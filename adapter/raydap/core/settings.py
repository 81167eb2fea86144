"""The arguments of `attach` and `launch`, checked.

The arguments of editors and of other debuggers are translated first (editor_arguments.py). An unknown key that remains
is an error that names it, because a misspelt filter would silently attach to everything.
"""

import re
from typing import Any, Literal, TypeVar

import msgspec

from raydap.core.arguments import decode
from raydap.core.editor_arguments import translate
from raydap.errors import Code, Problem, ProblemError


class PathMapping(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """One folder, as the client sees it and as the worker sees it."""

    local_root: str
    """The client's path of the folder."""
    remote_root: str
    """The worker's folder; "." is its current directory."""


class AttachSettings(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of `attach`. None and empty values restrict nothing."""

    dashboard: str | None = None
    """The URL of the Ray dashboard, or a Ray address from which raydap can find it."""
    workers: tuple[str, ...] | None = None
    """Explicit targets `host:port` instead of discovery."""
    job: str | None = None
    """Attach only to workers of this job: a case-sensitive shell pattern for Ray's job id or the submission id."""
    actor: str | None = None
    """A pattern like `job`, for the actor's class or registered name."""
    task: str | None = None
    """A pattern like `job`, for the function, the method or the name of a task."""
    node: str | None = None
    """A pattern like `job`, for the node's address or Ray id."""
    just_my_code: bool = True
    """Whether to hide frames of libraries and step over them."""
    path_mappings: tuple[PathMapping, ...] = ()
    """Folders that the client and the workers see under different paths."""
    workspace_folder: str | None = None
    """The client's folder that jobs use as their working_dir."""
    tune_workers: bool = True
    """Whether to remove two delays of debugpy in the workers, and to show large arrays by their numbers."""
    max_workers: int | None = None
    """The most workers to attach to at a time. The others stay paused."""
    sessions: Literal["merged", "perWorker"] = "merged"
    """One session for all workers, or a child session for each (spec: StartDebugging Request)."""
    role: Literal["debugger", "observer"] = "debugger"
    """An observer can look, but cannot change anything."""
    join: bool = False
    """Join the run of another client, and wait until there is one. All arguments but `role` are then that client's."""
    auto_attach: bool = True
    """False only lists the paused workers. raydap then attaches to a worker when `raydap/attach` names it."""
    redirect_output: bool | None = None
    """debugpy's option of this name. None leaves it to debugpy."""
    show_return_value: bool | None = None
    """debugpy's option of this name. None leaves it to debugpy."""
    sub_process: bool = True
    """Whether to debug the subprocesses of workers, too."""
    reach: Literal["paused", "prepared", "any"] = "prepared"
    """Where breakpoints stop: in workers that wait at a breakpoint(), in all prepared processes, or in all workers."""
    break_on_system_exit_zero: bool | None = None
    """debugpy's option of this name. None leaves it to debugpy."""
    variable_presentation: dict[str, str] | None = None
    """debugpy's option of this name. None leaves it to debugpy."""

    @property
    def needs_facts(self) -> bool:
        """Whether the filters need Ray's lists of tasks and actors."""
        return self.job is not None or self.actor is not None or self.task is not None

    def debugpy_options(self) -> dict[str, object]:
        """Return the arguments that each worker's debugpy gets unchanged, without those that are None."""
        return {name: value for name, field in _PASSED_ON.items() if (value := getattr(self, field)) is not None}


class LaunchSettings(AttachSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of `launch`: those of `attach`, and more for the driver program.

    The program runs as a child process of the bridge, or as a Ray job. Exactly one of `program` and `module` is given.
    """

    program: str | None = None
    """The driver's file."""
    module: str | None = None
    """The driver as a module, like `python -m`."""
    args: tuple[str, ...] = ()
    """The program's own arguments."""
    cwd: str | None = None
    """The folder in which the driver runs; for a submitted job its working_dir."""
    env: dict[str, str | None] = {}
    """Variables to add to the driver's environment. None removes a variable."""
    env_file: str | None = None
    """A file with further variables, which `env` overrides."""
    python: str | None = None
    """The interpreter; by default the one that runs raydap, or `python` on the cluster for a submitted job."""
    python_args: tuple[str, ...] = ()
    """The interpreter's own options."""
    console: Literal["internalConsole", "integratedTerminal", "externalTerminal"] = "internalConsole"
    """Where the client wants the program to run. raydap has no terminal for it."""
    submit: bool = False
    """Whether to run the program as a Ray job."""
    stop_on_entry: bool = False
    """Whether the driver stops at its first line of code (workers/program_entry.py)."""

    @property
    def program_name(self) -> str:
        """The name of the program's file or of its module."""
        return self.module or (self.program or "").rpartition("/")[2]


class HubSettings(msgspec.Struct, frozen=True):
    """The settings of a hub, which outlives its clients."""

    settings: AttachSettings
    """The arguments that the hub was started with."""
    hold: float | None = None
    """Seconds to keep workers after the last client has gone: None is indefinitely, 0 detaches them immediately."""
    relay: Literal["auto", "always", "never"] = "auto"
    """When to use the relay for connections to nodes (runtime/worker_dialer.py)."""
    shared_files: bool = True
    """Whether the clients have the files of the hub's machine, under the same paths."""


_PASSED_ON = {
    "redirectOutput": "redirect_output",
    "showReturnValue": "show_return_value",
    "breakOnSystemExitZero": "break_on_system_exit_zero",
    "variablePresentation": "variable_presentation",
}

_PORT = re.compile("[0-9]{1,5}")

S = TypeVar("S", bound=AttachSettings)


def parse(kind: type[S], arguments: Any) -> S:
    """Convert the arguments of a request to settings. Raises a ProblemError that names the wrong argument."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f"The arguments must be an object, not {_kind(arguments)}."))
    given = translate(arguments, launches=issubclass(kind, LaunchSettings), flags=_flags(kind))
    settings = decode(kind, given)
    _check(settings)
    return settings


def complete(hub: HubSettings, settings: S) -> S:
    """Return a client's settings, completed by those of the hub. Raises ProblemError if they contradict each other."""
    filled = {}
    for field in msgspec.structs.fields(AttachSettings):
        ours, theirs = getattr(hub.settings, field.name), getattr(settings, field.name)
        if theirs == field.default:
            filled[field.name] = ours
        elif ours not in (field.default, theirs):
            text = f'The hub was started with a different "{field.encode_name}"; leave that argument out.'
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
            raise _bad("workers", f'contains "{target}", which is not host:port')
    if settings.workers == ():
        raise _bad("workers", "is empty; name at least one host:port, or leave it out to ask the Ray dashboard")
    if settings.workers is not None and settings.dashboard is not None:
        raise _bad("workers", "replaces discovery, so it cannot be combined with dashboard")
    if settings.max_workers is not None and settings.max_workers < 1:
        raise _bad("maxWorkers", "must be at least 1")
    if isinstance(settings, LaunchSettings) and (settings.program is None) == (settings.module is None):
        raise _bad("program", "or module is needed: exactly one of the two")
    if isinstance(settings, LaunchSettings) and settings.submit and settings.python_args:
        raise _bad("pythonArgs", "(or a list as python) cannot be used with submit: a job's Python gets no options")


def _bad(name: str, what: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" {what}.'))


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
