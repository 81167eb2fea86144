"""Events about breakpoints that workers have set, moved or refused.

A change of the line or of `verified` is sent at once. A text that counts workers (`Set in 3 of 8 workers`) changes with
each worker, so it is sent once a second.
"""

from collections.abc import Iterable

from raydap.core.model.breakpoints import RunBreakpoint
from raydap.core.model.state import State


def changed(state: State, breakpoints: Iterable[RunBreakpoint]) -> None:
    """Send the changed breakpoints to the clients, now or at the next Tick."""
    for breakpoint in breakpoints:
        view = breakpoint.view()
        if (view["verified"], view.get("line")) == breakpoint.sent:
            state.run.changed_breakpoints[breakpoint.id] = breakpoint
        else:
            _send(state, breakpoint)


def send_texts(state: State) -> None:
    """Send the breakpoints whose text has changed since the last Tick.

    Called at every Tick.
    """
    for breakpoint in list(state.run.changed_breakpoints.values()):
        _send(state, breakpoint)


def _send(state: State, breakpoint: RunBreakpoint) -> None:
    view = breakpoint.view()
    breakpoint.sent = (view["verified"], view.get("line"))
    state.run.changed_breakpoints.pop(breakpoint.id, None)
    if state.run.breakpoints.has(breakpoint):
        state.broadcast("breakpoint", {"reason": "changed", "breakpoint": view})
