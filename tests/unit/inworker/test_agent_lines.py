"""An agent checks the user of the process at the other end, and does not wait for a stopped process."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap.inworker.agent_lines import is_stopped, wait_unless_stopped

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="the state of a process is in /proc, so on Linux")


class Endless(threading.Event):
    """An event that is never set. A second wait fails."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.waits += 1
        assert self.waits < 2
        assert timeout is not None
        assert timeout <= 1
        return False


@pytest.fixture
def raydap() -> Iterator[int]:
    """Yield the pid of an idle process."""
    command = [sys.executable, "-c", "print('up', flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)


def test_a_stopped_raydap_is_not_waited_for(raydap: int) -> None:
    stop(raydap)
    event = Endless()
    wait_unless_stopped(event, raydap, 1000)
    assert event.waits == 0


def test_a_raydap_that_is_stopped_during_the_wait_is_waited_for_no_longer(raydap: int) -> None:
    class StopsIt(Endless):
        def wait(self, timeout: float | None = None) -> bool:
            stop(raydap)
            return super().wait(timeout)

    event = StopsIt()
    wait_unless_stopped(event, raydap, 1000)
    assert event.waits == 1


def test_a_raydap_that_runs_is_waited_for(raydap: int) -> None:
    event = threading.Event()
    wait_unless_stopped(event, raydap, 0)
    threading.Timer(0, event.set).start()
    wait_unless_stopped(event, raydap, 1000)
    assert event.is_set()
    assert not is_stopped(raydap)
    assert not is_stopped(0)
