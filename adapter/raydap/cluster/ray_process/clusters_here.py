"""Finds the clusters and the raydaps of this machine, and a cluster's dashboard: operations of raydap_process.py."""

import os
from typing import Any

from raydap.cluster.machine.own_clusters import dashboard_of
from raydap.cluster.ray_process.ray_driver import gcs_client
from raydap.inworker.raylets import raylets

COMMANDS = ("adapter", "connect", "serve")
"""The commands of raydap whose processes speak DAP with editors."""

KEEPER = ["session", "keep"]
"""The words of the command whose process keeps a session for other commands."""


def dashboard_url(address: str) -> str | None:
    """Return the URL of the dashboard from the cluster's GCS; None while the cluster runs no dashboard.

    `address` is `host:port` of a GCS or `ray://host:port` of a Ray Client server. Source: ray/dashboard/utils.py,
    ray_address_to_api_server_url, without its twenty retries.
    """
    if address.startswith("ray://"):
        from ray.dashboard.utils import ray_client_address_to_api_server_url

        return str(ray_client_address_to_api_server_url(address))

    gcs = gcs_client(address)
    from ray._private import ray_constants
    from ray._private.utils import internal_kv_get_with_retry

    found = internal_kv_get_with_retry(
        gcs,
        ray_constants.DASHBOARD_ADDRESS,
        namespace=ray_constants.KV_NAMESPACE_DASHBOARD,
        num_retries=2,
    )
    return f"http://{found.decode()}" if found else None


def local_clusters() -> list[dict[str, Any]]:
    """Return the clusters that have a raylet on this machine, newest first, without connecting to them.

    A cluster has these keys:

    - `address`: the GCS as `host:port`.
    - `url`: the URL of the dashboard, None if the raylet does not name it.
    - `owner`: the name of the user who has started the cluster.
    - `ours`: whether that is this user.
    - `started`: in seconds since the epoch.
    - `launched`: whether the raylet descends from the raydap that has started this process.
    """
    import psutil  # type: ignore[import-untyped,unused-ignore]  # Ray ships it.

    raydap = os.getppid()
    clusters: dict[str, dict[str, Any]] = {}
    for pid, options in raylets(anyone=True):
        address = options.get("--gcs-address")
        if not address:
            continue
        try:
            process = psutil.Process(pid)
            found = {
                "address": address,
                "url": dashboard_of(options),
                "owner": process.username(),
                "ours": process.uids().real == os.getuid(),
                "started": process.create_time(),
                "launched": _descends(process, raydap),
            }
        except psutil.Error:
            continue  # The process has just ended.
        # The oldest raylet of a cluster is that of its head node.
        if address not in clusters or found["started"] < clusters[address]["started"]:
            clusters[address] = found
    return sorted(clusters.values(), key=lambda cluster: float(cluster["started"]), reverse=True)


def _descends(process: Any, ancestor: int) -> bool:
    import psutil

    # psutil's parents() fails if a process above the ancestor ends at that moment.
    try:
        while process is not None and process.pid != ancestor:
            process = process.parent()
    except psutil.Error:
        return False
    return process is not None


def raydap_processes() -> list[dict[str, Any]]:
    """Return this user's raydap processes that speak DAP, newest first.

    A process has these keys:

    - `pid`.
    - `command`: one of COMMANDS, or "session".
    - `started`: in seconds since the epoch.
    - `parent`: the name of the process that has started it; "" for a kept session, which outlives that process.
    - `listens`: the TCP addresses where it listens, as [host, port].
    - `peers`: the TCP addresses to which it is connected, as [host, port].
    """
    import psutil

    processes = []
    for process in psutil.process_iter(["cmdline", "create_time", "uids"]):
        command, uids = _raydap_command(process.info["cmdline"] or []), process.info["uids"]
        if command is None or uids is None or uids.real != os.getuid():
            continue
        try:
            parent, sockets = process.parent(), process.net_connections("tcp")
            processes.append(
                {
                    "pid": process.pid,
                    "command": command,
                    "started": process.info["create_time"],
                    "parent": "" if parent is None or command == KEEPER[0] else parent.name(),
                    "listens": [list(one.laddr) for one in sockets if one.status == psutil.CONN_LISTEN],
                    "peers": [list(one.raddr) for one in sockets if one.raddr],
                }
            )
        except psutil.Error:
            # The process has just ended.
            continue
    return sorted(processes, key=lambda found: float(found["started"]), reverse=True)


def _raydap_command(words: list[str]) -> str | None:
    """Return which of COMMANDS this command line runs, or "session" for a kept session; None for others."""
    if not os.path.basename(words[0] if words else "").lower().startswith(("python", "raydap")):
        return None
    for place, (before, word, command) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        starts = word == "raydap" if before == "-m" else os.path.basename(word) == "raydap"
        if starts and (command in COMMANDS or words[place + 2 :][:2] == KEEPER):
            return command
    return None


def the_one_meant(clusters: list[dict[str, Any]], launched: str, recorded: str | None) -> str | None:
    """Return the GCS address of the cluster that the user certainly means; None if the user has to name one.

    Without a launched program (`launched` is ""), that is the only cluster of this user. For a launched program, it is
    the newest cluster that the program itself has started. If no agent reports which cluster the program joins
    ("silent"), it can also be the cluster that `ray start` has recorded, while a raylet of that cluster runs.
    """
    ours = [cluster for cluster in clusters if cluster["ours"]]
    if launched:
        meant = [cluster for cluster in ours if cluster["launched"]]
        if launched == "silent":
            meant += [cluster for cluster in ours if cluster["address"] == recorded]
    else:
        meant = ours if len(ours) == 1 else []
    return str(meant[0]["address"]) if meant else None


def all_here(_: dict[str, Any]) -> dict[str, Any]:
    """Return all clusters and raydaps of this machine: `{"clusters", "processes"}`."""
    return {"clusters": local_clusters(), "processes": raydap_processes()}


def locate(question: dict[str, Any]) -> dict[str, Any]:
    """Return a cluster's GCS and dashboard: `{"address", "url"}`.

    The question is `{"address": ..., "launched": ...}`. If the address is None, `the_one_meant` chooses the cluster. If
    it chooses none, the answer is `{"clusters"}`.
    """
    address = question["address"]
    if address is None:
        from ray._private.utils import read_ray_address

        clusters = local_clusters()
        address = the_one_meant(clusters, question["launched"], read_ray_address())
        if address is None:
            return {"clusters": clusters}
    return {"address": address, "url": dashboard_url(address)}
