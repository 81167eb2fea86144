"""Gives files that the client cannot open a sourceReference, so that the client requests their text from the worker.

A path in a stack is the worker's path. It names the same file for the client only if both see the same file system, or
if the path is mapped. raydap assumes the same file if its own machine has that file. The runtime checks that, and the
result is kept for the run.
"""

from collections.abc import Mapping

from raydap.core.effects import CheckFiles
from raydap.core.events import FilesChecked
from raydap.core.flows import Flow, Future
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.translate import paths
from raydap.core.translate.stacks import frames_of
from raydap.protocol.id_fields import Kind


def make_readable(state: State, worker: Worker, stack: Mapping[str, object]) -> Flow[None]:
    """Add the sourceReferences to a stackTrace answer. Waits only to check files that were not checked before."""
    files = worker.run.files
    sources = _unknown_sources(stack, files)
    unknown = {path for _, path in sources} - files.keys()
    for path in [path for path in unknown if paths.is_clients(path, worker.settings)]:
        files[path] = True
        unknown.remove(path)
    if unknown:
        checked: Future[None] = Future()
        worker.run.file_checks.append((frozenset(unknown), checked))
        state.emit(CheckFiles(tuple(sorted(unknown))))
        yield from checked
    for source, path in sources:
        if files.get(path) is False and not worker.scope.closed:
            source["sourceReference"] = worker.scope.handle(Kind.SOURCE, path)


def checked(state: State, event: FilesChecked) -> None:
    """Take the result of CheckFiles, and resume the conversations whose files are all checked."""
    run = state.run
    run.files.update(event.files)
    done = [check for check in run.file_checks if check[0] <= run.files.keys()]
    run.file_checks = [check for check in run.file_checks if check not in done]
    for _, future in done:
        future.set_result(None)


def _unknown_sources(stack: Mapping[str, object], files: Mapping[str, bool]) -> list[tuple[dict[str, object], str]]:
    """Return sources that raydap's machine may lack and that have no sourceReference yet, with their paths."""
    return [
        (source, path)
        for frame in frames_of(stack)
        if isinstance(source := frame.get("source"), dict)
        and isinstance(path := source.get("path"), str)
        and files.get(path) is not True
        and not source.get("sourceReference")
    ]
