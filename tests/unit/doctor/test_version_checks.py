"""Versions of Ray, Python and debugpy."""

from dataclasses import replace
from typing import Any

import pytest

from raydap.cluster.survey.node_reports import EnvironmentReport
from raydap.doctor import version_checks
from raydap.doctor.facts import Facts
from unit.doctor.made_up import HEALTHY, PYTHON, faults, member, with_members, with_node


def with_python(node_id: str = "n1", **changes: str) -> Facts:
    """Return the facts about a node whose workers have other versions."""
    versions: dict[str, Any] = {"python": "3.12.1", "ray": "2.60.0", "debugpy": "1.8.22", **changes}
    return with_node(node_id=node_id, environments={PYTHON: EnvironmentReport(**versions)})


def test_equal_versions_are_in_order() -> None:
    for check in (version_checks.ray, version_checks.python, version_checks.debugpy, version_checks.runtime_env):
        assert faults(check, HEALTHY) == []


def test_another_ray_here_cannot_join_the_cluster() -> None:
    (found,) = faults(version_checks.ray, replace(HEALTHY, ray_version="2.39.0", reports={}))
    assert found.severity == "warning"
    assert found.what == "raydap runs with Ray 2.60.0, the cluster with Ray 2.39.0."
    assert found.what_to_do == "pip install 'ray[default]==2.39.0'"


def test_a_node_with_another_ray_is_an_error() -> None:
    (found,) = faults(version_checks.ray, with_python("n2", ray="2.39.0"))
    assert found.severity == "error"
    assert found.what == "10.0.0.2 has another version of Ray than the head node (2.60.0)."


def test_the_minor_version_of_python_has_to_be_the_same() -> None:
    assert faults(version_checks.python, with_python("n2", python="3.12.9")) == []
    (found,) = faults(version_checks.python, with_python("n2", python="3.11.7"))
    assert found.what == "raydap runs with Python 3.12.1, the workers on 10.0.0.2 with Python 3.11.7."
    assert found.what_to_do == "python3.11 -m pip install raydap"
    (found,) = faults(version_checks.python, with_python("n2", python="3.9.1"))
    assert "run Python 3.9.1" in found.what


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("", "cannot import debugpy"),
        ("1.7.2", ": debugpy 1.7.2 is too old"),
        ("1.10.0", ": debugpy 1.10.0 is too new"),
        ("unknown", None),
        ("1.9.1", None),
    ],
)
def test_debugpy_must_be_a_version_that_ray_accepts(version: str, said: str | None) -> None:
    found = faults(version_checks.debugpy, with_python(debugpy=version))
    assert [(one.severity, said in one.what) for one in found if said] == ([("error", True)] if said else [])
    assert len(found) == (said is not None)


def test_a_python_that_does_not_answer_is_a_note() -> None:
    facts = with_node(environments={PYTHON: EnvironmentReport(problem="no such file")})
    (found,) = faults(version_checks.debugpy, facts)
    assert found.severity == "note"
    assert "no such file" in found.what


def test_an_own_environment_without_debugpy_is_an_error() -> None:
    environments = {**HEALTHY.reports["n1"].environments, "/own": EnvironmentReport("3.12.1", "2.60.0", "")}
    facts = with_node(environments=environments)
    members = member("w1", python="/own"), member("w2")
    (found,) = faults(version_checks.runtime_env, with_members(*members, facts=facts))
    assert found.severity == "error"
    assert found.what == "w1 (pid 1 on 10.0.0.1) cannot import debugpy."
    assert found.what_to_do.startswith('"runtime_env": {"pip": ["debugpy')


def test_an_own_environment_without_workers_is_a_note() -> None:
    job = {"job_id": "01", "submission_id": "raysubmit_1", "status": "RUNNING", "runtime_env": {"conda": "other"}}
    (found,) = faults(version_checks.runtime_env, replace(HEALTHY, jobs=(job,)))
    assert (found.severity, found.subject) == ("note", "job raysubmit_1")
    assert faults(version_checks.runtime_env, replace(HEALTHY, jobs=({**job, "status": "SUCCEEDED"},))) == []
    actor = {"class_name": "Trainer", "serialized_runtime_env": '{"image_uri": "x"}'}
    (found,) = faults(version_checks.runtime_env, replace(HEALTHY, actors=(actor,)))
    assert found.subject == "actor Trainer"
    # pip adds its packages to the packages of the cluster.
    assert faults(version_checks.runtime_env, replace(HEALTHY, jobs=({**job, "runtime_env": {"pip": ["x"]}},))) == []


@pytest.mark.parametrize("text", ["{", "[1]", "null", "[" * 100_000, ""])
def test_a_runtime_env_that_is_none_is_empty(text: str) -> None:
    assert version_checks.read_runtime_env({"serialized_runtime_env": text}) == {}
