"""Which processes a test session takes for its own, also where pytest-xdist runs several workers."""

import os
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
    """`start(mark)` starts a process with this mark and returns its pid; it ends with the test."""

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
        child.stdout.readline()  # Its environment cannot be read before it runs.
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
