"""The table of all checks, in the order in which they run."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from raydap.doctor import (
    breakpoint_checks,
    cluster_checks,
    debug_port_checks,
    reach_checks,
    timeout_checks,
    variable_checks,
    version_checks,
)
from raydap.doctor.facts import Facts
from raydap.doctor.finding import Finding


class Check(NamedTuple):
    """One check."""

    name: str
    """The name that its findings carry."""
    title: str
    """A noun phrase for users that names the subject of the check."""
    needs: tuple[str, ...]
    """The parts of the facts that it needs. If one of them is in Facts.missing, the check is skipped."""
    run: Callable[[Facts], Iterable[Finding]]
    """The function that inspects the facts and yields the findings, still without the check's name."""


_ASKED, _NODES = ("cluster",), ("cluster", "nodes")

CHECKS = (
    Check("dashboard", "the dashboard", (), cluster_checks.dashboard),
    Check("token", "Ray's token", (), cluster_checks.token),
    Check("local-node", "a node of the cluster on this machine", _ASKED, cluster_checks.local_node),
    Check("nodes", "the reports of the nodes", _NODES, cluster_checks.nodes),
    Check("ray-version", "the versions of Ray", _ASKED, version_checks.ray),
    Check("python-version", "the versions of Python", _NODES, version_checks.python),
    Check("debugpy", "debugpy on the nodes", _NODES, version_checks.debugpy),
    Check("runtime-env", "debugpy in a runtime_env", _ASKED, version_checks.runtime_env),
    Check("legacy-debugger", "Ray's old debugger", _ASKED, variable_checks.legacy),
    Check("variables", "variables of Ray's debugger", _ASKED, variable_checks.spelling),
    Check("breakpoint-hook", "PYTHONBREAKPOINT", _NODES, variable_checks.breakpoint_hook),
    Check("debug-port", "the debug ports of workers", _NODES, debug_port_checks.dead_adapters),
    Check("forked-children", "forked children in breakpoint()", _NODES, debug_port_checks.forked_children),
    Check("other-debugger", "other debuggers", _NODES, debug_port_checks.other_debuggers),
    Check("route", "connections to debug ports", _ASKED, debug_port_checks.routes),
    Check("reach", "workers that call no breakpoint()", _NODES, reach_checks.reach),
    Check("breakpoints", "breakpoints that are not hit", _NODES, breakpoint_checks.breakpoints),
    Check("timeouts", "time limits that expire while a worker is stopped", _ASKED, timeout_checks.timeouts),
)
