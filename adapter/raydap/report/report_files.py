"""The files of a report: the page, its data as JSON, and the trace. A reader never finds one half written."""

from collections.abc import Callable, Sequence
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
        """Check that each file can be written, by creating and removing a file beside it. Raises ProblemError."""
        self._each(safe_files.check_output)

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event], is_last: bool = True) -> None:
        """Write each file.

        A pipe or a device is written only if `is_last`, because it would keep the earlier content, too. `ray_events`
        are the events of Ray's own timeline. Raises ProblemError.
        """

        def write(path: str) -> None:
            if not is_last and safe_files.is_stream(path):
                return
            if path == self.page:
                content = html_page.of_report(report).encode(errors="replace")
            elif path == self.data:
                content = msgspec.json.format(msgspec.json.encode(report), indent=1)
            else:
                content = msgspec.json.encode(chrome_trace.of_report(report, ray_events))
            safe_files.write_output(path, content)

        self._each(write)

    def _each(self, use: Callable[[str], object]) -> None:
        for path in (self.page, self.data, self.trace):
            try:
                if path is not None:
                    use(path)
            except OSError as error:
                raise file_not_written(path or "", error) from None
