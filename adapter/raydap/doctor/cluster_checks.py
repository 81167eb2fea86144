"""Checks whether the cluster answers: its dashboard, its token, its node on this machine, and all of its nodes."""

from collections.abc import Iterator

from raydap.doctor.facts import Facts, names
from raydap.doctor.finding import Finding, error, note, ok, warning
from raydap.errors import Code, sentence
from raydap.presentation.numbers import counted

_TOKEN = (Code.TOKEN_WANTED, Code.TOKEN_REFUSED)

_COMMANDS = {
    Code.NO_CLUSTER: "ray start --head",
    Code.DASHBOARD_UNREACHABLE: "ray status --address HOST:6379",
    Code.DASHBOARD_GARBAGE: "raydap doctor --dashboard http://HOST:8265",
    Code.CLUSTER_NOT_NAMED: "raydap doctor --dashboard URL",
    Code.BAD_ARGUMENT: "raydap doctor --dashboard http://HOST:8265",
}


def dashboard(facts: Facts) -> Iterator[Finding]:
    """Check whether a Ray dashboard answers. The check `token` reports a dashboard that requires a token."""
    problem = facts.problem
    if problem is not None and problem.code not in _TOKEN:
        why = "raydap finds the workers through the dashboard."
        yield error(problem.text, why, _COMMANDS.get(problem.code, ""), facts.dashboard)
    elif problem is None:
        drivers = sum(one.worker.worker_type == "DRIVER" for one in facts.workers)
        yield ok(
            f"The dashboard at {facts.dashboard} answers: Ray {facts.ray_version or 'of unknown version'}, "
            f"{counted(len(facts.nodes), 'node')}, {counted(drivers, 'driver')}, "
            f"{counted(len(facts.workers) - drivers, 'worker')}, {len(facts.paused())} of them paused."
        )


def token(facts: Facts) -> Iterator[Finding]:
    """Check whether the cluster accepts raydap's token, or requires none."""
    problem = facts.problem
    if problem is not None and problem.code is Code.TOKEN_WANTED:
        why = "Without it raydap cannot query the cluster. `ray get-auth-token` on its head node prints the token."
        yield error(problem.text, why, "export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=TOKEN", facts.dashboard)
    elif problem is not None and problem.code is Code.TOKEN_REFUSED:
        why = (
            "It may be another cluster's token. `ray get-auth-token` on this cluster's head node prints the right one."
        )
        yield error(problem.text, why, "export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=TOKEN", facts.dashboard)
    elif problem is None:
        yield ok("The cluster accepts the token." if facts.sends_token else "The cluster requires no token.")


def local_node(facts: Facts) -> Iterator[Finding]:
    """Check whether a node of the cluster runs on this machine."""
    if facts.local_nodes:
        yield ok("A node of the cluster runs on this machine, so raydap can reach all others through Ray.")
        return
    why = (
        "From here raydap reaches only workers that wait at a breakpoint(), and only if the network lets it connect to "
        "their ports. A hub on a node of the cluster reaches all workers, and your editor needs only the hub's port."
    )
    yield warning("No node of the cluster runs on this machine.", why, f"raydap up --dashboard {facts.dashboard}")


def nodes(facts: Facts) -> Iterator[Finding]:
    """Check which nodes gave no report, and which processes could not be inspected."""
    if facts.reports:
        yield ok(f"{sentence(counted(len(facts.reports), 'node'))} reported processes and versions.")
    for node_id, reason in facts.unreported.items():
        why = "The findings about workers, versions and gdb do not include this node."
        yield note(f"Node {facts.node(node_id)} gave no report: {reason}.", why, subject=facts.node(node_id))
    unseen = [one for one in facts.workers if one.worker.node_id in facts.reports and facts.process(one) is None]
    if unseen:
        what = f"{sentence(counted(len(unseen), 'process'))} could not be inspected: {names(unseen)}."
        yield note(what, "They have just ended, run in containers of their own, or belong to another user.")
