"""The files that a report leaves: the page, its data, the trace. Each is whole at any time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from raydap.report import chrome_trace, html_page
from raydap.report.records import Report


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Where they go; None for those that nobody wants."""

    page: str
    data: str | None = None
    trace: str | None = None

    def check(self) -> None:
        """Raises OSError, which names the file, if one of them cannot be written."""
        for path in self._paths():
            Path(f"{path}.part").write_bytes(b"")
            os.unlink(f"{path}.part")

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event]) -> None:
        """`ray_events` are those of Ray's own timeline. Raises OSError."""
        _write(self.page, html_page.of_report(report).encode(errors="replace"))
        if self.data is not None:
            _write(self.data, msgspec.json.format(msgspec.json.encode(report), indent=1))
        if self.trace is not None:
            _write(self.trace, msgspec.json.encode(chrome_trace.of_report(report, ray_events)))

    def _paths(self) -> list[str]:
        return [path for path in (self.page, self.data, self.trace) if path is not None]


def _write(path: str, content: bytes) -> None:
    """Beside its place first: a process that is killed meanwhile leaves the one before."""
    beside = f"{path}.part"
    Path(beside).write_bytes(content)
    os.replace(beside, path)
