"""Debug ports, as nodes see them."""

from dataclasses import replace

from raydap.cluster.survey.node_reports import DebugPortPeer
from raydap.core.process_info import ForkedWait, ForkedWaits
from raydap.core.workers import forked_waits
from raydap.doctor import debug_port_checks
from raydap.hub.machine_status import SessionStatus
from unit.doctor.made_up import HEALTHY, faults, member, with_members, with_node


def test_ports_at_which_something_listens_are_in_order() -> None:
    for facts in (HEALTHY, with_members(member("w1"), member("w2", port=5, paused=1))):
        for check in (debug_port_checks.dead_adapters, debug_port_checks.other_debuggers, debug_port_checks.routes):
            assert faults(check, facts) == []


def test_a_worker_whose_debugger_is_dead_waits_forever() -> None:
    waits, runs = member("w1", port=5, paused=1, listens=False), member("w2", port=6, listens=False)
    now, later = faults(debug_port_checks.dead_adapters, with_members(waits, runs))
    assert (now.severity, later.severity) == ("error", "warning")
    assert (now.subject, now.what_to_do) == ("w1 (pid 1 on 10.0.0.1)", "kill 1")
    assert "next breakpoint()" in later.why


def test_another_debugger_is_named() -> None:
    here = DebugPortPeer("10.0.0.1", 9, "/usr/bin/node /opt/editor/adapter.js")
    far = DebugPortPeer("10.0.0.9")
    held, waits = member("w1", port=5, peers=(here,)), member("w2", port=6, paused=1, peers=(far,))
    first, second = faults(debug_port_checks.other_debuggers, with_members(held, waits))
    assert first.what.startswith(
        "w1 (pid 1 on 10.0.0.1) has another debugger: /usr/bin/node /opt/editor/adapter.js (pid 9)"
    )
    assert first.what_to_do == "kill 9"
    assert "although a process of 10.0.0.9 is connected" in second.what
    assert second.what_to_do == ""


def test_raydap_itself_is_no_other_debugger() -> None:
    ours = ("/venv/bin/python /venv/bin/raydap adapter", "python -m raydap serve", "ray::RaydapRelay.batches")
    for command in ours:
        facts = with_members(member("w1", port=5, peers=(DebugPortPeer("10.0.0.1", 9, command),)))
        assert faults(debug_port_checks.other_debuggers, facts) == []
    session = SessionStatus(7, "adapter", "code", 0.0, ["http://head:8265"])
    told = [one.what for one in debug_port_checks.other_debuggers(replace(HEALTHY, sessions=(session,)))]
    assert told[0] == "raydap adapter (pid 7) debugs this cluster."


def test_a_node_that_is_not_reached_directly_is_reached_over_ray() -> None:
    blocked = replace(with_node(route="timed out"), routes={"n1": "timed out"})
    (found,) = faults(debug_port_checks.routes, blocked)
    assert found.severity == "note"
    assert found.what == "This machine cannot reach the debug ports of 10.0.0.1 (timed out)."
    (found,) = faults(debug_port_checks.routes, replace(blocked, local_nodes=frozenset()))
    assert (found.severity, found.what_to_do) == ("error", "raydap up --dashboard http://head:8265")


def test_a_port_of_rays_own_proves_nothing_about_debug_ports() -> None:
    outside = replace(HEALTHY, local_nodes=frozenset(), reports={})
    (found,) = faults(debug_port_checks.routes, outside)
    assert found.severity == "note"
    assert "does not try the debug ports" in found.why


def test_a_forked_child_that_waits_in_breakpoint_is_named_with_its_worker() -> None:
    wait = ForkedWait(1, 77, "MainThread", "load", "/app/train.py", 9)
    facts = with_node(with_members(member("w1"), member("w2")), forked_waits=ForkedWaits((wait,)))
    (found,) = faults(debug_port_checks.forked_children, facts)
    assert (found.severity, found.subject) == ("error", "w1 (pid 1 on 10.0.0.1)")
    assert found.what == (
        "Process 77, a forked child of w1 (pid 1 on 10.0.0.1), waits at breakpoint() in load (train.py:9)."
    )
    assert (found.why, found.what_to_do) == (forked_waits.WHAT_TO_DO, "raydap debug PROGRAM.py")


def test_forked_children_that_cannot_be_read_are_not_called_in_order() -> None:
    assert [one.severity for one in debug_port_checks.forked_children(HEALTHY)] == ["ok"]
    facts = with_node(forked_waits=ForkedWaits(problem="ptrace is forbidden"))
    (found,) = debug_port_checks.forked_children(facts)
    assert (found.severity, found.subject) == ("note", "10.0.0.1")
    assert "could not be inspected (ptrace is forbidden)" in found.what
