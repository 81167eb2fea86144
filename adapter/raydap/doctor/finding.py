"""The results of checks."""

from typing import Literal

import msgspec

Severity = Literal["ok", "note", "warning", "error", "skipped"]
"""An error keeps debugging from working, a warning lets a part of it fail, and a note matters only in some cases.

A check is skipped if facts that it needs are missing.
"""

FAULTS = ("warning", "error")


class Finding(msgspec.Struct, frozen=True):
    """One result of a check."""

    check: str
    """The name of its row in CHECKS. `diagnosis.py` sets it."""
    severity: Severity
    """How much the finding hinders debugging; `skipped` if the check did not run."""
    what: str
    """The observation, as a plain sentence."""
    why: str = ""
    """Why it matters, as plain sentences."""
    what_to_do: str = ""
    """Text to paste: a command, a line of Python, or JSON for a configuration; "" if there is nothing to do."""
    subject: str = ""
    """The worker, node, job or breakpoint that the finding is about, or ""."""


def ok(what: str) -> Finding:
    """Return a finding of severity "ok", still without the name of its check."""
    return Finding("", "ok", what)


def note(what: str, why: str = "", what_to_do: str = "", subject: str = "") -> Finding:
    """Return a finding of severity "note", still without the name of its check."""
    return Finding("", "note", what, why, what_to_do, subject)


def warning(what: str, why: str, what_to_do: str = "", subject: str = "") -> Finding:
    """Return a finding of severity "warning", still without the name of its check."""
    return Finding("", "warning", what, why, what_to_do, subject)


def error(what: str, why: str, what_to_do: str = "", subject: str = "") -> Finding:
    """Return a finding of severity "error", still without the name of its check."""
    return Finding("", "error", what, why, what_to_do, subject)
