"""Answers requests about a blocked thread from the snapshot of its stack, as debugpy would for a stopped thread.

The ids in these answers are counted from 1 in each snapshot. They become handles of the stop like those of debugpy.
"""

import msgspec

from raydap.analysis.thread_stacks import CodeOwner, SampledStack, Stacks, ThreadFrame
from raydap.core.model.worker import WorkerThread
from raydap.core.settings import AttachSettings
from raydap.core.translate import paths
from raydap.errors import Code, Problem, ProblemError
from raydap.presentation.short_text import file_name

_OF_WORKER = ("source", "modules", "gotoTargets")
"""Requests that a running worker can answer."""

_OF_FRAME = ("evaluate", "setExpression", "completions")
"""Requests that a running worker can answer if they name no frame."""


def mapped(stacks: Stacks, settings: AttachSettings) -> tuple[SampledStack, ...]:
    """Return the stacks with the path mappings applied, as debugpy applies them to its own answers."""
    if not settings.path_mappings:
        return stacks.threads
    replace = msgspec.structs.replace
    return tuple(
        replace(
            stack,
            frames=tuple(replace(frame, path=paths.mapped(frame.path, settings, stacks.cwd)) for frame in stack.frames),
        )
        for stack in stacks.threads
    )


def answer(thread: WorkerThread, command: str, arguments: dict[str, object]) -> dict[str, object] | None:
    """Return the body of the answer; None if the worker itself can answer.

    `arguments` contain the snapshot's own ids. Raises ProblemError for a request that needs a stopped thread.
    """
    assert thread.snapshot is not None
    frames = thread.snapshot.frames
    if command == "stackTrace":
        first, levels = _count(arguments, "startFrame"), _count(arguments, "levels") or len(frames)
        shown = [_frame(thread.snapshot, number) for number in range(len(frames))[first : first + levels]]
        return {"stackFrames": shown, "totalFrames": len(frames)}
    if command == "scopes":
        reference = arguments["frameId"]
        assert isinstance(reference, int)
        scope = {"name": "Locals", "presentationHint": "locals", "variablesReference": reference, "expensive": False}
        return {"scopes": [scope] if frames[reference - 1].locals else []}
    if command == "variables":
        reference = arguments["variablesReference"]
        assert isinstance(reference, int)
        variables = frames[reference - 1].locals
        return {"variables": [{**msgspec.to_builtins(each), "variablesReference": 0} for each in variables]}
    if command in _OF_WORKER or (command in _OF_FRAME and "frameId" not in arguments):
        return None
    raise refused(thread, Code.NOT_STOPPED)


def refused(thread: WorkerThread, code: Code = Code.BLOCKED) -> ProblemError:
    """Return the error for a request that needs a thread which has really stopped."""
    assert thread.snapshot is not None
    text = f"The thread is {thread.snapshot.place}, so raydap can only show its stack. It stops when that call returns."
    return ProblemError(Problem(code, text))


def _frame(stack: SampledStack, number: int) -> dict[str, object]:
    frame = stack.frames[number]
    shown = {"id": number + 1, "name": frame.name, "line": frame.line, "column": 1, "source": _source(frame)}
    # Editors go to the first frame without this hint.
    is_subtle = frame.owner != CodeOwner.USER and stack.user >= 0 and number != stack.user
    return {**shown, "presentationHint": "subtle"} if is_subtle else shown


def _source(frame: ThreadFrame) -> dict[str, str]:
    """Return the Source of a frame. Code without a file has only a name like `<string>`."""
    name = {"name": file_name(frame.path)}
    return name if frame.path.startswith("<") else {**name, "path": frame.path}


def _count(arguments: dict[str, object], name: str) -> int:
    value = arguments.get(name)
    return value if type(value) is int and value > 0 else 0
