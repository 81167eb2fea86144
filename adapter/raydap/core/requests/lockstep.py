"""Steps many workers together until they are at different lines (`raydap/step` with `until`).

Clients do not see the stops in between, because an editor would show each of them.
"""

from collections.abc import Collection

from raydap.core.flows import Flow
from raydap.core.model.arrivals import Arrivals
from raydap.core.model.client import Request
from raydap.core.model.state import State
from raydap.core.model.worker import ThreadState, WorkerThread
from raydap.core.requests import top_frames
from raydap.core.requests.execution import let_run, note_resumed
from raydap.core.workers import stops
from raydap.errors import ProblemError

MAX_STEPS = 10_000


def until_parted(
    state: State, request: Request, threads: Collection[WorkerThread], command: str, until: float
) -> Flow[tuple[int, Collection[WorkerThread]]]:
    """Step threads that are stopped at one line until they are at different lines.

    Stepping also ends when a thread stops for another reason, ends or refuses to step, at the time `until`, after
    MAX_STEPS, and when the request is cancelled. Then clients see the stops. Returns the number of steps, and the
    threads that are still running.
    """
    stopped: dict[WorkerThread, dict[str, object]] = {}
    try:
        for steps in range(1, MAX_STEPS + 1):
            # Register it before the step: a thread may stop before the last one has been resumed.
            arrivals = Arrivals(request, threads, until, hides=True)
            state.arrivals.append(arrivals)
            refused = yield from _step(state, request, arrivals, threads, command)
            yield from arrivals.over
            # A thread that has refused is still at its previous stop.
            stopped = {**{thread: stopped[thread] for thread in refused if thread in stopped}, **arrivals.hidden}
            together = (
                not refused
                and len(arrivals.hidden) == len(threads)
                and (yield from _at_one_line(state, request, stopped))
            )
            if not together or not request.is_wanted or state.now >= until or steps == MAX_STEPS:
                break
    finally:
        # Show the stops even after an error: no stopped thread may stay hidden.
        for thread, body in stopped.items():
            if thread.state is ThreadState.WAITING:
                stops.halt(state, thread, body)
    return steps, arrivals.missing


def _step(
    state: State, request: Request, arrivals: Arrivals, threads: Collection[WorkerThread], command: str
) -> Flow[list[WorkerThread]]:
    """Step each thread once, and return the threads whose step has failed."""
    flows = {thread: _step_one(state, thread, command, request.timeout_s) for thread in threads}
    replies = yield from state.parts.gather(flows, request.client)
    refused = [thread for thread, reply in replies.items() if isinstance(reply, ProblemError)]
    for thread in refused:
        state.log("warning", f"the step of {thread.worker} failed: {replies[thread]}")
        arrivals.arrived(thread)
    return refused


def _step_one(state: State, thread: WorkerThread, command: str, timeout_s: float) -> Flow[None]:
    yield from let_run(thread, command, {"threadId": thread.local}, timeout_s)
    if thread.is_shown:
        note_resumed(state, thread)
    elif thread.state is ThreadState.RESUMING:
        thread.run()


def _at_one_line(state: State, request: Request, stopped: dict[WorkerThread, dict[str, object]]) -> Flow[bool]:
    """Return whether all threads have completed a step, at the same line of the user's code."""
    if any(body.get("reason") != "step" for body in stopped.values()):
        return False
    frames = yield from state.parts.gather({thread: top_frames.of(thread) for thread in stopped}, request.client)
    lines = {None if isinstance(frame, ProblemError) else top_frames.line_of(frame) for frame in frames.values()}
    return len(lines) == 1 and None not in lines
