"""Requests about many stopped threads at once: raydap/continue, raydap/step, raydap/evaluate (docs/requests.md).

Each is made of requests to the workers, all at the same time, and answered when the last of them has its answer.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from raydap.core import stops, views
from raydap.core.clients import Client, Request
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.handshake import load_body, logged
from raydap.core.pending import Reply
from raydap.core.policy import POLICY
from raydap.core.session import Session
from raydap.core.workers import State, Thread

T = TypeVar("T")
Frame = dict[str, Any] | Problem

STEPS = ("next", "stepIn", "stepOut")

_NO_FRAME = Problem(Code.NOT_STOPPED, "It runs, or none of the frames on top of its stack is yours.")

_DEEP = 20
"""Frames that are looked at for one of the user's: above it are a few of Ray's and debugpy's own."""


def resume(session: Session, request: Request) -> None:
    """The threads that are named, or all, run on."""

    def ask(thread: Thread, then: Callable[[Reply], None]) -> None:
        stops.go(session, thread, "continue", {}, then)

    _gather(_threads(session, request), ask, partial(_answer_resumed, session, request))


def step(session: Session, request: Request) -> None:
    """A thread, and all others that are stopped at the same line, make the same step."""
    command = request.arguments().get("command")
    if command not in STEPS:
        raise ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "command" must be one of {", ".join(STEPS)}.'))
    first = session.thread(request.arguments().get("threadId"))
    if first.state is not State.STOPPED:
        raise ProblemError(Problem(Code.NOT_STOPPED, "The thread runs; wait for its next stop."))
    request.client.focus = first

    def go(thread: Thread, then: Callable[[Reply | None], None]) -> None:
        stops.go(session, thread, command, {"threadId": thread.local}, then)

    def choose(frame: Frame) -> None:
        if first.state is not State.STOPPED or (isinstance(frame, Problem) and frame is not _NO_FRAME):
            # Who runs on, or does not even show its stack, makes no step.
            request.fail(frame if isinstance(frame, Problem) else _NO_FRAME)
            return
        line = _line(frame)

        def ask(thread: Thread, then: Callable[[Reply | None], None]) -> None:
            def look(frame: Frame) -> None:
                if isinstance(frame, Problem) and frame is not _NO_FRAME:
                    then(frame)
                elif _line(frame) == line and thread.state is State.STOPPED:
                    go(thread, then)
                else:
                    then(None)

            if thread is first:
                go(thread, then)
            else:
                _top_frame(session, thread, look)

        others = [] if line is None else [each for each in _stopped(session, request.client) if each is not first]
        _gather([first, *others], ask, partial(_answer_resumed, session, request))

    _top_frame(session, first, choose)


def evaluate(session: Session, request: Request) -> None:
    """An expression in the user's top frame of each thread."""
    expression = request.arguments().get("expression")
    if not isinstance(expression, str) or not expression.strip():
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "expression" is missing.'))
    deadline = session.now + POLICY["evaluate"].patience

    def ask(thread: Thread, then: Callable[[dict[str, Any]], None]) -> None:
        def look(frame: Frame) -> None:
            if isinstance(frame, Problem):
                then({"error": frame.text})
                return
            arguments = {"expression": expression, "frameId": frame.get("id"), "context": "watch"}
            thread.worker.request("evaluate", arguments, lambda reply: then(_result(reply)), deadline)

        _top_frame(session, thread, look)

    def answer(results: dict[Thread, dict[str, Any]]) -> None:
        named = [
            {"threadId": thread.handle, "name": views.thread(thread)["name"], **result}
            for thread, result in results.items()
        ]
        request.respond({"results": named})

    _gather(_threads(session, request), ask, answer)


def _answer_resumed(session: Session, request: Request, replies: Mapping[Thread, Reply | None]) -> None:
    """Fails only if nobody runs on; a single worker that does not is in the log, and stays stopped for all to see.
    Those without a reply were not meant to."""
    resumed = []
    failure: Reply | None = None
    for thread, reply in replies.items():
        if reply is None:
            continue
        if not isinstance(reply, Problem) and reply.success:
            resumed.append(thread.handle)
        else:
            logged(session, thread.worker)(reply)
            failure = failure or reply
    if resumed or failure is None:
        request.respond({"threads": resumed})
    elif isinstance(failure, Problem):
        request.fail(failure)
    else:
        request.refuse(failure)


def _threads(session: Session, request: Request) -> list[Thread]:
    """Those that the request names and that are stopped; without names, all that the client sees."""
    handles = request.arguments().get("threads")
    if handles is None:
        return _stopped(session, request.client)
    if not isinstance(handles, list):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "threads" must be an array of thread ids.'))
    # Some that were shown as stopped may run by now, which is what most who ask want anyway.
    return _still(dict.fromkeys(session.thread(handle) for handle in handles))


def _stopped(session: Session, client: Client) -> list[Thread]:
    return _still(thread for thread in session.stopped.values() if client.sees(thread.worker.key))


def _still(threads: Iterable[Thread]) -> list[Thread]:
    return [thread for thread in threads if thread.state is State.STOPPED]


def _gather(
    things: list[Thread], ask: Callable[[Thread, Callable[[T], None]], None], done: Callable[[dict[Thread, T]], None]
) -> None:
    """Asks all at once, and is done when each has answered; in the order in which they were asked."""
    answers: dict[Thread, T] = {}

    def take(thread: Thread, answer: T) -> None:
        answers[thread] = answer
        if len(answers) == len(things):
            done({thread: answers[thread] for thread in things})

    for thing in things:
        ask(thing, partial(take, thing))
    if not things:
        done({})


def _top_frame(session: Session, thread: Thread, then: Callable[[Frame], None]) -> None:
    """The worker's own frame, with its own ids, in which the user's code stands."""

    def take(reply: Reply) -> None:
        frames = load_body(reply).get("stackFrames")
        shown = frames if isinstance(frames, list) else []
        users = (frame for frame in shown if isinstance(frame, dict) and not views.plumbing(frame))
        frame = next(users, _NO_FRAME) if thread.stop is stop else _NO_FRAME
        then(reply if isinstance(reply, Problem) else frame)

    stop = thread.stop
    arguments = {"threadId": thread.local, "levels": _DEEP}
    thread.worker.request("stackTrace", arguments, take, session.now + POLICY["stackTrace"].patience)


def _line(frame: Frame) -> tuple[object, object] | None:
    """File and line; None if nothing can be at the same one."""
    if isinstance(frame, Problem) or not isinstance(frame.get("source"), dict):
        return None
    return frame["source"].get("path"), frame.get("line")


def _result(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Problem):
        return {"error": reply.text}
    if not reply.success:
        # debugpy answers with a whole traceback, whose last line says what happened.
        lines = [line for line in (reply.message or "").splitlines() if line.strip()]
        return {"error": lines[-1].strip() if lines else "It failed without a word."}
    body = load_body(reply)
    return {"value": str(body.get("result", "")), "type": str(body.get("type") or "")}
