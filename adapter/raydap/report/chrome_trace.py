"""The timeline as a Chrome trace, for Perfetto and chrome://tracing: Ray's events, and the stops in the same rows.

In Ray's events a node is a process and a worker is a thread, numbered from 0 in each dump. Events of their own contain
the names: `Node 10.0.0.7`, `worker:<id>` (ray/_private/profiling.py, chrome_tracing_dump). raydap finds the row of a
worker by these names. A worker without events of Ray's gets the next free number.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from raydap.report.records import Report, TimelineSpan, WorkerRecord

Event = Mapping[str, Any]
"""An event of the Chrome trace format."""


def of_report(report: Report, ray_events: Iterable[Event]) -> list[Event]:
    """Return all events of the trace. If there are no `ray_events`, the tasks of the report are used instead."""
    given = [each for each in ray_events if isinstance(each, dict)]
    rows = _Rows(given)
    workers = {each.key: each for each in report.workers}
    made: list[Event] = []
    for span in report.timeline.tasks if not given else ():
        made.append(_complete(span, rows.of(span.worker, workers.get(span.worker)), "task:execute", report.written))
    for span in report.timeline.pauses:
        made.append(_complete(span, rows.of(span.worker, workers.get(span.worker)), "raydap:paused", report.written))
    return [*given, *made, *rows.names]


class _Rows:
    """The numbers of nodes and workers in the trace."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.names: list[Event] = []
        """Events that name the nodes and workers without events of Ray's."""
        self._nodes: dict[str, int] = {}
        self._workers: dict[str, tuple[int, int]] = {}
        for event in events:
            name = str((event.get("args") or {}).get("name", ""))
            if event.get("ph") == "M" and event.get("name") == "process_name":
                self._nodes[name] = int(event["pid"])
            elif event.get("ph") == "M" and event.get("name") == "thread_name":
                self._workers[name.partition(":")[2]] = int(event["pid"]), int(event["tid"])

    def of(self, key: str, worker: WorkerRecord | None) -> tuple[int, int]:
        """Return the number of a worker's node and the number of the worker; assign them if it has none."""
        if key not in self._workers:
            node = f"Node {worker.node if worker is not None else 'unknown'}"
            if node not in self._nodes:
                self._nodes[node] = max(self._nodes.values(), default=-1) + 1
                self.names.append(_named("process_name", self._nodes[node], None, node))
            tid = max((each for _, each in self._workers.values()), default=-1) + 1
            self._workers[key] = self._nodes[node], tid
            kind = "driver" if worker is not None and worker.kind == "driver" else "worker"
            self.names.append(_named("thread_name", self._nodes[node], tid, f"{kind}:{key}"))
        return self._workers[key]


def _named(what: str, pid: int, tid: int | None, name: str) -> Event:
    return {"name": what, "args": {"name": name}, "pid": pid, "tid": tid, "ph": "M"}


def _complete(span: TimelineSpan, row: tuple[int, int], category: str, now: float) -> Event:
    """Return an event with a duration. Its times are in microseconds, like those of Ray's events."""
    end = now if span.end is None else span.end
    paused = category == "raydap:paused"
    return {
        "cat": category,
        "name": f"paused by raydap: {span.name}" if paused else span.name,
        "pid": row[0],
        "tid": row[1],
        "ts": span.start * 1e6,
        "dur": max(end - span.start, 0.0) * 1e6,
        "cname": "terrible" if paused else "rail_response",
        "args": {"worker_id": span.worker},
        "ph": "X",
    }
