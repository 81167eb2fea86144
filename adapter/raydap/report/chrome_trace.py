"""The timeline as a Chrome trace, for Perfetto and chrome://tracing: Ray's events, and raydap's pauses in their rows.

Ray numbers the nodes as processes and the workers as threads, anew in each dump, and names them in events of their own:
`Node 10.0.0.7`, `worker:<id>` (ray/_private/profiling.py, chrome_tracing_dump). So raydap's events go to the rows of
Ray's with these names; a worker that Ray has no events of gets the next number.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from raydap.report.records import Report, Span, WorkerRecord

Event = Mapping[str, Any]


def of_report(report: Report, ray_events: Iterable[Event]) -> list[Event]:
    """All events. Without Ray's own the tasks are those of the report."""
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
    """The numbers of nodes and workers. `names` are the events that name those that Ray's events do not."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.names: list[Event] = []
        self._nodes: dict[str, int] = {}
        self._workers: dict[str, tuple[int, int]] = {}
        for event in events:
            name = str((event.get("args") or {}).get("name", ""))
            if event.get("ph") == "M" and event.get("name") == "process_name":
                self._nodes[name] = int(event["pid"])
            elif event.get("ph") == "M" and event.get("name") == "thread_name":
                self._workers[name.partition(":")[2]] = int(event["pid"]), int(event["tid"])

    def of(self, key: str, worker: WorkerRecord | None) -> tuple[int, int]:
        """The numbers of a worker's node and of the worker."""
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


def _complete(span: Span, row: tuple[int, int], category: str, now: float) -> Event:
    """Microseconds, as Ray's."""
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
