"""Entries of workers, looks and whole reports."""

from typing import Any

from msgspec import UNSET

from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, StackNode, StackVariable
from raydap.report import records
from raydap.report.records import FrameRecord, LookRecord, Outcome, Report, Timeline


def entry(key: str, **more: Any) -> WorkerEntry:
    threads = tuple(
        StoppedThread(thread_id=thread, name="", reason="breakpoint", error="", order=0, place="")
        for thread in more.pop("threads", ())
    )
    values: dict[str, Any] = {
        "key": key,
        "name": key,
        "label": more.get("actor") or "worker",
        "where": "",
        "state": "running",
        "age": 0.0,
        "type": "worker",
        "pid": 101,
        "node": "10.0.0.7",
        "node_id": "n1",
        "job": "01000000",
        "submission": "",
        "actor": "",
        "actor_name": "",
        "task": "",
        "agent": True,
        "problem": "",
    }
    return WorkerEntry(**{**values, **more, "threads": threads})


def frame(name: str = "step", line: int = 4, path: str = "/app/train.py", **variables: object) -> FrameRecord:
    found = tuple(
        StackVariable(name=each, value=repr(value), type=type(value).__name__) for each, value in variables.items()
    )
    return FrameRecord(location=CodeLocation(name=name, path=path, line=line), variables=found)


def look(worker: str, *frames: FrameRecord, time: float = 1000.0, problem: str = "") -> LookRecord:
    return LookRecord(time=time, worker=worker, label=worker, frames=frames, paused=0.01, problem=problem)


def node(
    frame: CodeLocation | None = None, count: int = 1, label: str = "Trainer{0}", *children: StackNode
) -> StackNode:
    return StackNode(frame=frame, count=count, members=(), running=(), label=label, children=children, locals=UNSET)


STACKS = MergedStacks(root=node(), missing=(), silent=(), unread=())


def report(**more: Any) -> Report:
    values: dict[str, Any] = {
        "version": records.VERSION,
        "raydap": "0.1.0",
        "title": "train.py",
        "command": ("raydap", "report"),
        "cluster": "",
        "started": 1000.0,
        "written": 1060.0,
        "ended": 1059.0,
        "outcome": Outcome(state="ended", code=0, text="The program has ended with exit code 0."),
        "workers": (),
        "errors": (),
        "lines": (),
        "traces": (),
        "samples": (),
        "timeline": Timeline(tasks=(), pauses=(), more=0),
        "notes": (),
        "output": (),
    }
    return Report(**{**values, **more})
