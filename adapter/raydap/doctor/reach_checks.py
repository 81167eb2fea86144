"""What raydap reaches of workers that wait at no breakpoint(): those with an agent, and others by `"reach": "any"`."""

from collections.abc import Iterator

from raydap.cluster.survey.node_reports import NodeReport
from raydap.doctor.facts import Facts, count, names
from raydap.doctor.finding import Finding, note, ok

_FIRST_GDB_WITH_AMX = 14

_COMMANDS = (
    ("not installed", "apt-get install gdb"),
    ("ptrace_scope", "sudo sysctl kernel.yama.ptrace_scope=0"),
    ("SYS_PTRACE", "docker run --cap-add=SYS_PTRACE ..."),
)


def reach(facts: Facts) -> Iterator[Finding]:
    processes = list(facts.processes())
    without = [one for one, report in processes if not report.agent and not one.paused]
    if without:
        what = f"{len(without)} of {count(len(processes), 'process')} have no agent: {names(without)}."
        why = 'Breakpoints of your editor stop these only if they call breakpoint(), or with "reach": "any". '
        why += "A program that `raydap run` starts has agents."
        yield note(what, why, "raydap run PROGRAM.py")
    elif processes:
        yield ok("Every worker has an agent, or waits at a breakpoint().")
    obstacles: dict[str, list[str]] = {}
    for node_id, report in facts.reports.items():
        node = facts.node(node_id)
        obstacles.setdefault(gdb_obstacle(report).replace(node, "the node"), []).append(node)
    for obstacle, nodes in obstacles.items():
        if not obstacle:
            yield ok(f'With "reach": "any" raydap gets into all workers on {names(nodes)}, by gdb if need be.')
            continue
        what = f'gdb cannot help "reach": "any" on {names(nodes)}: {obstacle}.'
        why = "Without gdb raydap reaches idle and asynchronous actors there, but no busy worker."
        command = next((command for part, command in _COMMANDS if part in obstacle), "")
        yield note(what, why, command, nodes[0])


def gdb_obstacle(report: NodeReport) -> str:
    """Why gdb cannot work on a node, "" if nothing is known to be in its way."""
    if report.gdb_obstacle or not report.has_amx:
        return report.gdb_obstacle
    major = report.gdb.partition(".")[0]
    if major.isdigit() and int(major) < _FIRST_GDB_WITH_AMX:
        return f"its processor has AMX, whose registers gdb {report.gdb} cannot write; gdb 14 can"
    return ""
