"""Checks which workers raydap reaches without a breakpoint(): by their agents, or with `"reach": "any"`."""

from collections.abc import Iterator

from raydap.cluster.survey.node_reports import NodeReport, ProcessReport
from raydap.doctor.facts import Facts, ListedWorker, names
from raydap.doctor.finding import Finding, note, ok, warning
from raydap.presentation.numbers import counted

_FIRST_GDB_WITH_AMX = 14

_COMMANDS = (
    ("not installed", "apt-get install gdb"),
    ("ptrace_scope", "sudo sysctl kernel.yama.ptrace_scope=0"),
    ("SYS_PTRACE", "docker run --cap-add=SYS_PTRACE ..."),
)


_REASONS = {
    "launched": "raydap has launched the program",
    "run": "`raydap run` has started the program, or it has the variables of `raydap prepare`",
    "child": "a process with an agent has started the program",
    "cluster": "the cluster was started with the variables of `raydap prepare`",
    "hook": "the program was launched by raydap, or by `raydap run`",
    "": 'a session with "reach": "any" has started the agent while the worker ran',
}
"""Reasons why a process has an agent, by the `preparation` in its report."""


def reach(facts: Facts) -> Iterator[Finding]:
    """Check which workers have an agent, and which nodes let raydap attach to workers without one."""
    processes = list(facts.processes())
    yield from _agents(processes)
    free = {"off", "hidden"}
    without = [one for one, report in processes if not (report.agent or one.paused or report.preparation in free)]
    if without:
        what = f"{len(without)} of {counted(len(processes), 'process')} have no agent: {names(without)}."
        why = 'Breakpoints in your editor stop these only after they call breakpoint(), or with "reach": "any". '
        why += "A program that `raydap run` starts has agents."
        yield note(what, why, "raydap run PROGRAM.py")
    elif processes and not free & {report.preparation for _, report in processes if not report.agent}:
        yield ok("Every worker has an agent, or waits at a breakpoint().")
    obstacles: dict[str, list[str]] = {}
    for node_id, report in facts.reports.items():
        node = facts.node(node_id)
        obstacles.setdefault(gdb_obstacle(report).replace(node, "the node"), []).append(node)
    for obstacle, nodes in obstacles.items():
        if not obstacle:
            yield ok(f'With "reach": "any" raydap can attach to all workers on {names(nodes)}, with gdb if necessary.')
            continue
        what = f'"reach": "any" cannot use gdb on {names(nodes)}: {obstacle}.'
        why = "Without gdb raydap reaches idle and asynchronous actors there, but no busy workers."
        command = next((command for part, command in _COMMANDS if part in obstacle), "")
        yield note(what, why, command, nodes[0])


def _agents(processes: list[tuple[ListedWorker, ProcessReport]]) -> Iterator[Finding]:
    """Check which processes have an agent, and which cannot have one, each with the reason."""
    found: dict[tuple[bool, str], list[ListedWorker]] = {}
    for one, report in processes:
        found.setdefault((report.agent, report.preparation), []).append(one)
    for (has_agent, preparation), members in found.items():
        if has_agent:
            yield ok(f"With an agent, because {_REASONS.get(preparation, _REASONS[''])}: {names(members)}.")
        elif preparation == "off":
            what = f"Without an agent, because RAYDAP=off is in the environment: {names(members)}."
            why = 'Breakpoints in your editor stop these only after they call breakpoint(), even with "reach": "any".'
            yield note(what, why, "unset RAYDAP")
        elif preparation == "hidden":
            what = f"Without an agent, because the hook of the prepared cluster was not found: {names(members)}."
            why = (
                "Their own PYTHONPATH, or a container, hides the hook's folder, so these workers are not prepared. Add "
            )
            why += "the folder that `raydap prepare` prints to that PYTHONPATH."
            yield warning(what, why, "raydap prepare")


def gdb_obstacle(report: NodeReport) -> str:
    """Return why gdb cannot work on a node, "" if no obstacle is known."""
    if report.gdb_obstacle or not report.has_amx:
        return report.gdb_obstacle
    major = report.gdb.partition(".")[0]
    if major.isdigit() and int(major) < _FIRST_GDB_WITH_AMX:
        return f"its processor has AMX, whose registers gdb {report.gdb} cannot write; gdb 14 can"
    return ""
