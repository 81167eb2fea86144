"""The trace has Ray's own events, with raydap's events in the same rows."""

from typing import Any

import msgspec

from raydap.report import chrome_trace
from raydap.report.records import Timeline, TimelineSpan, WorkerRecord
from support.report_records import report

RAYS: list[dict[str, Any]] = [
    {
        "cat": "task:execute",
        "name": "f",
        "pid": 0,
        "tid": 2,
        "ts": 1.0,
        "dur": 2.0,
        "cname": "rail",
        "args": {},
        "ph": "X",
    },
    {"name": "process_name", "args": {"name": "Node 10.0.0.7"}, "pid": 0, "tid": None, "ph": "M"},
    {"name": "thread_name", "args": {"name": "worker:w0"}, "pid": 0, "tid": 2, "ph": "M"},
]


def worker(key: str, node: str, kind: str = "Trainer") -> WorkerRecord:
    values = {"label": key, "pid": 1, "job": "", "seen": 0.0, "ended": None, "problem": "", "pauses": 0, "paused": 0.0}
    return WorkerRecord(key=key, node=node, kind=kind, **values)  # type: ignore[arg-type]


FOUND = report(
    workers=(worker("w0", "10.0.0.7"), worker("w1", "10.0.0.7"), worker("d", "10.0.0.8", "driver")),
    timeline=Timeline(
        tasks=(TimelineSpan(worker="w0", name="f", start=1000.0, end=1000.5),),
        pauses=tuple(
            TimelineSpan(worker=key, name="breakpoint", start=1000.25, end=1000.5) for key in ("w0", "w1", "d")
        ),
        more=0,
    ),
)


def test_pauses_are_in_rays_rows() -> None:
    events = chrome_trace.of_report(FOUND, RAYS)
    assert events[:3] == RAYS
    pauses = {event["args"]["worker_id"]: event for event in events if event.get("cat") == "raydap:paused"}
    assert (pauses["w0"]["pid"], pauses["w0"]["tid"]) == (0, 2)
    assert (pauses["w0"]["ts"], pauses["w0"]["dur"]) == (1000.25e6, 0.25e6)
    assert (pauses["w1"]["pid"], pauses["w1"]["tid"]) == (0, 3)
    assert (pauses["d"]["pid"], pauses["d"]["tid"]) == (1, 4)
    names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {
        (0, None): "Node 10.0.0.7",
        (0, 2): "worker:w0",
        (0, 3): "worker:w1",
        (1, None): "Node 10.0.0.8",
        (1, 4): "driver:d",
    }
    assert len([event for event in events if event.get("cat") == "task:execute"]) == 1


def test_without_rays_events_the_tasks_are_those_of_the_report() -> None:
    events = chrome_trace.of_report(FOUND, [])
    (task,) = [event for event in events if event.get("cat") == "task:execute"]
    assert (task["name"], task["ts"], task["dur"], task["ph"]) == ("f", 1000.0e6, 0.5e6, "X")
    for event in events:
        assert {"name", "pid", "tid", "ph", "args"} <= event.keys()
        assert isinstance(event["pid"], int)
    assert msgspec.json.decode(msgspec.json.encode(events)) == events


def test_an_open_span_ends_now() -> None:
    open_ = Timeline(tasks=(), pauses=(TimelineSpan(worker="w0", name="pause", start=1050.0, end=None),), more=0)
    (event, *_) = chrome_trace.of_report(report(timeline=open_), [])
    assert event["dur"] == 10.0 * 1e6
