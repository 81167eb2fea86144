"""The files that a report leaves: the page, its data, the trace. Each is whole at any time."""

import errno
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
            try:
                if os.path.isdir(path):
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                if not _is_stream(path):
                    Path(_beside(path)).write_bytes(b"")
                    os.unlink(_beside(path))
            except OSError as error:
                raise file_not_written(path, error) from None

    def write(self, report: Report, ray_events: Sequence[chrome_trace.Event], is_last: bool = True) -> None:
        """Write each file. A pipe or a device, which would keep earlier content, is written if `is_last`.

        `ray_events` are those of Ray's own timeline. Raises ProblemError.
        """
        for path in self._paths():
            if is_last or not _is_stream(path):
                _write(path, self._content(path, report, ray_events))

    def _content(self, path: str, report: Report, ray_events: Sequence[chrome_trace.Event]) -> bytes:
        if path == self.page:
            return html_page.of_report(report).encode(errors="replace")
        if path == self.data:
            return msgspec.json.format(msgspec.json.encode(report), indent=1)
        return msgspec.json.encode(chrome_trace.of_report(report, ray_events))

    def _paths(self) -> list[str]:
        return [path for path in (self.page, self.data, self.trace) if path is not None]


def _is_stream(path: str) -> bool:
    """Return whether it is a pipe, a device and the like."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _beside(path: str) -> str:
    """Return the file that takes the place of this one, or of the one that a link leads to."""
    return f"{os.path.realpath(path)}.part"


def _write(path: str, content: bytes) -> None:
    """Write to a file beside its place first: a process that is killed meanwhile leaves the one before."""
    try:
        if _is_stream(path):
            _write_stream(path, content)
            return
        try:
            Path(_beside(path)).write_bytes(content)
            os.replace(_beside(path), os.path.realpath(path))
        except BaseException:
            with suppress(OSError):
                os.unlink(_beside(path))
            raise
    except OSError as error:
        raise file_not_written(path, error) from None


def _write_stream(path: str, content: bytes) -> None:
    # A pipe that nobody reads is an error, and does not block.
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as stream:
        stream.write(content)
