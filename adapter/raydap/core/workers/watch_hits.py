"""Hits of watchpoints: the events of workers, the stops that follow them, and the lines that users read."""

from typing import Any

from raydap.core.model.run_watches import RunWatch
from raydap.core.model.state import State
from raydap.core.model.worker import Worker, WorkerThread
from raydap.core.translate import names
from raydap.core.workers import watch_setting
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import shortened
from raydap.protocol.raydap_messages import OutputData
from raydap.protocol.types import LocalId

MAX_VALUE = 200
"""The longest text of a value in a message, in characters."""


def noted(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Note what a worker cannot compare of a watched value."""
    watch = worker.run.watches.find(body.get("number"))
    if watch is None:
        return
    note = _text(body, "message")
    is_new = note not in watch.text
    watch.note(worker.key, note)
    watch_setting.changed(state, watch)
    if is_new and watch.terms.place is not None:
        _print(state, worker, f"{watch.terms.place.title}: {note}")


def hit(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Print a hit of a watchpoint, and note it for the stop that follows if there is one."""
    watch = worker.run.watches.find(body.get("number"))
    if watch is None or watch.terms.place is None:
        return  # It has just been removed; the stop that follows is like that of a breakpoint.
    text = _described(watch, body)
    _print(state, worker, text)
    local = body.get("threadId")
    if body.get("stops") is True and type(local) is int:
        line, hits = body.get("line"), body.get("hits")
        thread = worker.thread(LocalId(local))
        # Several expressions can change in one line.
        before, others = thread.watched.get("text"), thread.watched.get("hitBreakpointIds")
        thread.watched = {
            "reason": "data breakpoint",
            "text": f"{before}; {text}" if before else text,
            "hitBreakpointIds": [*(others if isinstance(others, list) else []), watch.id],
            "raydap": {
                "expression": watch.terms.place.expression,
                "before": _text(body, "before"),
                "after": _text(body, "after"),
                "line": line if type(line) is int else 0,
                "hits": hits if type(hits) is int else 0,
                "step": _text(body, "counts"),
            },
        }


def of_stop(thread: WorkerThread, reason: object) -> dict[str, Any]:
    """Return the fields of a stop to which a watchpoint has led; {} for other stops."""
    watched, thread.watched = thread.watched, {}
    return watched if reason == "breakpoint" else {}


def _described(watch: RunWatch, body: dict[str, object]) -> str:
    """Return what has happened, as one line: `loss: 0.5 -> nan, after line 12 of step (step 3)`."""
    place = watch.terms.place
    assert place is not None
    before, after = _text(body, "before"), _text(body, "after")
    expression = shortened(one_line(place.expression), 80)
    change = f"{expression}: {before} -> {after}" if before else f"{expression} is true"
    line, function = body.get("line"), _text(body, "function")
    where = f"after line {line} of {function}" if type(line) is int and line else f"at the beginning of {function}"
    calls, counts = body.get("calls"), _text(body, "counts")
    counted = counts or (f"call {calls}" if type(calls) is int and calls else "")
    return f"{change}, {where}" + (f" ({counted})" if counted else "")


def _text(body: dict[str, object], name: str) -> str:
    return shortened(one_line(str(body.get(name) or "")), MAX_VALUE)


def _print(state: State, worker: Worker, text: str) -> None:
    data = OutputData(worker=worker.key)
    output = {"category": "console", "output": f"[{names.title(worker)}] {text}\n", "data": data}
    state.broadcast("output", output, worker)
