"""Every error that a user can see: one number, one sentence, one thing to do next.

The numbers are stable and documented in docs/errors.md; they travel as `body.error.id` of a
failed DAP response (spec: ErrorResponse, Message).
"""

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """1xxx: a request; 2xxx: the search for workers; 3xxx: a worker; 4xxx: the launched program; 5xxx: a hub."""

    BAD_MESSAGE = 1001
    UNSUPPORTED = 1002
    WRONG_ORDER = 1003
    BAD_ARGUMENT = 1004
    UNKNOWN_ARGUMENT = 1005
    STALE_ID = 1006
    OTHER_SESSION = 1007
    NOT_STOPPED = 1008
    NO_WORKER = 1009
    INTERNAL = 1010
    NOT_ADMITTED = 1011
    OBSERVER = 1012
    BLOCKED = 1013
    FILE_NOT_WRITTEN = 1014

    NO_CLUSTER = 2001
    DASHBOARD_UNREACHABLE = 2002
    DASHBOARD_GARBAGE = 2003
    TOKEN_WANTED = 2004
    TOKEN_REFUSED = 2005
    FILTER_UNKNOWN = 2006
    TOO_MANY_WORKERS = 2007
    CLUSTER_NOT_NAMED = 2008

    WORKER_REFUSED = 3001
    WORKER_SILENT = 3002
    WORKER_GONE = 3003
    WORKER_BUSY = 3004
    WORKER_BROKEN = 3005
    WORKER_UNREACHABLE = 3006
    FILE_COPIED = 3007
    NO_AGENT = 3008
    COLLECTIVE = 3009

    LAUNCH_FAILED = 4001
    SUBMIT_FAILED = 4002

    HUB_UNREACHABLE = 5001
    HUB_REFUSED = 5002
    HUB_LOST = 5003
    HUB_FAILED = 5004
    HUB_VERSION = 5005


_QUIET = (Code.STALE_ID, Code.NOT_STOPPED, Code.WRONG_ORDER, Code.WORKER_GONE)
"""Errors of requests that users do not see, because editors cause them by themselves: editors ask about threads that
have run on or whose worker is lost, and go on after a failed attach. VS Code would show a notification for each. The
loss of a worker is told once, by an `output` event."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, ready to be shown. `text` is one sentence that says what to do next; `detail` is for the log."""

    code: Code
    text: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.text} [raydap {self.code.value}]"

    def body(self) -> dict[str, object]:
        """The body of a failed response (spec: ErrorResponse). VS Code shows `format`; others show the `message`."""
        return {"error": {"id": self.code.value, "format": str(self), "showUser": self.code not in _QUIET}}


SWITCHED_OFF = "RAYDAP=off is in its environment, so breakpoints stop neither it nor its workers. Remove that variable."
"""What is wrong with a program that raydap starts and may not debug."""


class ProblemError(Exception):
    """Raised for a Problem that the caller can show."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def file_not_written(path: str, error: OSError) -> ProblemError:
    reason = error.strerror or str(error)
    return ProblemError(
        Problem(Code.FILE_NOT_WRITTEN, f'The file "{path}" cannot be written: {reason}. Name one in another place.')
    )


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def reason_of(error: Exception) -> str:
    """Return the system's words for its own errors; else the exception, in one line."""
    words = error.strerror or str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return " ".join(words.split())
