"""All checks together: none is lost, and none can end the diagnosis."""

import logging

import pytest

from raydap.doctor import diagnosis
from raydap.doctor.check_table import CHECKS, Check
from raydap.doctor.facts import Facts
from raydap.doctor.finding import Finding, note, ok, warning
from unit.doctor.made_up import HEALTHY, member, with_members

UNKNOWN = Facts(missing={"cluster": "the cluster does not answer", "nodes": "the cluster does not answer"})


def test_each_check_has_its_own_name() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)


def test_a_healthy_cluster_has_no_fault_and_every_check_says_so() -> None:
    findings = diagnosis.diagnose(with_members(member("w1", agent=True)))
    assert {finding.severity for finding in findings} == {"ok"}
    assert diagnosis.is_healthy(findings)
    # No breakpoint was asked about, and no job has a runtime_env.
    silent = {"breakpoints", "runtime-env"}
    assert {finding.check for finding in findings} == {check.name for check in CHECKS} - silent


def test_what_is_not_known_is_skipped_with_the_reason() -> None:
    findings = diagnosis.diagnose(UNKNOWN)
    skipped = [finding for finding in findings if finding.severity == "skipped"]
    assert {finding.check for finding in skipped} == {check.name for check in CHECKS if check.needs}
    assert {finding.why for finding in skipped} == {"The cluster does not answer."}


def test_a_check_that_fails_is_a_finding_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    def fails(facts: Facts) -> list[Finding]:
        raise ZeroDivisionError("a mistake")

    checks = (Check("bad", "the sick one", (), fails), Check("good", "the other one", (), lambda _: [ok("Fine.")]))
    with caplog.at_level(logging.ERROR):
        bad, good = diagnosis.diagnose(HEALTHY, checks)
    assert (bad.check, bad.severity) == ("bad", "warning")
    assert "ZeroDivisionError: a mistake" in bad.what
    assert (good.check, good.severity) == ("good", "ok")
    assert "Traceback" in caplog.text


def test_notes_are_no_faults() -> None:
    assert diagnosis.is_healthy([ok("a"), note("b")])
    assert not diagnosis.is_healthy([note("b"), warning("c", "d")])
