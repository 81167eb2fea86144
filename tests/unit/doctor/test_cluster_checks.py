"""The dashboard, the token, the nodes."""

from dataclasses import replace

import pytest

from raydap.doctor import cluster_checks
from raydap.doctor.facts import Facts
from raydap.errors import Code, Problem
from unit.doctor.made_up import HEALTHY, faults, member, with_members


def unknown(code: Code) -> Facts:
    return Facts(dashboard="http://head:8265", problem=Problem(code, "It says why."))


def test_a_dashboard_that_answers_is_in_order() -> None:
    facts = with_members(member("w1", paused=1), member("w2", worker_type="DRIVER"))
    (found,) = cluster_checks.dashboard(facts)
    assert found.severity == "ok"
    assert "Ray 2.60.0, 1 node, 1 driver, 1 worker, 1 of them paused" in found.what


@pytest.mark.parametrize("code", [Code.NO_CLUSTER, Code.DASHBOARD_UNREACHABLE, Code.DASHBOARD_GARBAGE])
def test_a_dashboard_that_does_not_answer_is_an_error_with_its_reason(code: Code) -> None:
    (found,) = cluster_checks.dashboard(unknown(code))
    assert (found.severity, found.what) == ("error", "It says why.")
    assert found.what_to_do
    assert list(cluster_checks.token(unknown(code))) == []


@pytest.mark.parametrize("code", [Code.TOKEN_WANTED, Code.TOKEN_REFUSED])
def test_a_missing_token_is_reported_once(code: Code) -> None:
    assert list(cluster_checks.dashboard(unknown(code))) == []
    (found,) = cluster_checks.token(unknown(code))
    assert found.severity == "error"
    assert found.what_to_do.startswith("export RAY_AUTH_MODE=token ")


def test_whether_a_token_was_sent_is_reported() -> None:
    assert [found.what for found in cluster_checks.token(HEALTHY)] == ["The cluster requires no token."]
    (found,) = cluster_checks.token(replace(HEALTHY, sends_token=True))
    assert found.what == "The cluster accepts the token."


def test_a_machine_outside_the_cluster_needs_a_hub() -> None:
    assert faults(cluster_checks.local_node, HEALTHY) == []
    (found,) = cluster_checks.local_node(replace(HEALTHY, local_nodes=frozenset()))
    assert found.severity == "warning"
    assert found.what_to_do == "raydap up --dashboard http://head:8265"


def test_missing_facts_are_reported() -> None:
    assert faults(cluster_checks.nodes, HEALTHY) == []
    facts = with_members(member("w1", visible=False), unreported={"n2": "no answer"})
    silent, unseen = faults(cluster_checks.nodes, replace(facts, nodes={"n1": "10.0.0.1", "n2": "10.0.0.2"}))
    assert silent.what == "Node 10.0.0.2 gave no report: no answer."
    assert unseen.what == "1 process could not be inspected: w1 (pid 1 on 10.0.0.1)."
    assert {silent.severity, unseen.severity} == {"note"}
