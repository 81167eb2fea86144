"""Files that the client cannot open: they get a sourceReference, by which it asks the worker for their text.

A path in a stack is the worker's, and means the same file to the client only if both see the same file system, or if
something maps it. Whether the machine of the bridge has it is the best sign there is; runtime looks, and the answer is
remembered for the session.
"""

from collections.abc import Callable, Mapping
from typing import Any

from raydap.core import paths
from raydap.core.events import CheckFiles, FilesChecked
from raydap.core.session import Session
from raydap.core.workers import Worker
from raydap.protocol.ids import Kind


def make_readable(session: Session, worker: Worker, stack: Mapping[str, Any], then: Callable[[], None]) -> None:
    """Adds the sourceReferences to a stackTrace answer; `then` is called when it is done, at once if all is known."""
    sources = _doubtful(stack, session.files)

    def finish() -> None:
        for source in sources:
            if session.files.get(source["path"]) is False and not worker.scope.closed:
                source["sourceReference"] = worker.scope.up(Kind.SOURCE, source["path"])
        then()

    unknown = {source["path"] for source in sources} - session.files.keys()
    for path in [path for path in unknown if paths.is_clients(path, worker.settings)]:
        session.files[path] = True
        unknown.remove(path)
    if unknown:
        session.checks.append((unknown, finish))
        session.emit(CheckFiles(tuple(sorted(unknown))))
    else:
        finish()


def checked(session: Session, event: FilesChecked) -> None:
    session.files.update(event.files)
    done = [check for check in session.checks if check[0] <= session.files.keys()]
    session.checks = [check for check in session.checks if check not in done]
    for _, finish in done:
        finish()


def _doubtful(stack: Mapping[str, Any], files: Mapping[str, bool]) -> list[dict[str, Any]]:
    """The sources of a stack that have a path, not known to be there, and no sourceReference of debugpy's own."""
    frames = stack.get("stackFrames")
    return [
        source
        for frame in (frames if isinstance(frames, list) else ())
        if isinstance(frame, dict)
        and isinstance(source := frame.get("source"), dict)
        and isinstance(path := source.get("path"), str)
        and files.get(path) is not True
        and not source.get("sourceReference")
    ]
