"""`raydap status`: what raydap knows of this machine and user."""

import asyncio
import os

import click
import msgspec

from raydap.cli import options
from raydap.cluster.local_clusters import minute
from raydap.hub import machine_status
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, PausedStatus, SessionStatus


@click.command()
@options.dashboard
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def status(dashboard: str | None, as_json: bool) -> None:
    """Show the hubs, sessions and clusters of this machine that are yours, and their paused workers.

    Clusters of other users are listed, and not asked. A worker is stuck if nothing listens at its debug port.
    """
    found = asyncio.run(machine_status.look(dashboard, os.environ))
    click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() if as_json else render(found))


def render(found: MachineStatus) -> str:
    """The status as text."""
    lines = [found.problem] if found.problem is not None else []
    lines += _section("Hubs", [_hub(hub) for hub in found.hubs])
    lines += _section("Sessions", [_session(session) for session in found.sessions])
    lines += _section("Clusters", [line for cluster in found.clusters for line in _cluster(cluster)])
    return "\n".join(lines)


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines or ["none"])]


def _hub(hub: HubStatus) -> str:
    words = [f"pid {hub.pid}" if hub.pid is not None else "on another machine"]
    if hub.started is not None:
        words.append(f"since {minute(hub.started)}")
    if hub.clients is not None:
        words.append(_count(hub.clients, "client"))
    if hub.forwarded is not None:
        words.append("its port is forwarded" if hub.forwarded else "nothing forwards its port")
    return f"{hub.url}  {_joined(words, hub.debugs)}"


def _session(session: SessionStatus) -> str:
    words = [f"started by {session.parent}" if session.parent else "", f"since {minute(session.started)}"]
    return f"pid {session.pid}  raydap {session.command}, {_joined([word for word in words if word], session.debugs)}"


def _cluster(cluster: ClusterStatus) -> list[str]:
    words = [f"by {cluster.owner}"] if cluster.owner is not None else []
    if cluster.started is not None:
        words.append(f"since {minute(cluster.started)}")
    if not cluster.ours:
        words.append("not asked")
    if cluster.jobs is not None:
        words.append(f"runs {', '.join(cluster.jobs)}" if cluster.jobs else "no job runs")
    if cluster.paused is not None:
        words.append(_count(len(cluster.paused), "paused worker"))
    lines = [f"{cluster.dashboard}  {', '.join(words)}".rstrip()]
    if cluster.problem is not None:
        lines.append(f"  {cluster.problem}")
    return lines + [f"  {_paused(worker)}" for worker in cluster.paused or ()]


def _paused(worker: PausedStatus) -> str:
    line = f"{worker.name or 'worker'}  pid {worker.pid} on {worker.node}"
    if worker.stuck:
        line += f", stuck: nothing listens at its debug port {worker.port}; restart its task, actor or job"
    return line


def _joined(words: list[str], debugs: list[str]) -> str:
    return ", ".join([*words, f"debugs {' and '.join(debugs)}"] if debugs else words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"
