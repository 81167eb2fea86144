"""Runs all checks. They only read facts that have been gathered, so none can hang."""

import logging
from collections.abc import Iterable, Iterator

import msgspec

from raydap.doctor.check_table import CHECKS, Check
from raydap.doctor.facts import Facts
from raydap.doctor.finding import FAULTS, Finding
from raydap.errors import sentence

log = logging.getLogger("raydap")


def diagnose(facts: Facts, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Return the findings of all checks, in the order of the checks. Raises nothing."""
    return [finding for check in checks for finding in _findings(check, facts)]


def is_healthy(findings: Iterable[Finding]) -> bool:
    """Return whether the findings contain no warning and no error."""
    return not any(finding.severity in FAULTS for finding in findings)


def _findings(check: Check, facts: Facts) -> Iterator[Finding]:
    reason = next((facts.missing[part] for part in check.needs if part in facts.missing), None)
    if reason is not None:
        yield Finding(check.name, "skipped", f"{sentence(check.title)} could not be checked.", f"{sentence(reason)}.")
        return
    try:
        found = list(check.run(facts))
    except Exception as error:
        log.exception("the check %s failed", check.name)
        what = f"The check of {check.title} failed inside raydap ({type(error).__name__}: {error})."
        why = "This is a defect in raydap, not in the cluster. Please report it with the log."
        yield Finding(check.name, "warning", what, why)
        return
    yield from (msgspec.structs.replace(finding, check=check.name) for finding in found)
