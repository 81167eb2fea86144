"""The text of `raydap status`: a line for each hub, session and cluster."""

from raydap.cluster.dashboard.local_clusters import minute
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, PausedStatus, SessionStatus
from raydap.presentation.numbers import counted
from raydap.presentation.safe_text import one_line


def render(found: MachineStatus) -> str:
    """Return the status as text."""
    lines = [one_line(found.problem)] if found.problem is not None else []
    lines += _section("Hubs", [hub_line(hub) for hub in found.hubs])
    lines += _section("Sessions", [session_line(session) for session in found.sessions])
    lines += _section("Clusters", [line for cluster in found.clusters for line in _cluster(cluster)])
    return "\n".join(lines)


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines or ["none"])]


def hub_line(hub: HubStatus) -> str:
    """Return a hub's address, process, clients, and the clusters that it debugs."""
    words = [f"pid {hub.pid}" if hub.pid is not None else "on another machine"]
    if hub.started is not None:
        words.append(f"since {minute(hub.started)}")
    if hub.clients is not None:
        words.append(counted(hub.clients, "client") if hub.clients else "no clients")
    if hub.forwarded is not None:
        words.append("its port is forwarded" if hub.forwarded else "nothing forwards its port")
    return one_line(f"{hub.url}  {_joined(words, hub.debugs)}")


def session_line(session: SessionStatus) -> str:
    """Return a session's process, command, parent, and the clusters and hubs that it is connected to."""
    words = [f"started by {session.parent}" if session.parent else "", f"since {minute(session.started)}"]
    what = _joined([word for word in words if word], session.debugs)
    return one_line(f"pid {session.pid}  raydap {session.command}, {what}")


def _cluster(cluster: ClusterStatus) -> list[str]:
    lines = [cluster_line(cluster)]
    if cluster.problem is not None:
        lines.append(f"  {one_line(cluster.problem)}")
    return lines + [f"  {_paused(worker)}" for worker in cluster.paused or ()]


def cluster_line(cluster: ClusterStatus) -> str:
    """Return a cluster's dashboard, owner and jobs, and the number of its paused workers."""
    words = [f"by {cluster.owner}"] if cluster.owner is not None else []
    if cluster.started is not None:
        words.append(f"since {minute(cluster.started)}")
    if not cluster.ours:
        words.append("not inspected")
    if cluster.jobs is not None:
        words.append(f"runs {', '.join(cluster.jobs)}" if cluster.jobs else "no job runs")
    if cluster.paused is not None:
        words.append(counted(len(cluster.paused), "paused worker") if cluster.paused else "no paused workers")
    return one_line(f"{cluster.dashboard}  {', '.join(words)}".rstrip())


def _paused(worker: PausedStatus) -> str:
    line = one_line(f"{worker.name or 'worker'}  pid {worker.pid} on {worker.node}")
    return f"{line}, {stuck_text(worker)}" if worker.stuck else line


def stuck_text(worker: PausedStatus) -> str:
    """Return why a stuck worker waits forever, and what the user can do."""
    return f"stuck: nothing listens at its debug port {worker.port}; restart its task, actor or job"


def _joined(words: list[str], debugs: list[str]) -> str:
    return ", ".join([*words, f"debugs {' and '.join(debugs)}"] if debugs else words)
