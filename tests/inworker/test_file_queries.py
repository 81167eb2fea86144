"""The answers of real workers about files, whatever their contents."""

from collections.abc import Callable
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

ODD = """\
# -*- coding: latin-1 -*-
name = "\xe9\xdf \\udc80 'quoted' %s {}"


def work():
    return [
        name,
    ]
"""


@pytest.mark.core
def test_files_are_read_by_the_worker(start: Start, tmp_path: Path) -> None:
    odd, long, wide, broken = (tmp_path / f"{name}'s file.py" for name in ("odd", "long", "wide", "broken"))
    odd.write_bytes(ODD.encode("latin-1"))
    long.write_text("number = 1\n" * 20_000)
    wide.write_text("# \U0001f600" * (calls.PART // 3) + "\n# end\n")
    broken.write_text("def :\n")
    worker, debuggee = start("breakpoint()\n")
    worker.stop()

    assert worker.query(calls.job_folders()) == [str(Path.cwd())]
    assert worker.query(calls.copies_of("/elsewhere/pyproject.toml")) == [str(Path.cwd() / "pyproject.toml")]
    assert worker.query(calls.copies_of("/elsewhere/nothing.py")) == [""]
    assert worker.query(calls.source_text(str(odd))) == ODD
    assert worker.query(calls.source_text(str(long))) == long.read_text()
    parts = [worker.query(calls.source_text(str(wide), start * calls.PART)) for start in range(3)]
    assert "".join(parts) == wide.read_text()
    assert list(map(len, parts)) == [calls.PART, len(wide.read_text()) - calls.PART, 0]
    assert worker.query(calls.code_lines(str(odd), 1, 100)) == [2, 5, 6, 7]
    assert worker.query(calls.code_lines(str(odd), 3, 6)) == [5, 6]
    assert worker.query(calls.code_lines(str(long), 1, 20_000)) == list(range(1, 20_001))
    for expression in (
        calls.source_text(str(tmp_path / "missing.py")),
        calls.code_lines(str(tmp_path / "missing.py"), 1, 9),
        calls.code_lines(str(broken), 1, 9),
    ):
        with pytest.raises(calls.ResultError):
            worker.query(expression)
    worker.client.request("disconnect")
    assert debuggee.child.wait() == 0
    # Nothing is printed: neither in the program's output nor in the debug console.
    assert debuggee.child.output.count("\n") == 1
    printed = [event["body"].get("category") for event in worker.client.events if event["event"] == "output"]
    assert set(printed) <= {"telemetry"}
