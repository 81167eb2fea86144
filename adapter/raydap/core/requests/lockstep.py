"""Steps workers together, again and again, until they part (raydap/step with `until`).

Their stops in between are seen by nobody: an editor would show each of them.
"""

from collections.abc import Collection

from raydap.core.flows import Flow
from raydap.core.model.arrivals import Arrivals
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.model.worker import Thread, ThreadState
from raydap.core.requests import top_frames
from raydap.core.requests.execution import let_run, note_resumed
from raydap.core.workers import stops
from raydap.errors import ProblemError

MAX_STEPS = 10_000


def until_parted(
    state: State, request: Request, threads: Collection[Thread], command: str, until: float
) -> Flow[tuple[int, Collection[Thread]]]:
    """Steps threads that are stopped at one line until they are at different ones, one of them stops for another
    reason, ends or refuses, the time is `until`, or the request is cancelled. Then all that are stopped are shown.
    Returns the number of steps, and those that run still."""
    stopped: dict[Thread, dict[str, object]] = {}
    try:
        for steps in range(1, MAX_STEPS + 1):
            # It is there before they step: a stop may come before the last of them has begun.
            arrivals = Arrivals(request, threads, until, hides=True)
            state.arrivals.append(arrivals)
            refused = yield from _step(state, request, arrivals, threads, command)
            yield from arrivals.over
            # One that has refused is where it was.
            stopped = {**{thread: stopped[thread] for thread in refused if thread in stopped}, **arrivals.hidden}
            together = (
                not refused
                and len(arrivals.hidden) == len(threads)
                and (yield from _at_one_line(state, request, stopped))
            )
            if not together or not request.is_wanted or state.now >= until or steps == MAX_STEPS:
                break
    finally:
        # Whatever goes wrong, nobody must stay unseen.
        for thread, body in stopped.items():
            if thread.state is ThreadState.WAITING:
                stops.halt(state, thread, body)
    return steps, arrivals.missing


def _step(
    state: State, request: Request, arrivals: Arrivals, threads: Collection[Thread], command: str
) -> Flow[list[Thread]]:
    """Returns those that do not step."""
    flows = {thread: _step_one(state, thread, command, request.timeout_s) for thread in threads}
    replies = yield from state.parts.gather(flows, request.client)
    refused = [thread for thread, reply in replies.items() if isinstance(reply, ProblemError)]
    for thread in refused:
        state.log("warning", f"{thread.worker} does not step: {replies[thread]}")
        arrivals.arrived(thread)
    return refused


def _step_one(state: State, thread: Thread, command: str, timeout_s: float) -> Flow[None]:
    yield from let_run(thread, command, {"threadId": thread.local}, timeout_s)
    if thread.is_shown:
        note_resumed(state, thread)
    elif thread.state is ThreadState.RESUMING:
        thread.run()


def _at_one_line(state: State, request: Request, stopped: dict[Thread, dict[str, object]]) -> Flow[bool]:
    """Whether all have ended a step, at one line of the user's code."""
    if any(body.get("reason") != "step" for body in stopped.values()):
        return False
    frames = yield from state.parts.gather({thread: top_frames.of(thread) for thread in stopped}, request.client)
    lines = {None if isinstance(frame, ProblemError) else top_frames.line_of(frame) for frame in frames.values()}
    return len(lines) == 1 and None not in lines
