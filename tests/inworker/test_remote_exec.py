"""raydap's use of sys.remote_exec in Pythons that are not prepared for it."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from local_cluster import Child

from raydap.cluster.injection import remote_exec
from raydap.cluster.injection.gdb_injection import InjectionFailed

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not hasattr(sys, "remote_exec"), reason="sys.remote_exec is new in Python 3.14"),
]

BUSY = """\
import os, sys
print("up", flush=True)
while not os.path.exists(sys.argv[1]):
    pass
"""

LOCKED = """\
import os, sys, threading, time
lock = threading.Lock()
lock.acquire()

def release():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.02)
    lock.release()

threading.Thread(target=release).start()
print("up", flush=True)
lock.acquire()
print("free", sum(range(100_000)), flush=True)
"""

SAY = "import threading; print('ran in', threading.current_thread().name, flush=True)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which raydap creates its files."""
    path = tmp_path / "files"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


@pytest.fixture
def run(run_program: Callable[..., Child], tmp_path: Path) -> Callable[..., Child]:
    def start(source: str, **env: str) -> Child:
        child = run_program(source, str(tmp_path / "end"), env=env)
        child.wait_for("up")
        return child

    return start


def end(child: Child, tmp_path: Path) -> str:
    """Let the program end, check that it succeeds, and return its output."""
    (tmp_path / "end").touch()
    assert child.wait() == 0, child.output
    return child.output


def test_a_busy_process_runs_the_text(run: Callable[..., Child], tmp_path: Path, folder: Path) -> None:
    child = run(BUSY)
    assert remote_exec.can_run(child.pid)
    for _ in range(2):
        remote_exec.run_in_process(child.pid, SAY)
    assert end(child, tmp_path) == "up\nran in MainThread\nran in MainThread\n"
    assert os.listdir(folder) == []


def test_what_comes_too_late_does_nothing(run: Callable[..., Child], tmp_path: Path, folder: Path) -> None:
    child = run(LOCKED)
    with pytest.raises(InjectionFailed, match="its main thread is not running Python code"):
        remote_exec.run_in_process(child.pid, SAY)
    assert end(child, tmp_path) == "up\nfree 4999950000\n"
    assert os.listdir(folder) == []


def test_a_process_that_forbids_it(run: Callable[..., Child], tmp_path: Path, folder: Path) -> None:
    child = run(BUSY, PYTHON_DISABLE_REMOTE_DEBUG="1")
    with pytest.raises(InjectionFailed, match=r"sys.remote_exec failed \(.*not enabled"):
        remote_exec.run_in_process(child.pid, SAY)
    assert end(child, tmp_path) == "up\n"
    assert os.listdir(folder) == []
