"""Entries of workers, looks, records and whole reports."""

from typing import Any

import msgspec
from msgspec import UNSET

from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry
from raydap.protocol.stack_messages import (
    CodeLocation,
    MergedStacks,
    MissingMembers,
    StackNode,
    StackVariable,
    WorkerPlace,
)
from raydap.protocol.value_messages import Statistics
from raydap.report import records
from raydap.report.known_workers import KnownWorkers
from raydap.report.records import (
    ErrorRecord,
    FrameRecord,
    KindCount,
    LineRecord,
    LookRecord,
    Note,
    Outcome,
    Point,
    Report,
    SampleRecord,
    Series,
    TextGroup,
    Timeline,
    TimelineSpan,
    TraceRecord,
    WorkerRecord,
)
from raydap.report.watched_lines import Looks


def entry(key: str, **more: Any) -> WorkerEntry:
    threads = tuple(
        StoppedThread(thread_id=thread, name="", reason="breakpoint", error="", order=0, place="")
        for thread in more.pop("threads", ())
    )
    values: dict[str, Any] = {
        "key": key,
        "name": key,
        "title": more.get("actor") or f"{more.get('label', 'worker')} {more.get('pid', 101)}",
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
    frame: CodeLocation | None = None, count: int = 1, label: str = "Trainer 0", *children: StackNode
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


def trainers() -> KnownWorkers:
    known = KnownWorkers()
    known.take([entry(f"w{number}", actor="Trainer", title=f"Trainer {number}", rank=number) for number in range(4)])
    return known


def trainer_looks(name: str = "rate") -> Looks:
    found = Looks()
    for number in range(4):
        shown = frame()
        shown = msgspec.structs.replace(
            shown, variables=(StackVariable(name=name, value=str(0.2 if number == 3 else 0.1), type="float"),)
        )
        found.add("Trainer", look(f"w{number}", frame("main", 1), shown))
    return found


def line_record(text: str = "", **more: object) -> LineRecord:
    found = trainer_looks()
    values: dict[str, object] = {
        "path": f"/app/{text}train.py",
        "line": 4,
        "condition": text,
        "source": text,
        "call": False,
        "verified": True,
        "message": text,
        "counts": (
            KindCount(kind=f"Trainer{text}", workers=4, hits=1234, looked=4, failed=2, error=text or "NameError"),
        ),
        "tree": found.tree(trainers()),
        "statistics": found.statistics(),
        "looks": found.kept(trainers()),
    }
    return LineRecord(**{**values, **more})  # type: ignore[arg-type]


def trace_record(text: str = "", series: int = 3, points: int = 5) -> TraceRecord:
    made = [
        Series(
            worker=f"w{number}",
            label=f"Trainer {number}{text}",
            kind="Trainer",
            hits=points,
            points=tuple(
                Point(time=1000.0 + at, count=2, low=0.5, high=1.0 + at, last=0.75, nan=int(number == 1), inf=0)
                for at in range(points)
            ),
            texts=((1001.0, text),),
        )
        for number in range(series)
    ]
    return TraceRecord(
        path="/app/train.py",
        line=5,
        expression=f"loss{text}",
        source=text,
        verified=True,
        message="",
        counts=(KindCount(kind="Trainer", workers=3, hits=15, looked=0, failed=0, error=""),),
        series=tuple(made),
        texts=(TextGroup(text=text or "'warm'", count=1, label="Trainer 0"),),
        statistics=Statistics(min=0.5, max=5.0, mean=1.0, std=0.1, nan=1, inf=0),
        lowest="Trainer 0",
        highest="Trainer 2",
    )


def error_record(text: str = "") -> ErrorRecord:
    found = trainer_looks(f"value{text}")
    return ErrorRecord(
        type=f"ValueError{text}",
        text=f"3 is odd{text}",
        traceback=f"Traceback\n{text}",
        location=CodeLocation(name=f"step{text}", path=f"/app/{text}.py", line=3),
        passed=False,
        count=2,
        label=f"Trainer{{0-1}}{text}",
        first=1001.0,
        tree=found.tree(trainers()),
        looks=found.kept(trainers()),
    )


def sample_record(text: str = "") -> SampleRecord:
    place = CodeLocation(name=f"all_reduce{text}", path=f"/app/{text}train.py", line=9)
    root = node(None, 4, f"Trainer{{0-3}}{text}", node(place, 3, f"Trainer{{0-2}}{text}"))
    missing = MissingMembers(frame=place, count=3, of=4, members=(), running=(), label=f"Trainer 3{text}")
    return SampleRecord(
        time=1010.0,
        stacks=MergedStacks(root=root, missing=(missing,), silent=(), unread=("w9",)),
        places=(WorkerPlace(worker="w0", label=f"Trainer 0{text}", text=f"in step{text}", location=place),),
        unread=("w9",),
    )


def worker_record(key: str = "w0", text: str = "") -> WorkerRecord:
    return WorkerRecord(
        key=key,
        label=f"Trainer 0{text}",
        kind=f"Trainer{text}",
        pid=7,
        node=f"10.0.0.7{text}",
        job="01000000",
        seen=1000.0,
        ended=1050.0,
        problem=text,
        pauses=3,
        paused=0.04,
    )


def full_report(text: str = "") -> Report:
    return report(
        title=f"train.py{text}",
        cluster=text,
        command=(text,),
        outcome=Outcome(state="ended", code=1, text=f"It failed.{text}"),
        workers=(worker_record(text=text),),
        errors=(error_record(text),),
        lines=(line_record(text), line_record(text, call=True)),
        traces=(trace_record(text),),
        samples=(sample_record(text),),
        timeline=Timeline(
            tasks=(TimelineSpan(worker="w0", name=f"task{text}", start=1001.0, end=1002.0, state=f"FAILED{text}"),),
            pauses=(TimelineSpan(worker=f"w1{text}", name=text, start=1001.0, end=None),),
            more=3,
        ),
        notes=(Note(time=1000.0, text=f"A note.{text}", count=2),),
        output=(f"a line{text}",),
    )


def crowd_report(workers: int, stops: int, kinds: int) -> Report:
    """Return a report of workers of several classes that stop in turn and fail, with everything that `report` keeps."""
    known, found = KnownWorkers(), Looks()
    keys = [f"w{number}" for number in range(workers)]
    for at, key in enumerate(keys):
        kind, rank = f"Trainer{at % kinds}", at // kinds
        known.take([entry(key, actor=kind, title=f"{kind} {rank}", rank=rank, pid=1000 + at)])
    for stop in range(stops):
        key = keys[stop % workers]
        variables = {f"variable{number}": f"{key} {number}" for number in range(10)}
        frames = frame("main", 1), frame("run", 2, worker=key), frame("step", 3, loss=stop / 7, **variables)
        found.add(known.kind(key), look(key, *frames, time=1000.0 + stop / 1000))
    tree, kept = found.tree(known), found.kept(known)
    line = line_record(tree=tree, looks=kept, statistics=found.statistics())
    errors = [msgspec.structs.replace(error_record(str(at)), count=stops, tree=tree, looks=kept) for at in range(200)]
    places = tuple(WorkerPlace(worker=key, label=key, text=f"in {key}", location=None) for key in keys)
    series = tuple(
        msgspec.structs.replace(trace_record().series[0], worker=key, label=key, kind=known.kind(key)) for key in keys
    )
    spans = tuple(
        TimelineSpan(worker=keys[at % workers], name="step", start=1000.0 + at / 1000, end=1005.0 + at / 1000)
        for at in range(20_000)
    )
    return report(
        workers=tuple(worker_record(key) for key in keys),
        errors=tuple(errors),
        lines=(line,),
        traces=(msgspec.structs.replace(trace_record(), series=series),),
        samples=(msgspec.structs.replace(sample_record(), places=places),) * 60,
        timeline=Timeline(tasks=spans, pauses=spans[:stops], more=0),
        output=("step",) * 200,
    )
