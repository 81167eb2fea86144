"""One worker, direct and through the bridge: the time of a step for its user, and of each part.

Both sides debug a process of the same program; the same client sends the same requests.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.connection import Connection, Message, milliseconds, processor
from bench.report import Row, against, within
from support.bridge import Bridge
from support.debuggee import Debuggee

LINES = """
import dataclasses

@dataclasses.dataclass
class Config:
    rate: float = 0.1
    layers: int = 4

def inner(total):
    half = total // 2
    rest = total - half
    return half + rest + 1

def work():
    config, numbers, names = Config(), list(range(50)), {str(i): i for i in range(20)}
    total = count = 0
    breakpoint()
    while True:
        total = inner(total)
        count += 1

work()
"""

BREAKPOINTS = """
def work():
    numbers, names = list(range(50)), {str(i): i for i in range(20)}
    total = 0
    while True:
        breakpoint()
        total += 1
        breakpoint()
        total += 2

work()
"""

HUMAN = 0.5
"""Seconds between two steps of a user who reads the screen.

After such a pause, the kernel's delayed acknowledgements behave differently.
"""


@dataclass
class Side:
    """A stopped worker and a client that debugs it."""

    client: Connection
    thread: int

    def step(self, command: str) -> float:
        """Step, and return the milliseconds until the client has the next stop."""
        began = time.perf_counter()
        asked = self.client.send(command, {"threadId": self.thread})
        self.thread = self.client.event("stopped")["threadId"]
        took = milliseconds(began)
        self.client.answer(asked)
        return took

    def refresh(self) -> Message:
        """Send the requests that every editor sends after a stop; return the top frame."""
        client = self.client
        client.request("threads")
        client.request("stackTrace", threadId=self.thread, startFrame=0, levels=1)
        frame: Message = client.request("stackTrace", threadId=self.thread, startFrame=0, levels=20)["stackFrames"][0]
        scopes = client.request("scopes", frameId=frame["id"])["scopes"]
        client.request("variables", variablesReference=scopes[0]["variablesReference"])
        for watch in ("total", "total + 1"):
            client.request("evaluate", expression=watch, frameId=frame["id"], context="watch")
        return frame

    def step_and_refresh(self, command: str) -> float:
        began = time.perf_counter()
        self.step(command)
        self.refresh()
        return milliseconds(began)

    def enter(self) -> None:
        """Step until the thread is in `inner`, so that a stepOut is possible."""
        while self.refresh()["name"] != "inner":
            self.step("stepIn")

    def burst(self, command: str, count: int) -> list[float]:
        """Return the round-trip times of one request, sent again after each response."""
        frame = self.refresh()["id"]
        scope = self.client.request("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        arguments = {
            "threads": {},
            "stackTrace": {"threadId": self.thread, "startFrame": 0, "levels": 20},
            "variables": {"variablesReference": scope},
            "evaluate": {"expression": "total + 1", "frameId": frame, "context": "watch"},
        }[command]
        return [_timed(lambda: self.client.request(command, **arguments)) for _ in range(count)]


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    """Yield each row as soon as it is measured."""
    few, many = (4, 20) if quick else (25, 200)
    with contextlib.ExitStack() as stack:
        bridge = Bridge.start(directory / "bridge.log")
        stack.callback(bridge.end)
        with _sides(bridge, LINES, directory) as (direct, through):
            for command in ("next", "stepIn", "stepOut"):
                prepare = Side.enter if command == "stepOut" else Side.refresh
                yield against(
                    f"{command} + refresh, human pace",
                    *([_paced(side, command, prepare) for _ in range(few)] for side in (direct, through)),
                    factor=1 / 30,
                )
            yield against(
                "next alone, human pace",
                *([_paced(side, "next", Side.refresh, Side.step) for _ in range(few)] for side in (direct, through)),
                factor=1,
                extra=0.5,
            )
            yield against(
                "next + refresh, back to back",
                *([side.step_and_refresh("next") for _ in range(few * 2)] for side in (direct, through)),
                factor=1 / 20,
            )
            for command in ("stackTrace", "variables", "evaluate"):
                trips = (side.burst(command, many) for side in (direct, through))
                yield against(f"{command}, burst round trip", *trips, factor=1 / 40)
            yield within("threads", through.burst("threads", many), 0.3, "ms", direct.burst("threads", many))
        with _sides(bridge, BREAKPOINTS, directory) as (direct, through):
            yield against(
                "continue to breakpoint() + refresh, human pace",
                *([_paced(side, "continue", Side.refresh) for _ in range(few)] for side in (direct, through)),
                factor=1 / 30,
            )
            yield against(
                "continue to breakpoint() + refresh, back to back",
                *([side.step_and_refresh("continue") for _ in range(few * 2)] for side in (direct, through)),
                factor=1 / 20,
            )
            yield against(
                "next across breakpoint() lines",
                *([side.step("next") for _ in range(few * 2)] for side in (direct, through)),
                factor=1 / 20,
            )
        yield within(
            "suspended worker, idle", list(_suspended(bridge, directory, 5 if quick else 20)), 0.5, "% of a core"
        )
        yield against(
            "connect until stopped, one worker",
            *([_connect(directory, target) for _ in range(3 if quick else 8)] for target in (None, bridge)),
            factor=0.8,
        )


def _paced(
    side: Side,
    command: str,
    prepare: Callable[[Side], object],
    act: Callable[[Side, str], float] = Side.step_and_refresh,
) -> float:
    prepare(side)
    time.sleep(HUMAN)
    return act(side, command)


@contextlib.contextmanager
def _sides(bridge: Bridge, source: str, directory: Path) -> Iterator[tuple[Side, Side]]:
    """Run the program twice until it stops: once in debugpy alone, once through the bridge."""
    with contextlib.ExitStack() as stack:
        sides = []
        for through in (False, True):
            debuggee = Debuggee.start(source, directory)
            stack.push(debuggee.child)
            host, port, arguments = _target(debuggee, bridge if through else None)
            client = stack.enter_context(Connection(host, port))
            client.start(arguments)
            stack.callback(client.leave)
            side = Side(client, client.event("stopped")["threadId"])
            side.step_and_refresh("next")  # A first step leaves one-time work of debugpy out of the measurement.
            sides.append(side)
        yield sides[0], sides[1]


def _suspended(bridge: Bridge, directory: Path, seconds: float) -> Iterator[float]:
    """Yield the processor load of a tuned worker that is stopped while its client does nothing."""
    with _sides(bridge, BREAKPOINTS, directory) as (_, through):
        pid = int(through.client.request("threads")["threads"][0]["name"].split(" · ")[1])
        used = processor(pid)
        time.sleep(seconds)
        yield (processor(pid) - used) / seconds * 100


def _connect(directory: Path, bridge: Bridge | None) -> float:
    debuggee = Debuggee.start("breakpoint()\n", directory)
    with debuggee.child:
        host, port, arguments = _target(debuggee, bridge)
        began = time.perf_counter()
        with Connection(host, port) as client:
            client.start(arguments)
            client.event("stopped")
            took = milliseconds(began)
            client.leave()
    return took


def _target(debuggee: Debuggee, bridge: Bridge | None) -> tuple[str, int, dict[str, object]]:
    if bridge is None:
        return debuggee.host, debuggee.port, {"justMyCode": False}
    return bridge.host, bridge.port, {"workers": [f"{debuggee.host}:{debuggee.port}"], "justMyCode": False}


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return milliseconds(began)
