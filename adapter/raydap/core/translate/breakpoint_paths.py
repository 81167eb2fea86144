"""Files with two paths, such as the target of a symbolic link, shown by the path of the client's breakpoint.

pydevd compares files by their real paths, so a breakpoint in `link/train.py` stops code that was imported from
`real/train.py`. The stack of that stop contains the other path, for which the editor would open a second tab.
"""

from collections.abc import Mapping

from raydap.core.model.run import Run
from raydap.core.model.worker import WorkerThread
from raydap.core.translate.stacks import frames_of


def learn(run: Run, thread: WorkerThread, stack: Mapping[str, object]) -> None:
    """Note the path of the breakpoint at which the thread has stopped, if its top frame has another path."""
    hit = thread.stopped.get("hitBreakpointIds")
    ids = hit if isinstance(hit, list) else []
    set_in = [each.source["path"] for each in run.breakpoints.all() if each.id in ids and each.source is not None]
    frames = frames_of(stack)
    path = _path(frames[0]) if frames else None
    if not set_in or path is None:
        return
    if any(each.source is not None and each.source["path"] == path for each in run.breakpoints.all()):
        # A client has set a breakpoint in this path, too.
        run.paths_of_breakpoints.pop(path, None)
    else:
        run.paths_of_breakpoints[path] = set_in[0]
        run.files[set_in[0]] = True


def apply(run: Run, stack: Mapping[str, object]) -> None:
    """Replace the paths in a stackTrace answer, in place."""
    for frame in frames_of(stack) if run.paths_of_breakpoints else ():
        source, path = frame.get("source"), _path(frame)
        if isinstance(source, dict) and path in run.paths_of_breakpoints:
            frame["source"] = {**source, "path": run.paths_of_breakpoints[path]}


def _path(frame: Mapping[str, object]) -> str | None:
    """Return the path of a frame's file; None if the client reads the file from the worker."""
    source = frame.get("source")
    path = source.get("path") if isinstance(source, dict) and not source.get("sourceReference") else None
    return path if isinstance(path, str) else None
