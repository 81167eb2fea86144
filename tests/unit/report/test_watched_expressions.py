"""The expressions that a report watches: the worker, line and step at which each has changed or become true."""

import json
from pathlib import Path
from typing import Any

from raydap.report import html_page, page_findings
from raydap.report.known_workers import KnownWorkers
from raydap.report.watch_arguments import WatchedLine
from raydap.report.watched_expressions import WatchedExpressions
from support.report_records import entry, report


def stopped(number: int, line: int = 2, **more: Any) -> dict[str, Any]:
    about = {"before": "0.5", "after": "nan", "line": line, "step": "step 7", **more}
    return {"hitBreakpointIds": [number], "reason": "data breakpoint", "raydap": about}


def test_the_first_worker_line_and_step_are_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("def train():\n    loss = model()\n    return loss\n")
    workers = KnownWorkers()
    workers.take([entry(f"w{rank}", actor="Trainer", title=f"Trainer {rank}", rank=rank, pid=rank) for rank in (0, 1)])
    watched = WatchedExpressions([WatchedLine(str(file), 3, "", "loss"), WatchedLine(str(file), 3, "", "step > 9")])
    specs = watched.breakpoints()
    assert json.loads(specs[0]["dataId"]) == ["loss", str(file), 3, ""]
    assert specs[0]["hitCondition"] == "<= 3"
    watched.take_answers([{"id": 5, "verified": False}, {"id": 6, "verified": False, "message": "No such file."}])
    watched.take_breakpoint({"id": 5, "verified": True, "message": ""})
    assert watched.take_stop("w1", 1.0, stopped(5)) is watched.seen[0]
    assert watched.take_stop("w0", 2.0, stopped(5, line=0)) is watched.seen[0]
    assert watched.take_stop("w0", 2.0, stopped(9)) is None
    records = tuple(each.record(workers) for each in watched.seen)
    first = records[0].hits[0]
    assert (first.label, first.line, first.source, first.step) == ("Trainer 1", 2, "loss = model()", "step 7")
    found = report(watches=records)
    assert list(page_findings.of_report(found)) == [
        ("watch0", "loss", " first changed from 0.5 to nan in Trainer 1, after train.py:2 (step 7)"),
        ("watch1", "step > 9", ": No such file."),
    ]
    page = html_page.of_report(found)
    assert "Watched expressions" in page
    assert "loss = model()" in page
