"""Checks of the debug ports of workers, and of forked children, which have no debug port.

Never connect to a debug port to check it: debugpy accepts one client, and a dropped connection ends the debugger. The
checks use the list of sockets of the worker's node instead.
"""

import os
from collections.abc import Iterator

from raydap.cluster.survey.node_reports import DebugPortPeer
from raydap.core.workers import forked_waits
from raydap.doctor.facts import Facts, ListedWorker, names
from raydap.doctor.finding import Finding, error, note, ok, warning


def dead_adapters(facts: Facts) -> Iterator[Finding]:
    """Check whether a debugger listens at the debug port of each worker that has one."""
    looked_at = [(one, report.port) for one, report in facts.processes() if report.port is not None]
    for one, port in looked_at:
        if port.listens:
            continue
        restart = "No debugger can attach to it any more. If its process is killed, Ray runs a task again, and an "
        restart += "actor if its max_restarts allows that."
        if one.paused:
            what = f"{one} waits for a debugger, but nothing listens at its debug port {one.worker.port}: "
            yield error(f"{what}debugpy's adapter has died.", restart, _kill(one), str(one))
        else:
            what = f"{one} runs, but nothing listens at its debug port {one.worker.port}."
            why = "Its next breakpoint() waits forever. If a raydap was attached, the worker listens again in seconds."
            yield warning(what, why, _kill(one), str(one))
    if all(port.listens for _, port in looked_at):
        some = "A process listens at the debug port of each worker that has one."
        yield ok(some if looked_at else "No worker has a debug port.")


def forked_children(facts: Facts) -> Iterator[Finding]:
    """Check whether forked children wait in breakpoint()."""
    readable = True
    waits = 0
    for node_id, report in facts.reports.items():
        parents = {one.worker.pid: one for one in facts.workers if one.worker.node_id == node_id}
        for wait in report.forked_waits.waits:
            waits += 1
            parent = parents[wait.parent]
            where = f"{wait.function} ({os.path.basename(wait.path)}:{wait.line})"
            what = f"Process {wait.pid}, a forked child of {parent}, waits at breakpoint() in {where}."
            yield error(what, forked_waits.WHAT_TO_DO, "raydap debug PROGRAM.py", str(parent))
        if report.forked_waits.problem:
            readable = False
            node = facts.node(node_id)
            what = f"Forked children of workers on {node} could not be inspected ({report.forked_waits.problem})."
            yield note(what, "A forked child that waits in breakpoint() would not be listed.", "", node)
    if readable and not waits:
        yield ok("No forked child of a worker waits in breakpoint().")


def other_debuggers(facts: Facts) -> Iterator[Finding]:
    """Check which processes are connected to debug ports. Connections of raydap are reported, too."""
    held = [(one, peer) for one, report in facts.processes() if report.port for peer in report.port.peers]
    ours = [one for one, peer in held if _is_raydap(peer)]
    for one, peer in held:
        if one in ours:
            continue
        who = _name(peer)
        if one.paused:
            what = f"{one} waits for a debugger, although {who} is connected to its debug port {one.worker.port}."
            why = "The connected process does not attach, and no other debugger can connect. End that process."
        else:
            what = f"{one} has another debugger: {who} is connected to its debug port {one.worker.port}."
            why = "A worker can have only one debugger, so raydap attaches when that session has ended."
        yield warning(what, why, f"kill {peer.pid}" if peer.pid else "", str(one))
    if ours:
        yield ok(f"raydap is attached to {names(ours)}.")
    for session in facts.sessions:
        yield ok(f"raydap {session.command} (pid {session.pid}) debugs this cluster.")
    if not held:
        yield ok("No debugger is connected to a worker.")


def routes(facts: Facts) -> Iterator[Finding]:
    """Check whether this machine reaches debug ports, by connections to other ports of the same nodes."""
    exact = {node_id for node_id, report in facts.reports.items() if report.route is not None}
    reached = [facts.node(node_id) for node_id, reason in facts.routes.items() if not reason]
    for node_id, reason in facts.routes.items():
        if not reason:
            continue
        what = f"This machine cannot reach the debug ports of {facts.node(node_id)} ({reason})."
        if facts.local_nodes:
            yield note(what, "raydap connects to them through Ray instead (the relay).", subject=facts.node(node_id))
        else:
            why = "From here raydap cannot attach to workers that wait there. A hub on a node of the cluster can."
            yield error(what, why, f"raydap up --dashboard {facts.dashboard}", facts.node(node_id))
    if reached and exact:
        yield ok(f"This machine reaches ephemeral ports of {names(reached)}; debug ports are ephemeral ports, too.")
    elif reached:
        what = f"This machine reaches {names(reached)} at Ray's own port."
        why = "raydap does not try the debug ports, because a connection to one would end the debugger there."
        yield note(what, why) if not facts.local_nodes else ok(what)


def _is_raydap(peer: DebugPortPeer) -> bool:
    """Return whether the peer is a raydap, or raydap's actor on the node."""
    words = peer.command.split()
    return "RaydapRelay" in peer.command or any(os.path.basename(word) == "raydap" for word in words[:4])


def _name(peer: DebugPortPeer) -> str:
    if not peer.pid:
        return f"a process of {peer.host}"
    return f"{peer.command[:80]} (pid {peer.pid})"


def _kill(one: ListedWorker) -> str:
    """Return the command that ends the worker, to be run on its node."""
    return f"kill {one.worker.pid}"
