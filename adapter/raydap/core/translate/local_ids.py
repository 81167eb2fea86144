"""Ids and paths between a worker and the clients, in both directions.

A worker's own ids become handles on the way to the clients, and handles become its own ids on the way back.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from raydap.core.model.handles import HandleScope
from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.translate import paths
from raydap.core.translate.rewrite import rewrite
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.id_fields import ARGUMENTS, EVENTS, RESPONSES, Kind
from raydap.protocol.types import LocalId

_LASTING = frozenset({Kind.THREAD, Kind.SOURCE, Kind.MODULE})
"""Ids that live as long as their worker. All others end with the stop in which they were shown."""


def to_local_ids(state: State, worker: Worker, command: str, arguments: dict[str, object]) -> None:
    """Replace the handles and paths in a request's arguments by the worker's own. Raises ProblemError (STALE_ID)."""

    def translate(kind: Kind, handle: int | str) -> int | str:
        target = state.handles.resolve(kind, handle)
        if target.worker != worker.key:
            text = "The ids in one request belong to different workers; refresh the view."
            raise ProblemError(Problem(Code.STALE_ID, text))
        return target.local

    if command in ARGUMENTS:
        rewrite(arguments, ARGUMENTS[command], translate, lambda path: paths_in(worker, path)[0])


def paths_in(worker: Worker, path: str) -> list[str]:
    """Return all paths that a file of the client can have in this worker, copies in `py_modules` first."""
    folder = paths.workspace(worker.settings)
    return [*worker.module_copies.get(path, ()), *paths.to_worker(path, folder, worker.package)]


def answer_to_client(worker: Worker, scope: HandleScope, command: str, body: dict[str, object]) -> None:
    """Replace the ids and paths in a worker's answer, in place. `scope` is the scope of their handles."""
    rewrite(body, RESPONSES[command], partial(to_handle, worker, scope), _path_to_client(worker))


def event_to_client(worker: Worker, event: str, body: dict[str, object]) -> None:
    """Replace the ids and paths in a worker's event, in place. The handles live as long as the worker."""
    rewrite(body, EVENTS[event], partial(to_handle, worker, worker.scope), _path_to_client(worker))


def to_handle(worker: Worker, scope: HandleScope, kind: Kind, local: int | str) -> int | str:
    """Return the handle for a worker's own id. It lives as long as the object that the id names."""
    if kind not in _LASTING:
        return scope.handle(kind, cast("LocalId", local))
    if kind is Kind.THREAD and isinstance(local, int):
        return worker.thread(LocalId(local)).handle
    if kind is Kind.SOURCE and isinstance(local, int):
        return worker.source(LocalId(local))
    return worker.scope.handle(kind, cast("LocalId", local))


def _path_to_client(worker: Worker) -> Callable[[str], str] | None:
    """Return the function that maps a worker's path to the client's; None if the paths are the same."""
    folder = paths.workspace(worker.settings)
    return None if folder is None else lambda path: paths.to_client(path, folder)
