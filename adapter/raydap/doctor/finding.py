"""What a check says."""

from typing import Literal

import msgspec

Severity = Literal["ok", "note", "warning", "error", "skipped"]
"""An error keeps debugging from working, a warning lets a part of it fail; a note matters in some cases only. A check
is skipped if what it would look at is not known."""

FAULTS = ("warning", "error")


class Finding(msgspec.Struct, frozen=True):
    """`check` is the name of a row of CHECKS. `what`, and `why` it matters, are plain sentences. `what_to_do` can be
    pasted: a command, a line of Python, or JSON for a configuration; or "". `subject` is what it is about: a worker, a
    node, a job, a breakpoint, or ""."""

    check: str
    severity: Severity
    what: str
    why: str = ""
    what_to_do: str = ""
    subject: str = ""


def ok(what: str) -> Finding:
    return Finding("", "ok", what)


def note(what: str, why: str = "", what_to_do: str = "", subject: str = "") -> Finding:
    return Finding("", "note", what, why, what_to_do, subject)


def warning(what: str, why: str, what_to_do: str = "", subject: str = "") -> Finding:
    return Finding("", "warning", what, why, what_to_do, subject)


def error(what: str, why: str, what_to_do: str = "", subject: str = "") -> Finding:
    return Finding("", "error", what, why, what_to_do, subject)
