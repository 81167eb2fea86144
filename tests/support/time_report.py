"""`pytest --times`: a table at the end of a run that shows where the time went.

Each pytest-xdist worker adds the starts of a test (`starting`) to the test's report, and the leading process adds up
the reports.
"""

import contextlib
import functools
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Cluster

from support.bridge import Bridge, Hub
from support.debuggee import Debuggee
from support.editors import Editor

SLOWEST = 30

_started: list[tuple[str, float]] = []
"""The kind and the seconds of each start since the last report, in the process that runs tests."""


def record(kind: str, seconds: float) -> None:
    """Record how long a cluster, an editor or an installation took to start. `kind` is its name in the table."""
    _started.append((kind, seconds))


@contextlib.contextmanager
def starting(kind: str) -> Iterator[None]:
    begun = time.monotonic()
    try:
        yield
    finally:
        record(kind, time.monotonic() - begun)


def measure(kind: str, owner: type, name: str) -> None:
    """Measure each call of this method from now on."""
    function = vars(owner)[name]
    original = getattr(function, "__func__", function)

    @functools.wraps(original)
    def measured(*args: Any, **more: Any) -> Any:
        with starting(kind):
            return original(*args, **more)

    setattr(owner, name, type(function)(measured) if isinstance(function, classmethod) else measured)


@dataclass(slots=True)
class Share:
    """The tests of a folder, of a file, or of one name."""

    #: The number of tests.
    count: int = 0
    #: The seconds that their setups, calls and teardowns took.
    seconds: float = 0.0


@dataclass(slots=True)
class Process:
    """A process that runs tests."""

    #: The seconds in which it ran a setup, a call or a teardown.
    busy: float = 0.0
    #: When its last test ended, in seconds since the epoch.
    ended: float = 0.0


@dataclass
class TimeReport:
    """The plugin of the process that leads the run."""

    tests: dict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    processes: dict[str, Process] = field(default_factory=lambda: defaultdict(Process))
    starts: dict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    #: When the first test began, in seconds since the epoch.
    begun: float = 0.0
    #: The processors' idle and total ticks when the run began.
    ticks: tuple[int, int] = (0, 0)

    def pytest_sessionstart(self) -> None:
        self.ticks = _ticks()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.begun = min(self.begun or report.start, report.start)
        test = self.tests[report.nodeid]
        test.count = 1
        test.seconds += report.duration
        process = self.processes[getattr(report, "worker_id", "one process")]
        process.busy += report.duration
        process.ended = max(process.ended, report.stop)
        for kind, seconds in getattr(report, "started", ()):
            self.starts[kind].count += 1
            self.starts[kind].seconds += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for title, lines in self.tables():
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.write_line(line)

    def tables(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the title and the lines of each table."""
        folders: dict[str, Share] = defaultdict(Share)
        files: dict[str, Share] = defaultdict(Share)
        for name, test in self.tests.items():
            file = name.partition("::")[0]
            for share in (folders["/".join(file.split("/")[:2])], files[file]):
                share.count += 1
                share.seconds += test.seconds
        yield "seconds by folder", list(_rows(folders))
        yield "seconds by file", list(_rows(files, SLOWEST))
        yield f"seconds of the {SLOWEST} slowest tests", list(_rows(self.tests, SLOWEST))
        yield "seconds to start", list(_rows(self.starts))
        yield "processes", list(self._process_rows())

    def _process_rows(self) -> Iterator[str]:
        ended = max((process.ended for process in self.processes.values()), default=0.0)
        for name, process in sorted(self.processes.items()):
            waited = process.ended - self.begun - process.busy
            yield (
                f"{name}: {process.busy:.0f} s in tests, {waited:.0f} s between them, "
                f"idle for the last {ended - process.ended:.0f} s"
            )
        idle, total = (now - before for now, before in zip(_ticks(), self.ticks, strict=True))
        if total:
            yield f"the machine's processors were idle {100 * idle / total:.0f} % of the time"


STARTS = (
    ("Ray cluster", Cluster, "__init__"),
    ("raydap adapter", Bridge, "start"),
    ("raydap serve", Hub, "start"),
    ("program in debugpy", Debuggee, "start"),
    ("scenario of an editor", Editor, "run"),
)
"""The kind of each start that is measured, and the method that starts it. The drives of VS Code report their own."""


class StartReport:
    """The plugin of a process that runs tests."""

    def __init__(self) -> None:
        for kind, owner, name in STARTS:
            measure(kind, owner, name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        vars(report)["started"] = list(_started)
        _started.clear()
        return report


def _rows(shares: dict[str, Share], limit: int | None = None) -> Iterable[str]:
    in_order = sorted(shares.items(), key=lambda item: item[1].seconds, reverse=True)
    return (f"{share.seconds:8.1f} {share.count:6d}  {name}" for name, share in in_order[:limit])


def _ticks() -> tuple[int, int]:
    """Return the idle and the total ticks of all processors since boot (proc(5), /proc/stat); zeros without /proc."""
    with contextlib.suppress(OSError):
        values = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return values[3] + values[4], sum(values)
    return 0, 0
