"""Breakpoints in files of the program with any name, and the source of code that has no file."""

from pathlib import Path

import pytest

from raydap.inworker import calls
from support.held_program import RunHeld

pytestmark = pytest.mark.core

NAMES = (
    *("queue", "Queue", "socket", "weakref", "_weakrefset", "linecache", "threading", "dis", "io", "codecs", "types"),
    *("contextlib", "inspect", "traceback", "pydevd", "pydevd_api", "pydevconsole", "_pydev_log", "sitecustomize"),
)
"""Names of files that debugpy considers, or has considered, part of the standard library or of debugpy."""

FILE = """\
def double(number):
    doubled = number * 2
    return doubled
"""

PROGRAM = f"""\
import importlib, sys

sys.path.insert(0, str(Path(__file__).parent))
modules = [importlib.import_module("kit." + name) for name in {NAMES}]
held("go")
held("set")
total = sum(module.double(1) for module in modules)
print("total:", total, flush=True)
held("end")
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return the files of the package `kit` beside the program."""
    paths = [tmp_path / "kit" / f"{name}.py" for name in NAMES]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(FILE)
    return paths


def test_breakpoints_stop_in_files_of_any_name(run_held: RunHeld, files: list[Path]) -> None:
    program = run_held(PROGRAM)
    client = program.worker.client
    for path in files:
        set_ = client.request("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 2}])
        assert set_["breakpoints"][0]["verified"]
    (files[0].parent.parent / "set").touch()
    for path in files:
        stop = client.wait_event("stopped")
        frame = program.worker.frames(stop["threadId"])[0]
        assert (Path(frame["source"]["path"]), frame["line"]) == (path, 2)
        assert program.worker.call(calls.resume_thread(stop["threadId"])) == ""
    program.end()
