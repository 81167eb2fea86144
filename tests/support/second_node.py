"""A second node of a test's cluster, with its own address on this machine."""

import contextlib
import os
import signal
import sys
from pathlib import Path

from local_cluster import RAY, Child, Cluster

from support import processes


def start_node(cluster: Cluster, host: str, resource: str, log: Path) -> Child:
    """Start a node with 8 units of a resource that no other node has. The caller ends it."""
    command = [sys.executable, "-c", RAY, "start", "--block", "--disable-usage-stats"]
    command += [f"--address={cluster.address}", f"--node-ip-address={host}", "--num-cpus=2"]
    command += ["--dashboard-agent-listen-port=0", f'--resources={{"{resource}": 8}}']
    return Child(command, log)


def kill_node(host: str) -> None:
    """Kill a node's raylet, as a power failure would.

    Its workers end, too. Ray may mark the node dead only half a minute later.
    """
    os.kill(service("raylet/raylet", f"--node_ip_address={host}")[0], signal.SIGKILL)


def service(*parts: str) -> tuple[int, list[str]]:
    """Return the pid and the command of the one marked process whose command line contains all of these parts."""
    found = []
    for pid in processes.marked():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
            if all(any(part in word for word in words) for part in parts):
                found.append((pid, words))
    (one,) = found
    return one
