"""The output of a test run: progress, times, failures and logs."""

from pathlib import Path
from typing import Any, Literal

import pytest

from support import failure_details, scheduling, steady, time_report
from support.failure_details import FailureFiles
from support.progress import CACHE_KEY, Progress
from support.time_report import TimeReport

UNIT = "tests/unit/test_a.py::test_one"
RAY = "tests/ray/test_b.py::test_two"


class FakeTerminal:
    """Stands in for pytest's TerminalReporter, with the cache and configuration that are reached through it."""

    isatty = False

    def __init__(self, known: dict[str, float]) -> None:
        self.lines: list[str] = []
        self.stored = {CACHE_KEY: known}
        self.cache = self.pluginmanager = self

    def get_plugin(self, name: str) -> Any:
        return self

    def get(self, key: str, default: object) -> Any:
        return self.stored.get(key, default)

    def set(self, key: str, value: dict[str, float]) -> None:
        self.stored[key] = value

    def write_line(self, line: str, **markup: bool) -> None:
        self.lines.append(line)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(pytest, "TerminalReporter", FakeTerminal)
    return FakeTerminal({RAY: 100.0})


def report(
    nodeid: str,
    when: Literal["setup", "call", "teardown"] = "teardown",
    outcome: Literal["passed", "failed", "skipped"] = "passed",
    longrepr: Any = None,
    **more: Any,
) -> pytest.TestReport:
    made = pytest.TestReport(nodeid, ("", 0, ""), {}, outcome, longrepr, when, start=1000.0, stop=1002.0, duration=2.0)
    vars(made).update(more)
    return made


def test_a_line_estimates_what_is_left_from_the_last_run(terminal: Any) -> None:
    progress = Progress(terminal)
    node: Any = type("Node", (), {"workerinput": {"workercount": 2}})
    for _ in range(2):
        progress.pytest_xdist_node_collection_finished(node, [UNIT, RAY, f"{RAY}[again]"])
    assert progress.line() == "0 %: 0 of 3 tests have ended, 0 failed, less than a minute left"
    progress.processes = 1
    progress.known[f"{RAY}[again]"] = 200.0
    progress._expect([UNIT, RAY, f"{RAY}[again]"])
    assert progress.line() == "0 %: 0 of 3 tests have ended, 0 failed, about 5 min left"
    # The first test takes two seconds, not one hundred.
    progress.pytest_runtest_logreport(report(RAY))
    assert progress.line() == "33 %: 1 of 3 tests have ended, 0 failed, less than a minute left"
    for each in (UNIT, f"{RAY}[again]"):
        progress.pytest_runtest_logreport(report(each))
    assert terminal.lines[-1] == "100 %: 3 of 3 tests have ended, 0 failed, none is left"
    progress.pytest_sessionfinish()
    assert terminal.stored[CACHE_KEY][RAY] == 2.0


def test_a_failure_is_shown_at_once_and_skips_are_counted_by_reason(terminal: Any) -> None:
    progress = Progress(terminal)
    progress._expect([UNIT, RAY])
    progress.pytest_runtest_logreport(report(UNIT, "call", "failed"))
    assert terminal.lines[-1] == f"FAILED {UNIT} (call)"
    for _ in range(2):
        progress.pytest_runtest_logreport(report(RAY, "call", "skipped", ("file", 1, "Skipped: torch is not here")))
    progress.pytest_terminal_summary(terminal)
    assert terminal.lines[-1] == "skipped 2: torch is not here"


@pytest.mark.parametrize(
    ("when", "outcome", "status"),
    [
        ("call", "passed", ("passed", "", "")),
        ("setup", "passed", ("", "", "")),
        ("call", "skipped", ("skipped", "", "")),
        ("call", "failed", ("failed", "", "FAILED")),
        ("setup", "failed", ("error", "", "ERROR")),
    ],
)
def test_a_test_is_counted_without_a_dot(terminal: Any, when: Any, outcome: Any, status: tuple[str, str, str]) -> None:
    assert Progress(terminal).pytest_report_teststatus(report(UNIT, when, outcome)) == status


def test_the_time_report_adds_up_folders_files_starts_and_processes() -> None:
    times = TimeReport()
    times.pytest_runtest_logreport(report(UNIT, worker_id="gw0", started=[("Ray cluster", 5.0)]))
    times.pytest_runtest_logreport(report(RAY, worker_id="gw1"))
    times.pytest_runtest_logreport(report(RAY, worker_id="gw1", started=[("Ray cluster", 7.0)]))
    tables = dict(times.tables())
    assert [line.split() for line in tables["seconds by folder"]] == [
        ["4.0", "1", "tests/ray"],
        ["2.0", "1", "tests/unit"],
    ]
    assert tables["seconds by file"][0].split() == ["4.0", "1", "tests/ray/test_b.py"]
    assert [line.split() for line in tables["seconds to start"]] == [["12.0", "2", "Ray", "cluster"]]
    assert tables["processes"][1].startswith("gw1: 4 s in tests, ")


def test_what_is_started_for_a_test_is_measured() -> None:
    time_report._started.clear()
    with time_report.starting("editor"):
        pass
    ((kind, seconds),) = time_report._started
    assert kind == "editor"
    assert seconds >= 0
    time_report._started.clear()


def test_the_calls_of_a_method_are_measured() -> None:
    class Server:
        def __init__(self, port: int) -> None:
            self.port = port

        @classmethod
        def start(cls, port: int) -> "Server":
            return cls(port)

    time_report._started.clear()
    for name in ("__init__", "start"):
        time_report.measure(name, Server, name)
    assert Server.start(7).port == 7
    assert [kind for kind, _ in time_report._started] == ["__init__", "start"]
    time_report._started.clear()


def test_the_ends_of_a_failed_tests_logs_are_shown(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "hub.log").write_text("".join(f"line {number}\n" for number in range(5000)))
    ((path, text),) = failure_details.ends_of_logs(tmp_path)
    assert path.name == "hub.log"
    assert text.splitlines() == [f"line {number}" for number in range(4970, 5000)]


def test_the_command_of_one_test_is_for_a_shell(request: pytest.FixtureRequest) -> None:
    item: Any = type("Item", (), {"config": request.config, "nodeid": "tests/a.py::test[b c]"})
    assert failure_details.command(item).endswith(" -m pytest 'tests/a.py::test[b c]'")


def test_a_steady_run_lists_each_test_that_failed_with_its_files(tmp_path: Path) -> None:
    for run in (1, 2):
        files = FailureFiles(tmp_path / f"run-{run}")
        failed = report(RAY, "call", "failed", "assert 1 == 2")
        failed.sections.append(("the end of hub.log", "it was here"))
        files.pytest_runtest_logreport(failed)
        files.pytest_runtest_logreport(report(UNIT))
    first, last = steady.summary(tmp_path, [1, 1, 0])
    assert first.startswith(f"{RAY} failed in 2 of 3 runs: {tmp_path}/run-1/")
    assert last == "1 of 3 runs passed"
    (written,) = (tmp_path / "run-1").iterdir()
    assert written.read_text() == f"{RAY}\nin call:\nassert 1 == 2\n---- the end of hub.log\nit was here"


def test_the_order_is_longest_first_or_random_by_file() -> None:
    names = [
        f"tests/{folder}/test_{file}.py::test_{number}"
        for folder in ("unit", "ray")
        for file in "ab"
        for number in "12"
    ]
    items: list[Any] = [type("Item", (), {"nodeid": name}) for name in names]
    scheduling.sort(items)
    assert [item.nodeid for item in items] == [*names[4:], *names[:4]]
    orders = []
    for seed in (1, 1, 2):
        shuffled = list(items)
        scheduling.shuffle(shuffled, seed)
        orders.append([item.nodeid for item in shuffled])
    assert orders[0] == orders[1] != orders[2]
    files = [nodeid.partition("::")[0] for nodeid in orders[0]]
    assert files == [file for file in dict.fromkeys(files) for _ in "12"], "a file stays together"
