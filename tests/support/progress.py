"""`pytest --progress`: a progress line instead of a dot for each test, and a short summary of the skipped tests.

This plugin runs in the process that leads. A file in pytest's cache keeps the seconds of each test for the estimate of
the next run.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from xdist.workermanage import WorkerController

CACHE_KEY = "raydap/seconds"

FIRST_GUESS_S = {
    "vscode": 30.0,
    "ray": 10.0,
    "cpython_tests": 3.0,
    "lsp": 2.0,
    "editors": 1.7,
    "hub": 1.1,
    "e2e": 1.0,
    "inworker": 0.8,
}
"""Seconds per test in a folder, until a run has measured them."""

OTHERS_GUESS_S = 0.02

LINE_INTERVAL_S = 60.0
"""Seconds between two lines where the output is not a terminal. In a terminal, one line is overwritten."""

REWRITE_INTERVAL_S = 0.5


@dataclass
class Progress:
    config: pytest.Config
    #: The expected seconds of each test that has not ended.
    left: dict[str, float] = field(default_factory=dict)
    #: The seconds that each test has taken.
    taken: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    #: The seconds that were expected of the tests that have ended.
    expected: float = 0.0
    #: The number of tests of the run.
    total: int = 0
    #: How many tests have ended in which way.
    outcomes: Counter[str] = field(default_factory=Counter)
    #: How many tests were skipped for each reason.
    skipped: Counter[str] = field(default_factory=Counter)
    #: The number of processes that run tests.
    processes: int = 1
    #: When the last line was written, on the monotonic clock.
    written: float = 0.0

    def __post_init__(self) -> None:
        #: The seconds of each test in the last run.
        self.known: dict[str, float] = self._cache.get(CACHE_KEY, {}) if self._cache else {}

    @property
    def _cache(self) -> pytest.Cache | None:
        return getattr(self.config, "cache", None)

    @property
    def _terminal(self) -> pytest.TerminalReporter:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(terminal, pytest.TerminalReporter)
        return terminal

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController, ids: list[str]) -> None:
        self.processes = int(node.workerinput["workercount"])
        if not self.total:
            self._expect(ids)

    def _expect(self, ids: Iterable[str]) -> None:
        self.left = {each: self.known.get(each, _guess(each)) for each in ids}
        self.total = len(self.left)
        self._write_line()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str]:
        """Leave out the dots; pytest still counts the test."""
        if report.passed:
            return ("passed" if report.when == "call" else ""), "", ""
        if report.skipped:
            return "skipped", "", ""
        return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.taken[report.nodeid] += report.duration
        if report.failed:
            self.outcomes["failed"] += 1
            self._clear_line()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)
        elif report.skipped:
            self.skipped[_reason(report)] += 1
        if report.when == "teardown":
            self.outcomes["ended"] += 1
            self.expected += self.left.pop(report.nodeid, 0.0)
            pause = REWRITE_INTERVAL_S if self._terminal.isatty else LINE_INTERVAL_S
            if time.monotonic() - self.written >= pause or not self.left:
                self._write_line()

    def pytest_sessionfinish(self) -> None:
        if self._cache:
            self._cache.set(CACHE_KEY, {**self.known, **self.taken})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._clear_line()
        for reason, count in self.skipped.most_common():
            terminalreporter.write_line(f"skipped {count}: {reason}")

    def line(self) -> str:
        """Return the progress of the run and the estimated remaining time."""
        ended = self.outcomes["ended"]
        # Most tests take milliseconds, and come last. So the percentage is that of the time, not of the tests.
        expected_left = sum(self.left.values())
        share = self.expected / (self.expected + expected_left) if self.left else 1.0
        # The machine may be slower than in the last run, or than the first guess.
        pace = sum(self.taken.values()) / self.expected if self.expected else 1.0
        seconds = expected_left * pace / self.processes
        left = f"about {max(1, round(seconds / 60))} min left" if seconds >= 60 else "less than a minute left"
        return (
            f"{int(100 * share)} %: {ended:,} of {self.total:,} tests have ended, "
            f"{self.outcomes['failed']} failed, {left if self.left else 'none is left'}"
        )

    def _write_line(self) -> None:
        self.written = time.monotonic()
        if self._terminal.isatty:
            self._terminal.rewrite(self.line(), erase=True)
        else:
            self._terminal.write_line(self.line())

    def _clear_line(self) -> None:
        if self._terminal.isatty:
            self._terminal.rewrite("", erase=True)


def _guess(nodeid: str) -> float:
    return FIRST_GUESS_S.get(nodeid.split("/")[1] if nodeid.count("/") > 1 else "", OTHERS_GUESS_S)


def _reason(report: pytest.TestReport) -> str:
    _, _, text = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
    return text.removeprefix("Skipped: ")
