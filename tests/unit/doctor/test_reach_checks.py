"""The programs that raydap reaches without a breakpoint()."""

import pytest

from raydap.doctor import reach_checks
from unit.doctor.made_up import HEALTHY, faults, member, with_members, with_node


def test_agents_and_gdb_are_in_order() -> None:
    assert faults(reach_checks.reach, HEALTHY) == []
    assert faults(reach_checks.reach, with_members(member("w1", agent=True), member("w2", port=5, paused=1))) == []


def test_workers_without_an_agent_are_named() -> None:
    (found,) = faults(reach_checks.reach, with_members(member("w1"), member("w2", agent=True)))
    assert found.severity == "note"
    assert found.what == "1 of 2 processes have no agent: w1 (pid 1 on 10.0.0.1)."


def test_agents_are_listed_with_the_reason_why_they_are_there() -> None:
    kinds = ("launched", "run", "child", "cluster", "hook", "")
    members = [member(f"w{number}", agent=True, preparation=kind) for number, kind in enumerate(kinds, 1)]
    told = [one.what for one in reach_checks.reach(with_members(*members)) if one.what.startswith("With an agent")]
    assert len(set(told)) == len(kinds)
    assert told[0] == "With an agent, because raydap has launched the program: w1 (pid 1 on 10.0.0.1)."
    assert 'a session with "reach": "any"' in told[-1]


def test_processes_that_are_free_of_raydap_are_listed_with_the_reason() -> None:
    facts = with_members(
        member("w1", preparation="off"), member("w2", preparation="hidden"), member("w3", preparation="cluster")
    )
    off, hidden, other = faults(reach_checks.reach, facts)
    assert (off.severity, off.what_to_do) == ("note", "unset RAYDAP")
    assert off.what == "Without an agent, because RAYDAP=off is in the environment: w1 (pid 1 on 10.0.0.1)."
    assert (hidden.severity, hidden.what_to_do) == ("warning", "raydap prepare")
    assert "the hook of the prepared cluster was not found: w2 (pid 2" in hidden.what
    assert other.what == "1 of 3 processes have no agent: w3 (pid 3 on 10.0.0.1)."


@pytest.mark.parametrize(
    ("obstacle", "command"),
    [
        ("gdb is not installed on 10.0.0.1; install it there", "apt-get install gdb"),
        ("the kernel of 10.0.0.1 forbids it (kernel.yama.ptrace_scope=1)", "sudo sysctl kernel.yama.ptrace_scope=0"),
        ("a container needs the capability SYS_PTRACE for that", "docker run --cap-add=SYS_PTRACE ..."),
        ("something else", ""),
    ],
)
def test_an_obstacle_to_gdb_is_reported_with_a_command(obstacle: str, command: str) -> None:
    (found,) = faults(reach_checks.reach, with_node(gdb_obstacle=obstacle))
    assert (found.severity, found.what_to_do) == ("note", command)


def test_nodes_with_the_same_obstacle_are_reported_together() -> None:
    facts = with_node(gdb_obstacle="gdb is not installed on 10.0.0.1")
    (found,) = faults(reach_checks.reach, with_node(facts, "n2", gdb_obstacle="gdb is not installed on 10.0.0.2"))
    assert found.what == '"reach": "any" cannot use gdb on 10.0.0.1 and 10.0.0.2: gdb is not installed on the node.'


@pytest.mark.parametrize(("version", "works"), [("13.1", False), ("14.2", True), ("unknown", True)])
def test_an_old_gdb_cannot_write_the_registers_of_amx(version: str, works: bool) -> None:
    assert (faults(reach_checks.reach, with_node(has_amx=True, gdb=version)) == []) == works
    assert faults(reach_checks.reach, with_node(has_amx=False, gdb=version)) == []
