"""Requests that one worker answers: down with the worker's own ids, up again with handles."""

from collections.abc import Callable
from functools import partial
from typing import Any

from raydap.core import files, paths, views
from raydap.core.clients import Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.ids import Scope
from raydap.core.pending import Reply
from raydap.core.policy import Rule
from raydap.core.rewrite import rewrite
from raydap.core.session import Session
from raydap.core.workers import Thread, Worker
from raydap.protocol.ids import ARGUMENTS, RESPONSES, Kind
from raydap.protocol.types import LocalId, WorkerKey
from raydap.wire import envelope

_LASTING = frozenset({Kind.THREAD, Kind.SOURCE, Kind.MODULE})
"""Ids that live as long as their worker; all others end with the stop they were shown in."""


def route(session: Session, request: Request, rule: Rule) -> None:
    """Sends a request to the worker that its argument names. Raises ProblemError if that is nobody."""
    arguments = request.arguments()
    worker, scope = locate(session, request, rule, arguments)

    def then(reply: Reply) -> None:
        if isinstance(reply, Problem):
            request.fail(reply)
        elif not reply.success:
            request.refuse(reply)
        elif reply.body is None or request.command not in RESPONSES:
            request.respond(reply.body)
        elif scope.closed:
            request.fail(_ran_on())
        else:
            try:
                lift(reply.body)
            except envelope.EnvelopeError as error:
                request.fail(Problem(Code.WORKER_BROKEN, f"The answer of {worker} cannot be read.", str(error)))

    def lift(raw: bytes) -> None:
        body = envelope.load(raw)
        if not isinstance(body, dict):
            request.respond(raw)
            return
        rewrite(body, RESPONSES[request.command], partial(up, worker, scope), shown(worker))
        if request.command == "stackTrace":
            files.make_readable(session, worker, body, lambda: show_stack(body))
        else:
            request.respond(body)

    def show_stack(body: dict[str, Any]) -> None:
        if scope.closed:
            request.fail(_ran_on())
        else:
            views.stack(body, session.sources)
            request.respond(body)

    down(session, worker, request.command, arguments)
    worker.request(request.command, arguments, then, session.now + rule.patience)


def down(session: Session, worker: Worker, command: str, arguments: dict[str, Any]) -> None:
    """Replaces the handles in a request's arguments by the worker's own ids. Raises ProblemError (STALE_ID)."""

    def translate(kind: Kind, handle: int | str) -> int | str:
        target = session.ids.down(kind, handle)
        if target.worker != worker.key:
            text = "The ids in one request belong to different workers; refresh the view."
            raise ProblemError(Problem(Code.STALE_ID, text))
        return target.local

    if command in ARGUMENTS:
        folder = paths.workspace(worker.settings)
        rewrite(arguments, ARGUMENTS[command], translate, lambda path: paths.told(path, folder, worker.package)[0])


def shown(worker: Worker) -> Callable[[str], str] | None:
    """Turns the worker's paths into the client's; None if they are the same."""
    folder = paths.workspace(worker.settings)
    return None if folder is None else lambda path: paths.shown(path, folder)


def up(worker: Worker, scope: Scope, kind: Kind, local: int | str) -> int | str:
    """The handle for a worker's own id, which lives as long as what it stands for."""
    if kind is Kind.THREAD and isinstance(local, int):
        return worker.thread(LocalId(local)).handle
    if kind is Kind.SOURCE and isinstance(local, int):
        return worker.source(LocalId(local))
    owner = worker.scope if kind in _LASTING else scope
    return owner.up(kind, LocalId(local) if isinstance(local, int) else local)


def locate(session: Session, request: Request, rule: Rule, arguments: dict[str, Any]) -> tuple[Worker, Scope]:
    """The worker a request is for, and the scope of what its answer will show."""
    name, kind = rule.by or ("", Kind.THREAD)
    handle = arguments.get(name)
    if handle is None and rule.else_looked_at:
        arguments.pop(name, None)  # To the client null is as good as nothing; debugpy wants an integer or nothing.
        thread = looked_at(session, request)
        return thread.worker, thread.stop or thread.worker.scope
    if kind is Kind.THREAD:
        thread = session.thread(handle)
        if thread.stop is None:
            raise ProblemError(_ran_on())
        return thread.worker, thread.stop
    target = session.ids.down(kind, handle)
    if request.command in ("scopes", "evaluate"):
        _look(session, request, target.worker, target.scope)
    return session.workers[target.worker], target.scope


def _look(session: Session, request: Request, key: WorkerKey, scope: Scope) -> None:
    """Editors ask for the scopes of the one frame that they show, and evaluate in it: there the user is looking."""
    threads = session.workers[key].threads.values()
    request.client.focus = next((thread for thread in threads if thread.stop is scope), request.client.focus)


def looked_at(session: Session, request: Request) -> Thread:
    """Where a request without an id belongs: to the thread the user looks at, else to any that is stopped."""
    focus = request.client.focus
    if focus is not None and focus.handle in session.stopped:
        return focus
    for thread in session.stopped.values():
        return thread
    text = "No worker is stopped, so nobody can answer that; wait for a stop, or pause a worker."
    raise ProblemError(Problem(Code.NOT_STOPPED, text))


def _ran_on() -> Problem:
    return Problem(Code.NOT_STOPPED, "The thread runs; wait for its next stop.")
