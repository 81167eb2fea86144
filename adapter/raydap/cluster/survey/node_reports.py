"""What the nodes of a cluster say of themselves: the types, and the two ways to ask (node_survey.py gives the answers).

`ask_nodes` asks each node through Ray, in a process of its own. `ask_here` looks at nodes on this machine without Ray.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from raydap.cluster.ray_process.ray_query import driver_environment, query
from raydap.cluster.survey import node_survey
from raydap.core.events import ForkedWaits

ASK_TIMEOUT_S = 75.0
"""Seconds for all nodes: to join the cluster, and survey_process.NODE_TIMEOUT_S."""


class Peer(msgspec.Struct, frozen=True):
    """Who is connected to a debug port. `pid` and `command` are known of processes of the same machine and user."""

    host: str
    pid: int = 0
    command: str = ""


class PortReport(msgspec.Struct, frozen=True):
    listens: bool
    peers: tuple[Peer, ...] = ()


class FoundFile(msgspec.Struct, frozen=True):
    """A file of the user as a process may have it. `same`: it has the same content."""

    path: str
    same: bool


class EnvironmentReport(msgspec.Struct, frozen=True):
    """A Python: its version, and those of packages, "" for one that cannot be imported. `path` is its `sys.path`.
    `problem` says why it did not answer."""

    python: str = ""
    ray: str = ""
    debugpy: str = ""
    path: tuple[str, ...] = ()
    problem: str = ""


class ProcessReport(msgspec.Struct, frozen=True):
    """A worker or driver. Nothing else is known of one that is not `visible`. `script` is a driver's program, `python`
    a key of NodeReport.environments, or "". `variables` are those of its beginning, with some values. `libraries` are
    those of "torch", "nccl" and "debugpy" that it has loaded. `files` are, for each file that was asked for, the places
    where it may lie for this process. `gdb_obstacle` says why gdb cannot work in it. `port` is None without one."""

    visible: bool
    cwd: str = ""
    script: str = ""
    python: str = ""
    agent: bool = False
    #: How its environment prepares it: a result of node_survey.preparation.
    preparation: str = ""
    variables: dict[str, str] = {}
    libraries: tuple[str, ...] = ()
    files: dict[str, tuple[FoundFile, ...]] = {}
    gdb_obstacle: str = ""
    port: PortReport | None = None


class NodeReport(msgspec.Struct, frozen=True):
    """A node. `gdb` is its version, "" without; `gdb_obstacle` says why it cannot work. `python` is what workers run,
    `variables` those of the raylet, `external_debugger` its --ray-debugger-external. `route`: "" if raydap's machine
    reaches a port there directly, else why not; None if that was not tried. `forked_waits` are the forked children of
    these processes that wait in breakpoint()."""

    user: str
    machine: str
    gdb: str
    has_amx: bool
    may_trace: bool
    ptrace_scope: str
    gdb_obstacle: str
    python: str
    external_debugger: bool
    variables: dict[str, str]
    environments: dict[str, EnvironmentReport]
    processes: dict[str, ProcessReport]
    route: str | None = None
    forked_waits: ForkedWaits = ForkedWaits()


Answers = tuple[dict[str, NodeReport], dict[str, str]]
"""The reports of nodes, and the reasons why others gave none, by Ray's ids of the nodes."""


async def ask_nodes(session: str, questions: Mapping[str, Mapping[str, Any]], environ: Mapping[str, str]) -> Answers:
    """Asks through Ray. The questions are those of node_survey.report without the session.

    Takes a node of the cluster on this machine, and this machine's Ray and Python have to be those of the cluster.
    Raises QueryFailed with the reason if the cluster cannot be joined, and OSError.
    """
    question = {"session": session, "nodes": questions}
    return _read(await query("survey", question, driver_environment(environ), ASK_TIMEOUT_S))


async def ask_here(session: str, questions: Mapping[str, Mapping[str, Any]]) -> Answers:
    """Looks at nodes of this machine. Raises nothing."""
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
