"""The errors that a user can see. Each has a number, and one sentence with what happened and what to do.

The numbers are stable, and docs/errors.md explains them. A failed DAP response carries the number as `body.error.id`
(spec: ErrorResponse, Message).
"""

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """The number of an error.

    1xxx: a request; 2xxx: the search for workers; 3xxx: a worker; 4xxx: the launched program; 5xxx: a hub.
    """

    BAD_MESSAGE = 1001
    """A message was not DAP, and was dropped."""
    UNSUPPORTED = 1002
    """raydap does not support the request."""
    WRONG_ORDER = 1003
    """A request came too early or twice, such as `attach` before `initialize`."""
    BAD_ARGUMENT = 1004
    """An argument has a wrong value."""
    UNKNOWN_ARGUMENT = 1005
    """The request has no such argument."""
    STALE_ID = 1006
    """An id is no longer valid, such as that of a frame whose thread has resumed."""
    OTHER_SESSION = 1007
    """This bridge already debugs something else."""
    NOT_STOPPED = 1008
    """The thread runs, so it has no stack or variables to show."""
    NO_WORKER = 1009
    """No worker is attached, so none can be paused."""
    INTERNAL = 1010
    """A defect in raydap."""
    NOT_ADMITTED = 1011
    """The client has not sent the hub's token."""
    OBSERVER = 1012
    """An observer has tried to resume, set or evaluate."""
    BLOCKED = 1013
    """The thread is blocked, so it cannot step."""
    FILE_NOT_WRITTEN = 1014
    """A command cannot write its file."""
    NOT_RELOADED = 1015
    """The new text of a file does not compile, so no worker has got it."""

    NO_CLUSTER = 2001
    """raydap found no Ray cluster."""
    DASHBOARD_UNREACHABLE = 2002
    """The dashboard cannot be reached, or fails."""
    DASHBOARD_GARBAGE = 2003
    """The server at this URL is not a Ray dashboard."""
    TOKEN_WANTED = 2004
    """The cluster requires a token."""
    TOKEN_REFUSED = 2005
    """The cluster refuses the token."""
    FILTER_UNKNOWN = 2006
    """Ray does not report what some paused workers run, so filters cannot choose them."""
    TOO_MANY_WORKERS = 2007
    """More workers are paused than `maxWorkers` allows."""
    CLUSTER_NOT_NAMED = 2008
    """Several clusters of this user run on this machine, or only clusters of other users, so the user must name one."""

    WORKER_REFUSED = 3001
    """Nothing listens on the worker's debug port: its debugger died."""
    WORKER_SILENT = 3002
    """The worker does not answer in time."""
    WORKER_GONE = 3003
    """The worker is gone, or the connection to its debugger is lost."""
    WORKER_BUSY = 3004
    """The attach was cut off or refused: the worker ended, or it has another debugger."""
    WORKER_BROKEN = 3005
    """The worker's answer cannot be read."""
    WORKER_UNREACHABLE = 3006
    """raydap reaches the worker's port neither directly nor over the relay."""
    FILE_COPIED = 3007
    """The job runs a copy of its folder, and raydap has no `workspaceFolder` to map it to."""
    NO_AGENT = 3008
    """The worker has no agent, so it can be attached only while it waits at a `breakpoint()`."""
    COLLECTIVE = 3009
    """The user resumed only some of the workers that meet in collective operations."""

    LAUNCH_FAILED = 4001
    """The program could not be started."""
    SUBMIT_FAILED = 4002
    """The job could not be submitted."""

    HUB_UNREACHABLE = 5001
    """The hub cannot be reached."""
    HUB_REFUSED = 5002
    """The hub refuses the token, or the host name in its URL."""
    HUB_LOST = 5003
    """The connection to the hub is lost."""
    HUB_FAILED = 5004
    """The hub that `raydap up` started does not serve."""
    HUB_VERSION = 5005
    """`raydap connect` and the hub speak different versions of raydap's protocol."""


_QUIET = (Code.STALE_ID, Code.NOT_STOPPED, Code.WRONG_ORDER, Code.WORKER_GONE)
"""Errors for which VS Code shows no notification, because editors cause them on their own.

Editors send requests about threads that have resumed or whose worker is lost, and requests after a failed attach. An
`output` event reports the loss of a worker once.
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that can be shown to the user."""

    code: Code
    """The number of the error (docs/errors.md)."""
    text: str
    """One sentence with what happened and what to do next."""
    detail: str = ""
    """More about the cause, for the log."""

    def __str__(self) -> str:
        return f"{self.text} [raydap {self.code.value}]"

    def body(self) -> dict[str, object]:
        """Return the body of a failed response (spec: ErrorResponse).

        VS Code shows `format`. Other editors show the `message` of the response.
        """
        return {"error": {"id": self.code.value, "format": str(self), "showUser": self.code not in _QUIET}}


SWITCHED_OFF = (
    "Its environment contains RAYDAP=off, so breakpoints stop neither the program nor its workers. Unset RAYDAP."
)
"""The reason why raydap does not debug a program that it starts."""


class ProblemError(Exception):
    """Raised with a Problem that the caller can show to the user."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def file_not_written(path: str, error: OSError) -> ProblemError:
    """Return the error for a file that the user has named and that cannot be written."""
    reason = error.strerror or str(error)
    return ProblemError(
        Problem(Code.FILE_NOT_WRITTEN, f'The file "{path}" cannot be written: {reason}. Choose another path.')
    )


def sentence(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def reason_of(error: Exception) -> str:
    """Return the system's message for an OSError, else the type and message of the exception, on one line."""
    words = error.strerror or str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return " ".join(words.split())
