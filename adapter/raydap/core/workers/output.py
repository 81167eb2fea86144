"""Events of workers other than stops: output, modules, changed breakpoints, the process."""

from dataclasses import replace

from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.translate import names
from raydap.core.translate.local_ids import event_to_client
from raydap.core.workers import breakpoint_events
from raydap.inworker import calls
from raydap.protocol.raydap_messages import OutputData

_OWN_IS_SLOW = tuple(f"Evaluating: {own}" for own in calls.OWN)
"""The beginnings of pydevd's warning about a slow evaluation of raydap's own (pydevd_net_command_factory_json.py,
make_evaluation_timeout_msg)."""


def breakpoint_changed(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Merge a worker's `breakpoint` event, and notify the clients."""
    answer = body.get("breakpoint")
    breakpoint_events.changed(
        state, worker.run.breakpoints.moved(worker.key, answer if isinstance(answer, dict) else {})
    )


def output(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Forward output that comes through debugpy, such as logpoints, with the worker's name in front.

    The event's `data` contains the worker's key. debugpy's telemetry is dropped, as is pydevd's warning that an
    evaluation of raydap's own takes long: raydap itself reports a worker whose native code blocks all Python code.
    """
    text = body.get("output")
    if body.get("category") == "telemetry" or (isinstance(text, str) and text.startswith(_OWN_IS_SLOW)):
        return
    event_to_client(worker, "output", body)
    if isinstance(text, str):
        body["output"] = _labelled(worker, text)
    body["data"] = OutputData(worker=worker.key)
    state.broadcast("output", body, worker)


def _labelled(worker: Worker, text: str) -> str:
    """Return the text with the worker's name in front, unless it continues a line of the same worker.

    `print` writes its arguments one by one.
    """
    run = worker.run
    if not text:
        return text
    open_line, run.open_line = run.open_line, "" if text.endswith("\n") else worker.key
    if open_line == worker.key or not text.strip():
        return text
    before = "\n" if open_line else ""
    return f"{before}[{names.title(worker)}] {text}"


def module(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Forward a worker's `module` event to the clients that see the worker."""
    event_to_client(worker, "module", body)
    state.broadcast("module", body, worker)


def process(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Record the pid of an explicit target; the pids of Ray's workers are known before."""
    pid = body.get("systemProcessId")
    if type(pid) is int and worker.row.pid == 0:
        worker.row = replace(worker.row, pid=pid)
        worker.mark()
