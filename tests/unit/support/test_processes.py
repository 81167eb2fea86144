"""The processes that a test session regards as its own, also with several workers of pytest-xdist."""

import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from support import processes

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc, so on Linux")


@pytest.fixture
def start(children: ExitStack) -> Callable[[str], int]:
    """Return `start(mark)`, which starts a process with this mark and returns its pid. It ends with the test."""

    def start(mark: str) -> int:
        child = children.enter_context(
            subprocess.Popen(
                [sys.executable, "-c", "print('up', flush=True); input()"],
                env={**os.environ, processes.MARK: mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        assert child.stdout is not None
        child.stdout.readline()  # Its environment can be read only once it runs.
        return child.pid

    return start


def test_a_worker_knows_its_own_and_the_leading_process_those_of_all(
    start: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(processes.MARK, "leading")
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    processes.mark()
    own = os.environ[processes.MARK]
    mine, others, nobodys = start(own), start("leading.other"), start("leading2")
    assert list(processes.marked()) == [mine]
    monkeypatch.setenv(processes.MARK, "leading")
    assert sorted(processes.marked()) == sorted([mine, others])
    assert processes.end_marked(grace=0) != []
    monkeypatch.setenv(processes.MARK, "leading2")
    assert list(processes.marked()) == [nobodys]


KILLED_EARLY = """
import os, sys
import debugpy
import debugpy.server.api as api

api.pydevd.settrace = lambda *arguments, **options: os._exit(0)  # The adapter runs and has no connection yet.
debugpy.listen(("127.0.0.1", 0))
"""


def test_an_adapter_that_debugpy_leaves_is_ended_and_is_not_the_fault_of_a_test(
    start: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(processes.MARK, "leading")
    command = [sys.executable, "-Xfrozen_modules=off", "-c", KILLED_EARLY]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    (adapter,) = processes.marked()
    forgotten = start("leading")
    (overdue,) = processes.end_marked(grace=0)
    assert overdue.startswith(f"{forgotten}: ")
    assert "(tests/unit/support/test_processes.py::test_an_adapter_that_debugpy_leaves" in overdue
    assert not alive(adapter)


def alive(pid: int) -> bool:
    """Return whether a process runs, after waiting for the end of a killed process."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        return not select.select([descriptor], [], [], 30)[0]
    finally:
        os.close(descriptor)
