"""Variables of Ray's debugger, wherever they are set."""

from dataclasses import replace

from raydap.cluster.legacy.legacy_breakpoints import LegacyBreakpoint
from raydap.core.process_info import RayFacts
from raydap.doctor import variable_checks
from raydap.protocol.types import WorkerKey
from unit.doctor.made_up import HEALTHY, faults, member, with_members, with_node

WAITING = LegacyBreakpoint(
    "RAY_PDB_1",
    WorkerKey("w1"),
    "collect()",
    "01",
    "n1",
    "10.0.0.1",
    1,
    "t",
    "",
    "/p.py",
    7,
    "",
    0.0,
    "127.0.0.1",
    5,
    False,
)


def test_nothing_set_is_in_order() -> None:
    for check in (variable_checks.legacy, variable_checks.spelling, variable_checks.breakpoint_hook):
        assert faults(check, HEALTHY) == []


def test_the_old_debugger_is_reported_with_its_users() -> None:
    facts = with_members(member("w1", variables={"RAY_DEBUG": "legacy"}), missing={"legacy": "Ray does not answer"})
    (found,) = faults(variable_checks.legacy, facts)
    assert found.what == "RAY_DEBUG=legacy is set for w1 (pid 1 on 10.0.0.1)."
    assert "Ray does not answer" in found.why
    assert found.what_to_do == '"runtime_env": {"env_vars": {"RAY_DEBUG": "1"}}'
    # Ray knows this value, so the spelling is right.
    assert faults(variable_checks.spelling, facts) == []


def test_what_waits_for_the_old_debugger_is_listed() -> None:
    (found,) = faults(variable_checks.legacy, replace(HEALTHY, legacy=(WAITING,)))
    assert found.severity == "warning"
    assert found.what == "A breakpoint waits for Ray's old debugger: collect() at /p.py:7."
    assert found.what_to_do == f"raydap debug --dashboard {HEALTHY.dashboard} pid:1"
    (found,) = faults(variable_checks.legacy, replace(HEALTHY, legacy=(WAITING, WAITING)))
    assert found.what.startswith("2 breakpoints wait for ")
    assert found.what_to_do == f"raydap debug --dashboard {HEALTHY.dashboard}"


def test_a_pdb_that_is_open_to_the_network_matters_with_the_old_debugger_only() -> None:
    open_to_all = with_node(external_debugger=True)
    (found,) = faults(variable_checks.legacy, open_to_all)
    assert found.severity == "note"
    _, found = faults(variable_checks.legacy, replace(open_to_all, legacy=(WAITING,)))
    assert found.severity == "warning"


def test_a_variable_of_a_node_is_reported_once() -> None:
    facts = with_node(variables={"RAY_DEBGU": ""})
    members = [member(f"w{number}", variables={"RAY_DEBGU": ""}) for number in (1, 2)]
    (found,) = faults(variable_checks.spelling, with_members(*members, facts=facts))
    assert "Ray does not read RAY_DEBGU." in found.what
    assert found.why == "It is set for node 10.0.0.1."
    assert found.what_to_do == "export RAY_DEBUG=1"


def test_a_variable_from_the_job_is_reported_for_the_job() -> None:
    job = {"job_id": "01", "status": "RUNNING", "runtime_env": {"env_vars": {"RAY_DEBGU": "1"}}}
    text = '{"env_vars": {"RAY_DEBGU": "1", "RAY_DEBUG": "0"}}'
    actor = {"class_name": "Trainer", "job_id": "01", "pid": 1, "serialized_runtime_env": text}
    of_actor = member("w1", variables={"RAY_DEBGU": "", "RAY_DEBUG": "0"})
    facts = with_members(of_actor, member("w2", variables={"RAY_DEBGU": ""}), jobs=(job,), actors=(actor,))
    assert variable_checks.settings(facts) == {("RAY_DEBGU", "1"): ["job 01"], ("RAY_DEBUG", "0"): ["actor Trainer"]}


def test_an_idle_worker_says_itself_whose_it_is() -> None:
    job = {"job_id": "01", "status": "RUNNING", "runtime_env": {"env_vars": {"RAY_DEBGU": "1"}}}
    idle = member("w1", label=RayFacts(), variables={"RAY_DEBGU": "", "RAY_JOB_ID": "01"})
    assert variable_checks.settings(with_members(idle, jobs=(job,)))["RAY_DEBGU", "1"] == ["job 01"]


def test_jobs_and_actors_are_looked_at_without_their_workers() -> None:
    job = {"job_id": "01", "status": "RUNNING", "runtime_env": {"env_vars": {"RAY_DEBUG_POSTMORTEM": "1"}}}
    actor = {"class_name": "Trainer", "serialized_runtime_env": '{"env_vars": {"RAY_DEBUG": "true"}}'}
    name, value = faults(variable_checks.spelling, replace(HEALTHY, jobs=(job,), actors=(actor,)))
    assert name.what_to_do == '"runtime_env": {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}'
    assert (name.subject, value.subject) == ("job 01", "actor Trainer")
    assert value.what_to_do == '"runtime_env": {"env_vars": {"RAY_DEBUG": "1"}}'
    assert faults(variable_checks.spelling, replace(HEALTHY, jobs=({**job, "status": "STOPPED"},))) == []


def test_a_debugger_that_is_switched_off_is_reported() -> None:
    (found,) = faults(variable_checks.spelling, with_members(member("w1", variables={"RAY_DEBUG": "0"})))
    assert found.what == "RAY_DEBUG=0 is set for w1 (pid 1 on 10.0.0.1)."
    assert faults(variable_checks.spelling, with_members(member("w1", variables={"RAY_DEBUG": "1"}))) == []


def test_a_breakpoint_hook_matters_in_drivers() -> None:
    hooked = {"PYTHONBREAKPOINT": "0"}
    assert faults(variable_checks.breakpoint_hook, with_members(member("w1", variables=hooked))) == []
    rays = {"PYTHONBREAKPOINT": "ray.util.rpdb.set_trace"}
    facts = with_members(member("w1", worker_type="DRIVER", variables=rays))
    assert faults(variable_checks.breakpoint_hook, facts) == []
    (found,) = faults(
        variable_checks.breakpoint_hook, with_members(member("w1", worker_type="DRIVER", variables=hooked))
    )
    assert found.severity == "note"
    assert "does nothing" in found.why
