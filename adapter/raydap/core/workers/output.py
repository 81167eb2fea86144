"""Events of workers other than stops: output, modules, changed breakpoints, the process."""

from dataclasses import replace
from typing import Any

from raydap.core.model.state import State
from raydap.core.model.worker import Worker
from raydap.core.translate import names
from raydap.core.translate.local_ids import event_to_client


def breakpoint_changed(state: State, worker: Worker, body: dict[str, Any]) -> None:
    answer = body.get("breakpoint")
    for breakpoint in worker.run.breakpoints.moved(worker.key, answer if isinstance(answer, dict) else {}):
        state.broadcast("breakpoint", {"reason": "changed", "breakpoint": breakpoint.view()})


def output(state: State, worker: Worker, body: dict[str, Any]) -> None:
    """Passes on output that comes through debugpy, such as logpoints, with the worker's name before it. Drops debugpy's
    telemetry."""
    if body.get("category") == "telemetry":
        return
    event_to_client(worker, "output", body)
    text = body.get("output")
    if isinstance(text, str) and text.strip():
        body["output"] = f"[{names.output_label(worker)}] {text}"
    state.broadcast("output", body, worker)


def module(state: State, worker: Worker, body: dict[str, Any]) -> None:
    event_to_client(worker, "module", body)
    state.broadcast("module", body, worker)


def process(state: State, worker: Worker, body: dict[str, Any]) -> None:
    """Takes the pid of an explicit target. That of Ray's workers is known before."""
    pid = body.get("systemProcessId")
    if type(pid) is int and worker.row.pid == 0:
        worker.row = replace(worker.row, pid=pid)
        worker.mark()
