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
"""Begins pydevd's warning (pydevd_net_command_factory_json.py, make_evaluation_timeout_msg)."""


def breakpoint_changed(state: State, worker: Worker, body: dict[str, object]) -> None:
    answer = body.get("breakpoint")
    breakpoint_events.changed(
        state, worker.run.breakpoints.moved(worker.key, answer if isinstance(answer, dict) else {})
    )


def output(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Passes on output that comes through debugpy, such as logpoints, with the worker's name before it and its key
    beside it. Drops debugpy's telemetry, and what it says of an evaluate of raydap's own that takes long: raydap says
    itself what a worker does that lets no Python code run."""
    text = body.get("output")
    if body.get("category") == "telemetry" or (isinstance(text, str) and text.startswith(_OWN_IS_SLOW)):
        return
    event_to_client(worker, "output", body)
    if isinstance(text, str):
        body["output"] = _labelled(worker, text)
    body["data"] = OutputData(worker=worker.key)
    state.broadcast("output", body, worker)


def _labelled(worker: Worker, text: str) -> str:
    """The worker's name stands at the beginning of a line only: `print` writes its arguments one by one."""
    run = worker.run
    if not text:
        return text
    open_line, run.open_line = run.open_line, "" if text.endswith("\n") else worker.key
    if open_line == worker.key or not text.strip():
        return text
    before = "\n" if open_line else ""
    return f"{before}[{names.output_label(worker)}] {text}"


def module(state: State, worker: Worker, body: dict[str, object]) -> None:
    event_to_client(worker, "module", body)
    state.broadcast("module", body, worker)


def process(state: State, worker: Worker, body: dict[str, object]) -> None:
    """Takes the pid of an explicit target. That of Ray's workers is known before."""
    pid = body.get("systemProcessId")
    if type(pid) is int and worker.row.pid == 0:
        worker.row = replace(worker.row, pid=pid)
        worker.mark()
