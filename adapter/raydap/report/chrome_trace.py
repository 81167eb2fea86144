"""The timeline as a Chrome trace, for Perfetto and chrome://tracing: Ray's events, and the stops in the same rows.

In Ray's events a node is a process and a worker is a thread, numbered from 0 in each dump. Events of their own contain
the names: `Node 10.0.0.7`, `worker:<id>` (ray/_private/profiling.py, chrome_tracing_dump). raydap finds the row of a
worker by these names. A worker without events of Ray's gets the next free number.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raydap.report.records import Report, TimelineSpan, WorkerRecord

Event = Mapping[str, Any]
"""An event of the Chrome trace format."""


def of_report(report: Report, ray_events: Sequence[Event]) -> list[Event]:
    """Return all events of the trace. If there are no `ray_events`, the tasks of the report are used instead."""
    rows = _Rows(ray_events, report.workers)
    pauses = [(span, "raydap:paused", f"paused by raydap: {span.name}", "terrible") for span in report.timeline.pauses]
    tasks = [(span, "task:execute", span.name, "rail_response") for span in report.timeline.tasks if not ray_events]
    return [*ray_events, *(_complete(rows, report.written, *each) for each in tasks + pauses), *rows.names]


class _Rows:
    """The numbers of nodes and workers in the trace."""

    def __init__(self, events: Iterable[Event], workers: Iterable[WorkerRecord]) -> None:
        self.names: list[Event] = []
        """Events that name the nodes and workers without events of Ray's."""
        self._records = {each.key: each for each in workers}
        self._nodes: dict[str, int] = {}
        self._workers: dict[str, tuple[int, int]] = {}
        for event in events:
            name = str((event.get("args") or {}).get("name", ""))
            if event.get("ph") == "M" and event.get("name") == "process_name":
                self._nodes[name] = int(event["pid"])
            elif event.get("ph") == "M" and event.get("name") == "thread_name":
                self._workers[name.partition(":")[2]] = int(event["pid"]), int(event["tid"])

    def of(self, key: str) -> tuple[int, int]:
        """Return the number of a worker's node and the number of the worker; assign them if it has none."""
        if key not in self._workers:
            worker = self._records.get(key)
            node = f"Node {worker.node if worker is not None else 'unknown'}"
            if node not in self._nodes:
                self._nodes[node] = max(self._nodes.values(), default=-1) + 1
                self._name("process_name", self._nodes[node], None, node)
            tid = max((each for _, each in self._workers.values()), default=-1) + 1
            self._workers[key] = self._nodes[node], tid
            kind = "driver" if worker is not None and worker.kind == "driver" else "worker"
            self._name("thread_name", self._nodes[node], tid, f"{kind}:{key}")
        return self._workers[key]

    def _name(self, what: str, pid: int, tid: int | None, name: str) -> None:
        self.names.append({"name": what, "args": {"name": name}, "pid": pid, "tid": tid, "ph": "M"})


def _complete(rows: _Rows, now: float, span: TimelineSpan, category: str, name: str, colour: str) -> Event:
    """Return an event with a duration. Its times are in microseconds, like those of Ray's events."""
    pid, tid = rows.of(span.worker)
    duration = max((now if span.end is None else span.end) - span.start, 0.0)
    event = {"cat": category, "name": name, "pid": pid, "tid": tid, "ts": span.start * 1e6, "dur": duration * 1e6}
    return {**event, "cname": colour, "args": {"worker_id": span.worker}, "ph": "X"}
