"""Time limits that keep running while a worker is stopped."""

from dataclasses import replace
from typing import Any

from raydap.core.process_info import RayFacts
from raydap.doctor import timeout_checks
from unit.doctor.made_up import HEALTHY, Member, faults, member, with_members, with_node

REPLICA = {"class_name": "ServeReplica:app:Model"}

PROBES_OFF = {"RAY_SERVE_USER_HEALTH_CHECK_PROBE_MAX_FAIL": "0"}


def test_plain_tasks_and_actors_have_no_limit() -> None:
    actors: tuple[dict[str, Any], ...] = ({"class_name": "Trainer"},)
    assert faults(timeout_checks.timeouts, with_members(member("w1", paused=1), actors=actors)) == []


def test_a_replica_of_serve_is_ended() -> None:
    facts = replace(HEALTHY, actors=(REPLICA,), deployments={"app:Model": {"health_check_timeout_s": 20.0}})
    (found,) = faults(timeout_checks.timeouts, facts)
    assert (found.severity, found.subject) == ("note", "app:Model")
    assert "after three health checks of 20 s if it defines check_health, and after about 18 minutes" in found.what
    stopped = member("w1", paused=1, label=RayFacts(actor="ServeReplica:app:Model"))
    (found,) = faults(timeout_checks.timeouts, with_members(stopped, facts=facts, actors=facts.actors))
    assert found.severity == "warning"


def test_a_replica_with_raised_limits_is_in_order() -> None:
    raised = replace(HEALTHY, actors=(REPLICA,), deployments={"app:Model": {"health_check_timeout_s": 7200}})
    (found,) = faults(timeout_checks.timeouts, raised)
    assert "three health checks" not in found.what
    assert faults(timeout_checks.timeouts, with_node(raised, variables=PROBES_OFF)) == []
    assert faults(timeout_checks.timeouts, replace(raised, ray_version="2.39.0")) == []


def with_torch(key: str, *libraries: str, **more: Any) -> Member:
    return member(key, libraries=("torch", *libraries), **more)


def test_a_single_process_with_torch_waits_for_no_other() -> None:
    assert faults(timeout_checks.timeouts, with_members(with_torch("w1"), member("w2"))) == []


def test_a_group_of_torch_fails_when_one_is_stopped() -> None:
    (found,) = faults(timeout_checks.timeouts, with_members(with_torch("w1"), with_torch("w2")))
    assert found.severity == "note"
    assert "after 30 minutes" in found.what
    stopped = with_members(with_torch("w1", "nccl", paused=1), with_torch("w2", "nccl"))
    (found,) = faults(timeout_checks.timeouts, stopped)
    assert found.severity == "warning"
    assert "10 minutes with NCCL" in found.what
    off = with_node(variables={"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"})
    assert faults(timeout_checks.timeouts, with_members(with_torch("w1"), with_torch("w2"), facts=off)) == []


def test_ray_train_has_its_own_way_to_raise_it() -> None:
    label = RayFacts(actor="RayTrainWorker", job="01")
    facts = with_members(with_torch("w1", "nccl", label=label), with_torch("w2", "nccl", label=label))
    (found,) = faults(timeout_checks.timeouts, facts)
    assert "TorchConfig(timeout_s=" in found.what_to_do
    assert "after 30 minutes" in found.what


def test_processes_of_different_jobs_are_no_group() -> None:
    members = [with_torch(f"w{number}", label=RayFacts(job=f"0{number}")) for number in (1, 2)]
    assert faults(timeout_checks.timeouts, with_members(*members)) == []


def test_rllib_drops_samples() -> None:
    runner = member("w1", label=RayFacts(actor="SingleAgentEnvRunner"))
    (found,) = faults(timeout_checks.timeouts, with_members(runner))
    assert found.severity == "note"
    assert "sample_timeout_s" in found.what_to_do
