"""The files that a report leaves: the page, its data, the trace. Each is whole at any time."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from raydap import safe_files
from raydap.errors import file_not_written
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
            try:
                safe_files.check_output(path)
            except OSError as error:
                raise file_not_written(path, error) from None

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event], is_last: bool = True) -> None:
        """Write each file. A pipe or a device, which would keep earlier content, is written if `is_last`.

        `ray_events` are those of Ray's own timeline. Raises ProblemError.
        """
        for path in self._paths():
            if is_last or not safe_files.is_stream(path):
                try:
                    safe_files.write_output(path, self._content(path, report, ray_events))
                except OSError as error:
                    raise file_not_written(path, error) from None

    def _content(self, path: str, report: Report, ray_events: Sequence[chrome_trace.Event]) -> bytes:
        if path == self.page:
            return html_page.of_report(report).encode(errors="replace")
        if path == self.data:
            return msgspec.json.format(msgspec.json.encode(report), indent=1)
        return msgspec.json.encode(chrome_trace.of_report(report, ray_events))

    def _paths(self) -> list[str]:
        return [path for path in (self.page, self.data, self.trace) if path is not None]
