"""Details of a failed test: the ends of its processes' logs, and the command that runs this test alone.

The hook of this module runs in each process that runs tests.
"""

import re
import shlex
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

LINES = 30
"""Lines of each log."""

BYTES = 16_384
"""At most so many bytes of the end of a log are read."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        folder = getattr(item, "funcargs", {}).get("tmp_path")
        if isinstance(folder, Path):
            report.sections += [(f"the end of {path.name}", text) for path, text in ends_of_logs(folder)]
        report.sections.append(("this test alone", command(item)))
    return report


def ends_of_logs(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the logs in the folder of a test that are not empty, the oldest first, and their last lines.

    Each process that a test starts writes its output there (local_cluster.Child).
    """
    for path in sorted(folder.glob("**/*.log"), key=lambda path: path.stat().st_mtime):
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - BYTES))
            lines = log.read().decode(errors="replace").splitlines()
        if lines:
            yield path, "\n".join(lines[-LINES:])


def command(item: pytest.Item) -> str:
    """Return a shell command, for the project's folder."""
    python = Path(sys.executable)
    if python.is_relative_to(item.config.rootpath):
        python = python.relative_to(item.config.rootpath)
    return shlex.join([str(python), "-m", "pytest", item.nodeid])


class FailureFiles:
    """`pytest --failures=FOLDER`: the leading process writes a file for each failure; its first line is the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._folder.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"[^\w.-]+", "-", f"{report.nodeid}-{report.when}")[-150:]
            sections = [f"---- {title}\n{text}" for title, text in report.sections]
            text = "\n".join([report.nodeid, f"in {report.when}:", report.longreprtext, *sections])
            (self._folder / f"{name}.failure").write_text(text, errors="replace")
