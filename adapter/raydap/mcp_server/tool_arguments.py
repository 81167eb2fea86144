"""The arguments of the tools, and how they are read from what a model sends."""

import difflib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

LONGEST_WAIT_S = 45.0
"""The longest wait of a call, in seconds. Several clients give up after 60 s, whatever progress they are sent."""

WorkerSet = Annotated[str, Meta(description="Set of workers: 'Trainer 3', 'actor:Trainer rank:0-3', 'state:stopped'.")]
WaitSeconds = Annotated[float, Meta(description="Seconds to wait for a stop.", ge=0, le=LONGEST_WAIT_S)]


class ArgumentError(Exception):
    """The arguments of a call are wrong. The text names what is wrong and what is right."""


class ToolArguments(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The base of the arguments of all tools."""


class StatusCall(ToolArguments, frozen=True):
    """The arguments of `status`."""

    at: Annotated[str, Meta(description="Cluster: dashboard URL or Ray address. Default: the one in use.")] = ""
    set: WorkerSet = ""


class StartCall(ToolArguments, frozen=True):
    """The arguments of `start`."""

    program: Annotated[str, Meta(description="Path of the driver to launch.")] = ""
    module: Annotated[str, Meta(description="Or the driver as a module.")] = ""
    args: Annotated[list[str], Meta(description="The driver's arguments.")] = []
    cwd: Annotated[str, Meta(description="The driver's folder.")] = ""
    job: Annotated[str, Meta(description="Or a running job: Ray's job id or submission id; * for all.")] = ""
    hub: Annotated[str, Meta(description="Or the URL of a hub.")] = ""
    breakpoints: Annotated[list[str], Meta(description='"FILE:LINE", "FUNCTION", "FILE:LINE if CONDITION".')] = []
    on_error: Annotated[bool, Meta(description="Stop where exceptions leave the program's own code.")] = True
    wait: WaitSeconds = 20.0


class BreakpointCall(ToolArguments, frozen=True):
    """The arguments of `breakpoint`."""

    at: Annotated[str, Meta(description="FILE:LINE.")] = ""
    function: Annotated[str, Meta(description="Or a function: step, Trainer.step.")] = ""
    condition: Annotated[str, Meta(description="Stop only if this expression is true.")] = ""
    log: Annotated[str, Meta(description="Print this instead of stopping: 'loss={loss}'.")] = ""
    barrier: Annotated[str, Meta(description="Hold workers until all, or this many, have arrived.")] = ""
    remove: Annotated[bool, Meta(description="Remove it; without a place: all that you have set.")] = False


class GoCall(ToolArguments, frozen=True):
    """The arguments of `go`."""

    action: Annotated[
        Literal["continue", "next", "step", "out", "until_parted", "pause"],
        Meta(description="until_parted: step together until lines differ."),
    ]
    set: WorkerSet = ""
    wait: WaitSeconds = 10.0


class WaitCall(ToolArguments, frozen=True):
    """The arguments of `wait`."""

    until: Annotated[
        Literal["stop", "all", "end"],
        Meta(description="stop: a worker is stopped; all: each in the set is; end: the program has ended."),
    ] = "stop"
    set: WorkerSet = ""
    seconds: WaitSeconds = 30.0


class LookCall(ToolArguments, frozen=True):
    """The arguments of `look`."""

    worker: Annotated[str, Meta(description="One worker: 'Trainer 3'. Default: the one you looked at.")] = ""
    frame: Annotated[int, Meta(description="0 is the innermost frame.", ge=0)] = 0
    names: Annotated[list[str], Meta(description="Expressions to show in full.")] = []


class ValuesCall(ToolArguments, frozen=True):
    """The arguments of `values`."""

    expressions: Annotated[list[str], Meta(description="Python expressions.", min_length=1)]
    set: WorkerSet = ""
    baseline: Annotated[str, Meta(description="Keep the values under this name, or compare with those kept.")] = ""


class StacksCall(ToolArguments, frozen=True):
    """The arguments of `stacks`."""

    set: WorkerSet = ""
    locals: Annotated[bool, Meta(description="Also the innermost frames' variables.")] = False


class HangCall(ToolArguments, frozen=True):
    """The arguments of `hang`."""

    set: WorkerSet = ""


class EndCall(ToolArguments, frozen=True):
    """The arguments of `end`."""

    how: Annotated[
        Literal["detach", "terminate"], Meta(description="terminate: also end the program that start() launched.")
    ] = "detach"


def read(kind: type[ToolArguments], given: Mapping[str, Any]) -> ToolArguments:
    """Return the arguments of a call. Raises ArgumentError.

    Models send numbers and lists as text, so text is converted if the argument has another type.
    """
    hints = get_type_hints(kind)
    for name in given:
        if name not in hints:
            near = [*difflib.get_close_matches(name, hints, 1, 0.5), *(hint for hint in hints if hint in name)]
            raise ArgumentError(
                f"There is no argument {json.dumps(name)}"
                + (f"; did you mean {near[0]}?" if near else f". The arguments are: {', '.join(hints)}.")
            )
    converted = {name: _as_list(hints[name], value) for name, value in given.items() if value is not None}
    try:
        return msgspec.convert(converted, kind, strict=False)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at ")
        name = place.strip("`").removeprefix("$.").partition("[")[0]
        raise ArgumentError(_mistake(name, hints, given, text)) from None


def _as_list(hint: Any, value: Any) -> Any:
    """Return a list for an argument that is one, if `value` is a JSON list as text or a single text."""
    if not isinstance(value, str) or get_origin(hint) is not list:
        return value
    try:
        found = json.loads(value)
    except ValueError:
        found = value
    return [str(each) for each in found] if isinstance(found, list) else [value] if value else []


def _mistake(name: str, hints: Mapping[str, Any], given: Mapping[str, Any], text: str) -> str:
    """Return the sentence about an argument that cannot be converted. `text` is msgspec's."""
    hint = hints.get(name)
    if get_origin(hint) is Literal:
        right = get_args(hint)
        near = difflib.get_close_matches(str(given.get(name)), right, 1, 0.5)
        meant = f"did you mean {near[0]}?" if near else ""
        return f"{name} is one of {', '.join(right)}; {meant or 'choose one of them.'}"
    return f"{name}: {text}." if name else f"{text}."
