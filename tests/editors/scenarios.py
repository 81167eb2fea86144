"""The scenarios that every client plays. support/editors.py describes their steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.debuggee import Debuggee
from support.editors import Message, Step
from support.look import line_of

AREAS = """\
def area(width, height):
    breakpoint()
    sides = [width, height]
    product = sides[0] * sides[1]
    return product

def total(sizes):
    found = 0
    for width, height in sizes:
        found += area(width, height)
    return found

print("total:", total([(2, 3), (4, 5)]))
"""

TURNING = """\
import os, sys
sys.path.insert(0, os.path.dirname(__file__))
import turns
print("TURNING", flush=True)
while turns.go:
    turns.turn()
print("total:", 26)
"""

TURNS = """\
import threading
go = True

def turn():
    pause = threading.Event().wait(0.01)
    return pause
"""

CAREFUL = """\
def careful(key):
    try:
        return {}[key]
    except KeyError:
        return None

careful("colour")
print("total:", 26)
"""

PROGRAM = """\
import sys
print("to stdout")
print("to stderr", file=sys.stderr)
sys.exit(3)
"""


@dataclass(frozen=True)
class Scenario:
    """A scenario and the programs that it needs.

    `workers` are programs that run in debugpy and wait for the session; each prints "total: 26" at its end.
    `steps(stage)` is called when they are waiting, because some steps depend on their addresses and files.
    """

    name: str
    steps: Callable[["Stage"], Sequence[Step]]
    workers: Sequence[str] = ()
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """The values that are known when the workers wait.

    `directory` has the scenario's files. `nowhere` is the URL of a dashboard that does not exist.
    """

    directory: Path
    debuggees: Sequence[Debuggee]
    nowhere: str

    @property
    def workers(self) -> Message:
        return {"workers": [f"{debuggee.host}:{debuggee.port}" for debuggee in self.debuggees]}

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def attach(self, **more: Any) -> Step:
        return {"do": "start", "request": "attach", "arguments": self.workers, **more}


def two_workers(stage: Stage) -> list[Step]:
    first = {"width": "2", "height": "3"}
    return [
        stage.attach(),
        {"do": "stop", "stack": ["area", "total"]},
        {"do": "locals", "values": first},
        {"do": "switch", "stack": ["area", "total"]},
        {"do": "locals", "values": first},
        {"do": "evaluate", "expression": "width + 10 * height", "result": "32"},
        {"do": "continue"},
        {"do": "stop", "same": True, "stack": ["area", "total"]},
        {"do": "locals", "values": {"width": "4", "height": "5"}},
        {"do": "back", "stack": ["area", "total"]},
        {"do": "locals", "values": first},
        {"do": "continue"},
        {"do": "stop", "same": True},
        {"do": "continue"},
        {"do": "disconnect"},
    ]


def stepping(stage: Stage) -> list[Step]:
    (debuggee,) = stage.debuggees
    path = str(debuggee.path)
    line = line_of(AREAS, "product =")
    return [
        stage.attach(breakpoints={path: [line]}),
        {"do": "stop"},
        {"do": "verified", "path": path, "line": line},
        {"do": "continue"},
        {"do": "stop", "reason": "breakpoint", "path": path, "line": line},
        {"do": "next"},
        {"do": "stop", "reason": "step", "path": path, "line": line + 1, "stack": ["area", "total"]},
        {"do": "locals", "values": {"product": "6"}},
        {"do": "stepOut"},
        {"do": "stop", "reason": "step", "path": path, "stack": ["total"]},
        {"do": "toggle", "path": path, "line": line},
        {"do": "continue"},
        {"do": "stop", "same": True, "stack": ["area", "total"]},
        {"do": "stepIn"},
        {"do": "stop", "reason": "step", "same": True},
        {"do": "continue"},
        {"do": "disconnect"},
    ]


def breakpoint_while_running(stage: Stage) -> list[Step]:
    path = stage.path("turns.py")
    line = line_of(TURNS, "return")
    return [
        stage.attach(),
        {"do": "toggle", "path": path, "line": line},
        {"do": "verified", "path": path, "line": line},
        {"do": "stop", "reason": "breakpoint", "path": path, "line": line, "stack": ["turn"]},
        {"do": "continue"},
        {"do": "stop", "same": True, "path": path, "line": line},
        {"do": "toggle", "path": path, "line": line},
        {"do": "evaluate", "expression": "globals().update(go=False) or 'told'", "result": "'told'"},
        {"do": "continue"},
        {"do": "disconnect"},
    ]


def exception(stage: Stage) -> list[Step]:
    (debuggee,) = stage.debuggees
    path = str(debuggee.path)
    # dap-mode sends its exception filters only if there is a breakpoint as well.
    last = line_of(CAREFUL, "print")
    return [
        stage.attach(breakpoints={path: [last]}, filters=["raised"]),
        {"do": "stop", "reason": "exception", "path": path, "line": line_of(CAREFUL, "{}[key]"), "stack": ["careful"]},
        {"do": "exception", "name": "KeyError", "description": "'colour'"},
        {"do": "locals", "values": {"key": "'colour'"}},
        {"do": "continue"},
        {"do": "stop", "reason": "breakpoint", "path": path, "line": last},
        {"do": "continue"},
        {"do": "disconnect"},
    ]


def leaving(stage: Stage) -> list[Step]:
    return [stage.attach(), {"do": "stop"}, {"do": "switch"}, {"do": "disconnect"}]


def launch(stage: Stage) -> list[Step]:
    arguments = {"program": "program.py", "cwd": str(stage.directory), "dashboard": stage.nowhere}
    return [
        {"do": "start", "request": "launch", "arguments": arguments},
        {"do": "output", "category": "stdout", "text": "to stdout"},
        {"do": "output", "category": "stderr", "text": "to stderr"},
        {"do": "exited", "code": 3},
    ]


def launch_of_nothing(stage: Stage) -> list[Step]:
    arguments = {"program": "missing.py", "cwd": str(stage.directory), "dashboard": stage.nowhere}
    return [{"do": "refused", "request": "launch", "arguments": arguments, "says": '"missing.py" (program)'}]


def unknown_argument(stage: Stage) -> list[Step]:
    arguments = {"dashbord": stage.nowhere}
    return [{"do": "refused", "request": "attach", "arguments": arguments, "says": 'Unknown argument "dashbord"'}]


SCENARIOS = [
    Scenario("two workers", two_workers, workers=[AREAS, AREAS]),
    Scenario("stepping", stepping, workers=[AREAS]),
    Scenario("breakpoint while running", breakpoint_while_running, workers=[TURNING], files={"turns.py": TURNS}),
    Scenario("exception", exception, workers=[CAREFUL]),
    Scenario("leaving", leaving, workers=[AREAS, AREAS]),
    Scenario("launch", launch, files={"program.py": PROGRAM}),
    Scenario("launch of nothing", launch_of_nothing),
    Scenario("unknown argument", unknown_argument),
]
