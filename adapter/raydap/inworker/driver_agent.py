"""The start of an agent in a process of Ray, and a driver's report of its cluster; runs there.

raydap can debug a worker before its first task. It can debug a driver once the driver has joined a cluster, and before
its first line if the program waits for a raydap.
"""

import os
import socket
import sys
import time
from typing import Any

from .actor_threads import trace_actor_threads
from .agent import CALL_TIMEOUT_S, CONFIGURED_TIMEOUT_S, VERSION, Agent, start, start_without_socket
from .agent_children import configure
from .agent_lines import write_line
from .private_sockets import peer_is_trusted
from .raydap_calls import call_raydaps, raydaps_in, skip_post_mortem_alone

WAIT_INTERVAL_S = 0.2
"""Seconds between two attempts of a waiting program to call a raydap."""

TAKEN_TIMEOUT_S = 2.0
"""Seconds for raydap's first byte after a report (report_cluster)."""

NODES_TIMEOUT_S = 5.0
"""Seconds until a program continues, although raydap does not accept calls of workers on all nodes yet. A relay starts
in 2 s (measured)."""


def wait_for_raydap(folder: str, identity: dict[str, Any]) -> str:
    """Wait until a raydap debugs this process and has set its breakpoints; return that raydap's path.

    `folder` is the user's own, because it is not known yet which cluster the program joins.
    """
    agent = start_without_socket(folder, {**identity, "waits": True})

    def call(path: str) -> bool:
        try:
            return agent.call(path)
        except OSError:
            # Leave the socket: machines may share the folder, and a socket of another machine refuses calls, too.
            return False

    while not (raydap := call_raydaps(call, folder)):
        time.sleep(WAIT_INTERVAL_S)
    agent.raydap = raydap
    return raydap


def join_session() -> None:
    """Start the driver's agent beside the agents of its workers, when `ray.init` has joined a cluster."""
    import ray

    worker: Any = ray._private.worker.global_worker
    if worker.mode != ray.SCRIPT_MODE:
        return  # A client of `ray://` has no session on this machine.
    start_beside_ray("DRIVER", "")


def joined_cluster() -> str:
    """Return the URL of the dashboard of the cluster that this driver has joined, or its GCS as `host:port`.

    Return "" in a client of `ray://`, which has no session on this machine.
    """
    import ray

    worker: Any = ray._private.worker.global_worker
    if worker.mode != ray.SCRIPT_MODE:
        return ""
    dashboard = worker.node.webui_url
    return f"http://{dashboard}" if dashboard else str(worker.gcs_client.address)


def call_again(agent: Agent | None) -> None:
    """Call the raydaps of the cluster, because one has begun to debug it since this driver joined.

    Return when the breakpoints are set. That raydap may have found this driver already.
    """
    session = None if agent is None else agent.session
    if session is not None:
        session.configured.wait(CONFIGURED_TIMEOUT_S)
    elif agent is not None:
        call_raydaps(agent.call, agent.folder)


def start_in_worker(raydap: str, settings: dict[str, Any]) -> None:
    """Start the agent of a Ray worker. `raydap` is as in `start`, and `settings` are those of agent_children.py."""
    configure(settings)
    try:
        trace_actor_threads()
    except Exception as error:
        sys.stderr.write(f"raydap cannot stop idle threads of threaded actors in this worker: {error!r}\n")
    folder = start_beside_ray("WORKER", raydap)
    if raydap:
        skip_post_mortem_alone(raydap, folder)


def start_beside_ray(worker_type: str, raydap: str) -> str:
    """Start the agent of a process of Ray; return the folder of its socket and of Ray's own.

    `raydap` is as in `start`.
    """
    import ray

    worker: Any = ray._private.worker.global_worker
    context = ray.get_runtime_context()
    identity = {
        "worker_id": context.get_worker_id(),
        "node_id": context.get_node_id(),
        "node_ip": worker.node_ip_address,
        "worker_type": worker_type,
    }
    folder = os.path.join(worker.node.get_session_dir_path(), "sockets")
    start(folder, identity, raydap)
    return folder


def report_cluster(raydap: str) -> None:
    """Report the cluster that this driver has joined to the raydap at this path.

    If the path is "", report it to each raydap that debugs the cluster. If the cluster has several nodes, return when
    all these raydaps accept calls of workers on other nodes, or after NODES_TIMEOUT_S. Otherwise the first workers
    would not have the breakpoints in time.

    A raydap that is not ready sends a byte at once, and closes the connection when it accepts these calls. A raydap
    that hangs sends no byte, and delays the driver only by TAKEN_TIMEOUT_S.
    """
    import ray

    worker: Any = ray._private.worker.global_worker
    if worker.mode != ray.SCRIPT_MODE:
        return
    nodes = sum(bool(node["Alive"]) for node in ray.nodes())
    if nodes < 2 and not raydap:
        return
    paths = [raydap] if raydap else raydaps_in(os.path.join(worker.node.get_session_dir_path(), "sockets"))
    line = {"raydap": VERSION, "pid": os.getpid(), "calls": os.path.basename(raydap), "nodes": nodes}
    line["cluster"] = joined_cluster()
    begun = time.monotonic()
    reported = [connection for path in paths if (connection := _send_report(path, line)) is not None]
    waiting = [connection for connection in reported if nodes > 1 and _read_byte(connection, begun + TAKEN_TIMEOUT_S)]
    for connection in waiting:
        _read_byte(connection, begun + NODES_TIMEOUT_S)
    for connection in reported:
        connection.close()


def _send_report(path: str, line: dict[str, Any]) -> "socket.socket | None":
    """Send the report; return the connection, or None if no process of this user or root listens at this path."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(CALL_TIMEOUT_S)
    try:
        connection.connect(path)
        if not peer_is_trusted(connection):
            raise PermissionError(f"{path} belongs to another user")
        write_line(connection, line)
    except OSError:
        connection.close()
        return None
    return connection


def _read_byte(connection: socket.socket, until: float) -> bool:
    """Return whether raydap sends a byte before this time. Otherwise it has closed the connection, or hangs."""
    connection.settimeout(max(until - time.monotonic(), 0))
    try:
        return connection.recv(1) != b""
    except OSError:
        return False
