"""The files of a report: the page, its data as JSON, and the trace. A reader never finds one half written."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from raydap import safe_files
from raydap.errors import file_not_written
from raydap.report import chrome_trace, html_page
from raydap.report.records import Report


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The paths of the files. A file whose path is None is not written."""

    page: str
    """The HTML page."""
    data: str | None = None
    """The `Report` as JSON."""
    trace: str | None = None
    """The Chrome trace."""

    def check(self) -> None:
        """Check that each file can be written, by creating and removing a file beside it.

        Raises ProblemError if one cannot be written.
        """
        for path in self._paths():
            try:
                safe_files.check_output(path)
            except OSError as error:
                raise file_not_written(path, error) from None

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event], is_last: bool = True) -> None:
        """Write each file.

        A pipe or a device is written only if `is_last`, because it would keep the earlier content, too. `ray_events`
        are the events of Ray's own timeline. Raises ProblemError.
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
