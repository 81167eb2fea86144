"""The files that a report leaves: the page, its data, the trace. Each is whole at any time."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from raydap.core.errors import file_not_written
from raydap.report import chrome_trace, html_page
from raydap.report.records import Report


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Where they go; None for those that nobody wants."""

    page: str
    data: str | None = None
    trace: str | None = None

    def check(self) -> None:
        """Create and remove a file beside each of them. Raises ProblemError if one cannot be written."""
        for path in self._paths():
            if _is_regular(path):
                try:
                    Path(_beside(path)).write_bytes(b"")
                except OSError as error:
                    raise file_not_written(path, error) from None
                os.unlink(_beside(path))

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event]) -> None:
        """`ray_events` are those of Ray's own timeline. Raises ProblemError."""
        _write(self.page, html_page.of_report(report).encode(errors="replace"))
        if self.data is not None:
            _write(self.data, msgspec.json.format(msgspec.json.encode(report), indent=1))
        if self.trace is not None:
            _write(self.trace, msgspec.json.encode(chrome_trace.of_report(report, ray_events)))

    def _paths(self) -> list[str]:
        return [path for path in (self.page, self.data, self.trace) if path is not None]


def _is_regular(path: str) -> bool:
    """Return False for a device, a pipe and the like."""
    return os.path.isfile(path) or not os.path.exists(path)


def _beside(path: str) -> str:
    """Return the file that takes the place of this one, or of the one that a link leads to."""
    return f"{os.path.realpath(path)}.part"


def _write(path: str, content: bytes) -> None:
    """Write to a file beside its place first: a process that is killed meanwhile leaves the one before."""
    try:
        if not _is_regular(path):
            Path(path).write_bytes(content)
            return
        try:
            Path(_beside(path)).write_bytes(content)
            os.replace(_beside(path), os.path.realpath(path))
        finally:
            with suppress(OSError):
                os.unlink(_beside(path))
    except OSError as error:
        raise file_not_written(path, error) from None
