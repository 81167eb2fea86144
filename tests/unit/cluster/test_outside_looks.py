"""Facts about processes read from outside: forked children, and whether they wait in Ray's breakpoint()."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child

from raydap.cluster.machine import outside_looks
from raydap.cluster.machine.outside_looks import breakpoint_caller, forked_children, forked_waits_output

RAY = "/venv/lib/python3.12/site-packages/ray/"
WAITS = [f"{RAY}_private/state.py", f"{RAY}_private/worker.py", f"{RAY}util/debugpy.py", f"{RAY}util/debugpy.py"]
HOOK = f"{RAY}util/rpdb.py"
USER = "/home/me/ray/train.py"

FAMILY = """\
import os, subprocess, sys
from ray.util.debugpy import set_trace

def produce():
    os.write(1, b"waits %d\\n" % os.getpid())
    set_trace()

if os.fork() == 0:
    if os.fork() == 0:
        produce()
    os.write(1, b"child %d\\n" % os.getpid())
    os.read(os.pipe()[0], 1)
subprocess.run([sys.executable, "-c", "import os; os.write(1, b'other\\\\n'); os.read(os.pipe()[0], 1)"])
"""
"""A program with a forked child and another program. The child's own forked child waits as Ray's breakpoint() does.

Each process writes its line at once: `print` writes it in parts, which can mix with those of another process.
"""

DEBUGPY = """\
import threading

def set_trace():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
"""


def frames(*paths: str) -> list[Mapping[str, Any]]:
    return [{"name": f"f{number}", "filename": path, "line": number} for number, path in enumerate(paths)]


def test_the_caller_of_a_breakpoint_that_waits_for_the_cluster() -> None:
    for path in (USER, f"{RAY}data/read.py"):
        found = breakpoint_caller(frames(*WAITS, HOOK, path, "/usr/lib/python3.12/multiprocessing/process.py"))
        assert found == {"name": "f5", "filename": path, "line": 5}
    assert breakpoint_caller(frames(*WAITS, HOOK)) is None


@pytest.mark.parametrize(
    "innermost",
    [
        ["/venv/lib/python3.12/site-packages/debugpy/_vendored/pydevd/pydevd.py"],
        ["/usr/lib/python3.12/threading.py", "/venv/lib/python3.12/site-packages/debugpy/server/api.py"],
        ["<raydap agent>"],
        [f"{RAY}experimental/internal_kv.py", HOOK],
    ],
    ids=["stopped", "has a port", "has an agent", "the old debugger"],
)
def test_a_thread_that_waits_in_a_debugger_is_none(innermost: list[str]) -> None:
    assert breakpoint_caller(frames(*innermost, *WAITS[2:], HOOK, USER)) is None
    assert breakpoint_caller(frames(*innermost, USER)) is None


@pytest.fixture
def family(run_program: Callable[..., Child], tmp_path: Path) -> tuple[int, int, int]:
    """Return the pids of a process, its forked child and its forked grandchild."""
    (tmp_path / "ray" / "util").mkdir(parents=True)
    (tmp_path / "ray" / "__init__.py").touch()
    (tmp_path / "ray" / "util" / "debugpy.py").write_text(DEBUGPY)
    program = run_program(FAMILY)
    program.wait_for("other")
    child, grandchild = (int(program.wait_for(rf"{word} (\d+)")[1]) for word in ("child", "waits"))
    return program.pid, child, grandchild


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_forked_children_that_wait_are_found_and_other_programs_are_not(family: tuple[int, int, int]) -> None:
    pid, child, grandchild = family
    assert sorted(forked_children([pid])) == sorted([(pid, child), (pid, grandchild)])
    deadline = time.monotonic() + 60
    while not (found := json.loads(forked_waits_output([pid])))["waits"]:  # The grandchild may not wait yet.
        assert time.monotonic() < deadline, found
    (wait,) = found["waits"]
    assert os.path.basename(wait.pop("path")) == "program0.py"
    assert wait == {"parent": pid, "pid": grandchild, "thread": "MainThread", "function": "produce", "line": 6}
    assert found["problem"] == ""
    assert json.loads(forked_waits_output([child]))["waits"][0]["parent"] == child


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_why_children_cannot_be_read_is_reported(family: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_looks, "_has_waiting_thread", lambda pid: True)
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    found = json.loads(forked_waits_output([family[0]]))
    assert found["waits"] == []
    assert "py-spy is not installed on its node; with it, raydap can read" in found["problem"]


def test_a_child_that_has_ended_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = 2**22 + 1
    monkeypatch.setattr(outside_looks, "forked_children", lambda pids: [(os.getpid(), ended)])
    monkeypatch.setattr(outside_looks, "_has_waiting_thread", lambda pid: True)
    assert json.loads(forked_waits_output([os.getpid()])) == {"waits": [], "problem": ""}
