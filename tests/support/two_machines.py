"""Two machines simulated on this one: a cluster of two nodes in network namespaces, with a firewall before debug ports.

They need root, `ip`, `nsenter` and `unshare`. Nothing outside the namespaces changes, and they disappear with their
processes.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from local_cluster import RAY, Child

import raydap

HEAD, FAR = "10.77.0.1", "10.77.0.2"

_LINK = f"""
ip link set lo up
ip link add cable type veth peer name cable netns $1
ip address add {HEAD}/24 dev cable
ip link set cable up
echo 50000 60000 > /proc/sys/net/ipv4/ip_local_port_range
"""

# The firewall drops what the far machine sends to programs on the head from ports that the system chose, such as
# debugpy's. Ray's own ports are below these. It needs neither iptables nor nft.
_FIREWALL = f"""
ip link set lo up
ip address add {FAR}/24 dev cable
ip link set cable up
echo 40000 41000 > /proc/sys/net/ipv4/ip_local_port_range
ip rule add pref 10 ipproto tcp sport 40000-41000 dport 50000-60000 blackhole
"""

# By default the system would choose these ports. They can be fixed because nothing else runs in the namespaces.
_PORTS = ["node-manager", "object-manager", "metrics-export", "runtime-env-agent", "dashboard-agent-grpc"]
_PORTS += ["dashboard-agent-listen"]
_OPTIONS = [f"--{name}-port={20001 + number}" for number, name in enumerate(_PORTS)]


def missing() -> str:
    """Return what this machine lacks for two machines, or ""."""
    lacking = [name for name in ("ip", "nsenter", "unshare") if shutil.which(name) is None]
    if lacking:
        return f"there is no {lacking[0]} here"
    tried = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"no namespaces can be made here: {tried.stderr.strip()}"


class TwoMachines:
    """The head node, and a far node with the resource `far`.

    The `stack` closes both. The far machine has its own processes and its own contents of two temporary directories:
    Ray's and `private`.
    """

    def __init__(self, stack: ExitStack) -> None:
        # Short and under /tmp: Ray puts Unix sockets below it, whose paths are limited to 107 bytes.
        self._directory = Path(tempfile.mkdtemp(prefix="raydap-", dir="/tmp"))
        stack.callback(shutil.rmtree, self._directory, ignore_errors=True)
        temp = self._directory / "ray"
        temp.mkdir()
        # The folder for sockets of the head's programs. The far machine has its own folder at this path.
        self.private = self._directory / "tmp"
        self.private.mkdir()
        head = self._holder(stack, "head", ["unshare", "--net"], "true")
        far_options = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        far = self._holder(
            stack, "far", far_options, f"mount -t tmpfs tmpfs {temp} && mount -t tmpfs tmpfs {self.private}"
        )
        (first,) = Path(f"/proc/{far}/task/{far}/children").read_text().split()
        self.head = ["nsenter", f"--target={head}", "--net", "--"]
        self.far = ["nsenter", f"--target={first}", "--net", "--mount", "--pid", "--"]
        self._set_up(self.head, _LINK, first)
        self._set_up(self.far, _FIREWALL)
        ray = [sys.executable, "-c", RAY, "start", "--block", "--disable-usage-stats", *_OPTIONS]
        self.address, self.dashboard = f"{HEAD}:6379", "http://127.0.0.1:8265"
        options = ["--head", f"--node-ip-address={HEAD}", "--port=6379", "--num-cpus=2", f"--temp-dir={temp}"]
        self._start(stack, "head-ray", [*self.head, *ray, *options])
        options = [f"--address={self.address}", f"--node-ip-address={FAR}", "--num-cpus=2", '--resources={"far": 8}']
        self._start(stack, "far-ray", [*self.far, *ray, *options])

    @contextmanager
    def without_firewall(self) -> Iterator[None]:
        """Open the firewall, so that the head reaches the debug ports of the far machine in this block."""
        self._set_up(self.far, "ip rule del pref 10")
        try:
            yield
        finally:
            self._set_up(self.far, _FIREWALL.splitlines()[-1])

    @contextmanager
    def without_raydap(self) -> Iterator[None]:
        """Hide raydap's installation from the far machine in this block."""
        folder = Path(raydap.__file__).parent
        self._set_up(self.far, f"mount -t tmpfs tmpfs {folder}")
        try:
            yield
        finally:
            self._set_up(self.far, f"umount --lazy {folder}")

    def actors(self) -> list[dict[str, Any]]:
        """Return all actors that Ray lists, including ended ones (ray/util/state/common.py, ActorState)."""
        return self._listed("actors")

    def agents(self) -> list[int]:
        """Return the pids of the head's processes that have agents.

        Ray ends the workers of a job a moment after the job.
        """
        sockets = (self._directory / "ray" / "session_latest" / "sockets").glob("raydap-*")
        pids = [each.name.removeprefix("raydap-") for each in sockets]
        return [int(pid) for pid in pids if pid.isdigit() and Path("/proc", pid).exists()]

    def paused_workers(self) -> list[dict[str, Any]]:
        """Return the workers that wait for a debugger (ray/util/state/common.py, WorkerState)."""
        return [row for row in self._listed("workers?detail=1") if row["is_alive"] and row["num_paused_threads"]]

    def _listed(self, kind: str) -> list[dict[str, Any]]:
        ask = f"from urllib.request import urlopen; print(urlopen('{self.dashboard}/api/v0/{kind}').read().decode())"
        said = subprocess.run([*self.head, sys.executable, "-c", ask], check=True, capture_output=True, text=True)
        rows: list[dict[str, Any]] = json.loads(said.stdout)["data"]["result"]["result"]
        return rows

    def _holder(self, stack: ExitStack, name: str, command: list[str], first: str) -> int:
        """Start a process that keeps the namespaces alive; return its pid."""
        child = Child([*command, "sh", "-c", f"{first} && echo up && exec sleep infinity"], self._directory / name)
        # The first process of a pid namespace ignores SIGTERM.
        stack.callback(child.end, 0)
        child.wait_for("up")
        return child.pid

    def _start(self, stack: ExitStack, name: str, command: list[str]) -> None:
        # With this variable every failure on a node becomes a paused worker, also in raydap's own actors.
        child = Child(command, self._directory / name, {"RAY_DEBUG_POST_MORTEM": "1"})
        stack.callback(child.kill)
        child.wait_for("Ray runtime started")

    def _set_up(self, where: list[str], script: str, *args: str) -> None:
        subprocess.run([*where, "sh", "-ec", script, "sh", *args], check=True, env=dict(os.environ))
