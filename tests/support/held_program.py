"""A program that waits for the test at its beginning and at its end."""

from collections.abc import Callable
from dataclasses import dataclass

from local_cluster import Child

from support.entered import EnteredWorker


@dataclass(frozen=True)
class HeldProgram:
    """A program that is debugged by its agent or by an adapter, and waits at its end until `end`."""

    worker: EnteredWorker
    child: Child

    def end(self) -> str:
        """Let the program end. Return its output after a successful exit."""
        self.worker.leave()
        self.worker.path.with_name("end").touch()
        assert self.child.wait() == 0, self.child.output
        return self.child.output


HELD = """\
import time
from pathlib import Path

def held(name):
    while not Path(__file__).with_name(name).exists():
        time.sleep(0.01)

"""
"""The beginning of a program for `run_held`, which calls `held("go")` and, at its end, `held("end")`."""

RunHeld = Callable[..., HeldProgram]
