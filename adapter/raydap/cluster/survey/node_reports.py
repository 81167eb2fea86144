"""Reports about the nodes of a cluster: their types, and two ways to get them from node_survey.py.

`ask_nodes` queries each node through Ray, in a process of its own. `ask_here` inspects nodes on this machine without
Ray.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from raydap.cluster.ray_process.ray_query import driver_environment, query
from raydap.cluster.survey import node_survey
from raydap.core.process_info import ForkedWaits

ASK_TIMEOUT_S = 75.0
"""Seconds for all nodes: the time to join the cluster, and survey_process.NODE_TIMEOUT_S."""


class DebugPortPeer(msgspec.Struct, frozen=True):
    """The other end of a connection to a debug port."""

    host: str
    """The address of the other end, as the node sees it."""
    pid: int = 0
    """The process there; 0 if it is on another machine, or belongs to another user."""
    command: str = ""
    """The command line of this process, at most 300 characters; "" without `pid`."""


class PortReport(msgspec.Struct, frozen=True):
    """A debug port."""

    listens: bool
    """Whether a process listens there."""
    peers: tuple[DebugPortPeer, ...] = ()
    """The other ends of the connections to it."""


class FoundFile(msgspec.Struct, frozen=True):
    """A place where a process may have a file of the user."""

    path: str
    """The file's path on the node of the process."""
    same: bool
    """Whether the file there has the same content."""


class EnvironmentReport(msgspec.Struct, frozen=True):
    """A Python and its packages."""

    python: str = ""
    """Its version."""
    ray: str = ""
    """The version of Ray; "" if it cannot be imported."""
    debugpy: str = ""
    """The version of debugpy; "" if it cannot be imported."""
    path: tuple[str, ...] = ()
    """Its `sys.path`."""
    problem: str = ""
    """Why it did not answer; "" if it did."""


class ProcessReport(msgspec.Struct, frozen=True):
    """A worker or driver."""

    visible: bool
    """Whether its node can read it in /proc. Otherwise all other fields are unknown."""
    cwd: str = ""
    """Its working directory."""
    script: str = ""
    """The program of a driver; "" if it is not known."""
    python: str = ""
    """A key of NodeReport.environments; "" if its Python is not known."""
    agent: bool = False
    """Whether it has an agent."""
    preparation: str = ""
    """How its environment prepares it: a result of node_survey.preparation."""
    variables: dict[str, str] = {}
    """The variables that matter, of the environment with which it began. Only some have their values; those of others
    are ""."""
    libraries: tuple[str, ...] = ()
    """The libraries that it has loaded, of "torch", "nccl" and "debugpy"."""
    files: dict[str, tuple[FoundFile, ...]] = {}
    """For each file in the question, the places where it may lie for this process."""
    gdb_obstacle: str = ""
    """Why gdb cannot work in it; "" if no obstacle is known."""
    port: PortReport | None = None
    """Its debug port; None without one, or if the system does not list sockets."""


class NodeReport(msgspec.Struct, frozen=True):
    """A node, its Pythons and its processes."""

    user: str
    """The name of the user whose process has made the report."""
    machine: str
    """The machine type, such as x86_64 (platform.machine)."""
    gdb: str
    """The version of gdb; "" without gdb."""
    has_amx: bool
    """Whether the processor has AMX, with which gdb before 14 fails."""
    may_trace: bool
    """Whether the process that has made the report has the capability SYS_PTRACE."""
    ptrace_scope: str
    """The value of kernel.yama.ptrace_scope; "" without it."""
    gdb_obstacle: str
    """Why gdb cannot work on the node; "" if no obstacle is known."""
    python: str
    """The Python that workers run."""
    external_debugger: bool
    """Whether the raylet was started with --ray-debugger-external."""
    variables: dict[str, str]
    """The variables of the raylet, as in ProcessReport."""
    environments: dict[str, EnvironmentReport]
    """The Pythons of the processes, by their paths."""
    processes: dict[str, ProcessReport]
    """The processes, by the keys in the question."""
    route: str | None = None
    """Why raydap's machine reaches no port there directly; "" if it does, None if that was not tried."""
    forked_waits: ForkedWaits = ForkedWaits()
    """The forked children of these processes that wait in breakpoint()."""


Answers = tuple[dict[str, NodeReport], dict[str, str]]
"""The reports of nodes, and the reasons why other nodes gave none, by Ray's ids of the nodes."""


async def ask_nodes(session: str, questions: Mapping[str, Mapping[str, Any]], environ: Mapping[str, str]) -> Answers:
    """Query nodes through Ray. The questions are those of node_survey.report without the session.

    A node of the cluster must be on this machine, and this machine's Ray and Python must be those of the cluster.
    Raises QueryFailed with the reason if the cluster cannot be joined, and OSError.
    """
    question = {"session": session, "nodes": questions}
    return _read(await query("survey", question, driver_environment(environ), ASK_TIMEOUT_S))


async def ask_here(session: str, questions: Mapping[str, Mapping[str, Any]]) -> Answers:
    """Inspect nodes of this machine. Raises nothing."""
    answers = await asyncio.gather(
        *(asyncio.to_thread(node_survey.report, {"session": session, **question}) for question in questions.values()),
        return_exceptions=True,
    )
    pairs = zip(questions, answers, strict=True)
    return _read({key: one if isinstance(one, dict) else {"error": repr(one)} for key, one in pairs})


def _read(answers: Mapping[str, Any]) -> Answers:
    reports, reasons = {}, {}
    for node_id, answer in answers.items():
        if "error" in answer:
            reasons[node_id] = str(answer["error"])
            continue
        try:
            reports[node_id] = msgspec.convert(answer, NodeReport)
        except msgspec.ValidationError as error:
            reasons[node_id] = f"its answer cannot be read ({error})"
    return reports, reasons
