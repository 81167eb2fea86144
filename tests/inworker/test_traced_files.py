"""Breakpoints in the program's files whatever their names, and the source of code that has none."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from raydap.inworker import calls
from support.agents import PreparedProgram, attach
from support.debuggee import Debuggee
from support.entered import EnteredWorker

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

pytestmark = pytest.mark.core

NAMES = (
    *("queue", "Queue", "socket", "weakref", "_weakrefset", "linecache", "threading", "dis", "io", "codecs", "types"),
    *("contextlib", "inspect", "traceback", "pydevd", "pydevd_api", "pydevconsole", "_pydev_log", "sitecustomize"),
)
"""Names of files that debugpy takes, or has taken, for those of the standard library or for its own."""

FILE = """\
def double(number):
    doubled = number * 2
    return doubled
"""

PROGRAM = f"""\
import importlib, sys, time
from pathlib import Path

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

sys.path.insert(0, str(Path(__file__).parent))
modules = [importlib.import_module("kit." + name) for name in {NAMES}]
print("begun", flush=True)
held("go")
total = sum(module.double(1) for module in modules)
print("total:", total, flush=True)
held("end")
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The files of the package kit beside the program."""
    paths = [tmp_path / "kit" / f"{name}.py" for name in NAMES]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(FILE)
    return paths


def run_through(worker: EnteredWorker, files: list[Path]) -> None:
    for path in files:
        stop = worker.client.wait_event("stopped")
        frame = worker.frames(stop["threadId"])[0]
        assert (Path(frame["source"]["path"]), frame["line"]) == (path, 2)
        assert worker.call(calls.resume_thread(stop["threadId"])) == ""


def set_breakpoints(worker: EnteredWorker, files: list[Path]) -> None:
    for path in files:
        set_ = worker.client.request("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 2}])
        assert set_["breakpoints"][0]["verified"]


@pytest.mark.usefixtures("debuggable")
def test_an_agent_stops_in_files_of_any_name(
    tmp_path: Path, packages: Path | None, children: ExitStack, files: list[Path]
) -> None:
    program = PreparedProgram.start(PROGRAM, tmp_path, packages, children)
    program.called().close()
    program.child.wait_for("begun")
    worker = attach(program, program.dial(), children)
    set_breakpoints(worker, files)
    (tmp_path / "go").touch()
    run_through(worker, files)
    worker.leave()
    (tmp_path / "end").touch()
    assert program.child.wait() == 0, program.child.output


def test_an_adapter_stops_in_files_of_any_name(start: Start, files: list[Path]) -> None:
    worker, debuggee = start(PROGRAM.replace('held("go")', "breakpoint()"), justMyCode=True)
    _, _, thread = worker.stop()
    set_breakpoints(worker, files)
    assert worker.call(calls.resume_thread(thread)) == ""
    run_through(worker, files)
    worker.leave()
    debuggee.path.with_name("end").touch()
    assert debuggee.child.wait() == 0, debuggee.child.output
