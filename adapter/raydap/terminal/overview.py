"""`raydap` without a command: what runs on this machine, and what to do next."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from raydap.bounded_wait import wait_for
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.cluster.dashboard import dashboard_address
from raydap.errors import ProblemError
from raydap.hub import machine_status
from raydap.hub.hub_token import TokenError
from raydap.hub.machine_status import ClusterStatus, MachineStatus, PausedStatus
from raydap.presentation.safe_text import one_line
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.terminal import process_list, screen, status_lines
from raydap.terminal.legacy_listing import LegacyListing
from raydap.terminal.live_session import looking
from raydap.terminal.process_list import PDB, ProcessRow
from raydap.terminal.progress import Progress

PLACES_TIMEOUT_S = 5.0
"""Seconds for a session to report where a cluster's workers wait. Otherwise paused ones are listed without places."""

LEGACY_TIMEOUT_S = 0.5
"""Seconds for Ray to report what waits for its old debugger, counted from when it has listed the workers."""

MAX_ROWS = 10
"""The maximum number of workers that are listed of each cluster."""

READABLE = 50
"""The minimum width, in columns, for a text beside its command. In a narrower terminal the text is below."""

HALTED = ("stopped", "held", "paused", "attaching")
"""The states of workers that do not run."""


@dataclass(frozen=True)
class Overview:
    """What `raydap` shows."""

    found: MachineStatus
    """The hubs, sessions and clusters."""
    waiting: Mapping[str, Sequence[ProcessRow]] = field(default_factory=dict)
    """The workers of each cluster that do not run, by the cluster's dashboard."""


async def show(environ: Mapping[str, str] = os.environ) -> int:
    """Print the overview. Return the exit code."""
    progress = Progress.of_command()
    with progress.during("inspecting this machine"):
        overview = await look(environ)
    write(overview, screen.console(), environ)
    return 0


async def look(environ: Mapping[str, str]) -> Overview:
    """Return the overview. All clusters of this user are queried, each for some seconds at most."""
    found = await machine_status.look(None, environ)
    if not found.clusters and dashboard_address.chosen(None, environ)[1] is None:
        found = msgspec.structs.replace(found, clusters=await machine_status.look_at_default(environ))
    asked = [cluster for cluster in found.clusters if cluster.jobs or cluster.paused]
    rows = await asyncio.gather(*(_waiting(cluster, environ) for cluster in asked))
    return Overview(found, {cluster.dashboard: found for cluster, found in zip(asked, rows, strict=True)})


async def _waiting(cluster: ClusterStatus, environ: Mapping[str, str]) -> list[ProcessRow]:
    """Return the workers that do not run: first the list of a session, then workers that only the dashboard reports."""
    rows: list[ProcessRow] = []
    with suppress(ProblemError, SessionError, TokenError, OSError, asyncio.TimeoutError):
        rows = await wait_for(_with_places(cluster.dashboard, environ), PLACES_TIMEOUT_S)
    return merged(rows, cluster.paused or ())


def merged(rows: Iterable[ProcessRow], paused: Iterable[PausedStatus]) -> list[ProcessRow]:
    """Return the rows, and further rows for the paused workers that are not among them.

    The row of a stuck worker has no place, but a problem.
    """
    stuck = {worker.worker: status_lines.stuck_text(worker) for worker in paused if worker.stuck}
    kept = [_with_problem(row, stuck[row.entry.key]) if row.entry.key in stuck else row for row in rows]
    known = {row.entry.key for row in kept}
    return kept + [_row(worker, stuck.get(worker.worker, "")) for worker in paused if worker.worker not in known]


def _with_problem(row: ProcessRow, problem: str) -> ProcessRow:
    return ProcessRow(msgspec.structs.replace(row.entry, problem=problem), None)


def _row(worker: PausedStatus, problem: str) -> ProcessRow:
    entry = WorkerEntry(
        key=worker.worker,
        name=worker.name,
        title=f"{worker.name or 'worker'} {worker.pid}",
        label=worker.name or "worker",
        where="",
        state="paused",
        age=0.0,
        type="worker",
        pid=worker.pid,
        node=worker.node,
        node_id="",
        job="",
        submission="",
        actor="",
        actor_name="",
        task=worker.name,
        agent=False,
        threads=(),
        problem=problem,
    )
    return ProcessRow(entry, None)


async def _with_places(dashboard: str, environ: Mapping[str, str]) -> list[ProcessRow]:
    """Return the workers that do not run, as a session reports them. Raises what live_session.looking raises."""
    legacy = LegacyListing(environ)
    try:
        # The caller shows progress already.
        async with looking(SessionTarget(dashboard), Progress()) as live:
            legacy.follow(live)
            await live.wait_listed()
            with suppress(asyncio.TimeoutError):
                await wait_for(legacy.looked.wait(), LEGACY_TIMEOUT_S)
            # Do not request the places of running workers: that takes long if there are many.
            wanted = f"state:{','.join(HALTED)}"
            in_pdb = {str(live.workers[each.worker].pid) for each in legacy.breakpoints if each.worker in live.workers}
            if in_pdb:
                wanted += f" or pid:{','.join(sorted(in_pdb))}"
            rows = await process_list.look(live, legacy, wanted, True, process_list.Seen())
            return [row for row in rows if row.state in (*HALTED, PDB)]
    finally:
        await legacy.close()


def write(overview: Overview, console: Console, environ: Mapping[str, str]) -> None:
    """Write the overview to the console, in its width."""
    found = overview.found
    if found.problem is not None:
        console.print(Text(found.problem, "yellow"))
    if not (found.clusters or found.hubs or found.sessions):
        console.print("No Ray cluster, hub or editor session runs on this machine.")
    for number, cluster in enumerate(found.clusters):
        if number == 0:
            console.print(Text("Clusters", "bold"))
        _write_cluster(cluster, overview.waiting.get(cluster.dashboard, ()), console)
    _section("Hubs", map(status_lines.hub_line, found.hubs), console)
    _section("Sessions", map(status_lines.session_line, found.sessions), console)
    source, named = dashboard_address.chosen(None, environ)
    if named is not None:
        console.print(f"{source} is {named}: commands without --dashboard use that cluster.")
    console.print(Text("\nWhat to do next", "bold"))
    steps = list(advice(overview))
    width = max(len(command) for command, _ in steps)
    has_columns = console.width >= width + 4 + READABLE
    for command, text in steps:
        # A command stays on one line, so that it can be pasted.
        if has_columns:
            line = Text.assemble("  ", (command.ljust(width), "green"), "  ", text)
        else:
            line = Text.assemble("  ", (command, "green"), f"\n    {text}")
        console.print(line, soft_wrap=True)
    console.print(Text.assemble("\n", ("raydap --help", "green"), " lists all commands."))


def _section(title: str, lines: Iterable[str], console: Console) -> None:
    for number, line in enumerate(lines):
        if number == 0:
            console.print(Text(title, "bold"))
        _print_indented(Text(line), 2, console)


def _write_cluster(cluster: ClusterStatus, rows: Sequence[ProcessRow], console: Console) -> None:
    _print_indented(Text(status_lines.cluster_line(cluster)), 2, console)
    if cluster.problem is not None:
        _print_indented(Text(one_line(cluster.problem), "yellow"), 4, console)
    found = process_list.folded(rows)
    if found:
        _print_indented(process_list.as_table(found[:MAX_ROWS], console.width - 4), 4, console)
    if len(found) > MAX_ROWS:
        console.print(f"    and {sum(len(each.rows) for each in found[MAX_ROWS:])} more workers")


def _print_indented(what: Text | Table, columns: int, console: Console) -> None:
    """Print text or a table with an indentation, which also applies to the continuations of long lines."""
    console.print(Padding(what, (0, 0, 0, columns), expand=False), soft_wrap=False)


def advice(overview: Overview) -> Iterator[tuple[str, str]]:
    """Yield commands to paste, each with its purpose. The most useful come first."""
    ours = [cluster for cluster in overview.found.clusters if cluster.ours]
    is_idle = True
    for cluster in ours:
        # With several clusters, each command must name its cluster.
        which = f" --dashboard {cluster.dashboard}" if len(ours) > 1 else ""
        if cluster.problem is not None:
            yield f"raydap doctor{which}", "find out what is wrong"
            continue
        rows = overview.waiting.get(cluster.dashboard, ())
        paused = sum(row.state == "paused" and not row.entry.problem for row in rows)
        in_pdb = sum(row.state == PDB for row in rows)
        stopped = sum(row.state in ("stopped", "held") for row in rows)
        if paused:
            who = "the worker" if paused == 1 else f"the {paused} workers"
            yield f"raydap debug{which}", f"debug {who} at breakpoint() in this terminal"
        if in_pdb:
            yield f"raydap debug{which}", "use its command `pdb` to join the workers that wait for Ray's old debugger"
        if stopped:
            yield f"raydap stacks 'state:stopped,held'{which}", "print the stacks of the stopped workers as one tree"
        if cluster.jobs or rows:
            is_idle = False
            yield f"raydap ps{which}", "list the workers and where they are"
            yield f"raydap hang{which}", "print what each worker waits for, if nothing progresses"
    if is_idle:
        yield "raydap run program.py", "run a program that can be debugged at any time"
        yield "raydap debug program.py", "run it in the debugger, in this terminal"
    yield "F5 in an editor", "debug with breakpoints beside the lines, in VS Code, Neovim or Emacs"
