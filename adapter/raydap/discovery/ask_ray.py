"""The questions only Ray's own code can answer, asked in a process of their own.

This file is run as a script, never imported by the bridge: Ray's GCS client retries inside C++ and ends the process
when the GCS stays away, prints what it likes, and reads RAY_ADDRESS over the caller's head. One JSON object on
standard input is the question; one JSON object on standard output, `{"answer": ...}` or `{"error": ...}`, the reply.
"""

import json
import os
import socket
import sys
from typing import Any

_CONNECT_TIMEOUT = 3.0


def dashboard_of(address: str) -> str | None:
    """The dashboard's URL as the cluster's GCS knows it; None while the cluster runs none.

    `address` is `host:port` of a GCS or `ray://host:port` of a Ray Client server.
    Source: ray/dashboard/utils.py, ray_address_to_api_server_url, without its twenty retries.
    """
    if address.startswith("ray://"):
        from ray.dashboard.utils import ray_client_address_to_api_server_url

        return str(ray_client_address_to_api_server_url(address))

    # The GCS client would retry for a minute where nothing listens.
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT).close()

    from ray._private import ray_constants
    from ray._private.utils import internal_kv_get_with_retry
    from ray._raylet import GcsClient  # type: ignore[attr-defined,unused-ignore]  # It is compiled.

    found = internal_kv_get_with_retry(
        GcsClient(address=address),
        ray_constants.DASHBOARD_ADDRESS,
        namespace=ray_constants.KV_NAMESPACE_DASHBOARD,
        num_retries=2,
    )
    return f"http://{found.decode()}" if found else None


def local_cluster(since: float | None) -> str | None:
    """The GCS address of the cluster of this machine that the user most likely means; None if none runs.

    In this order: the newest one that this user started after `since` (seconds since the epoch), because a launched
    program may bring its own; the one `ray start` recorded; the newest. A record outlives its cluster, so it counts
    only while a raylet of that cluster runs (ray/_private/services.py reads raylets' command lines likewise).
    """
    import psutil  # type: ignore[import-untyped,unused-ignore]  # Ray ships it.
    from ray._private.utils import read_ray_address

    clusters: list[tuple[float, bool, str]] = []
    for process in psutil.process_iter(["cmdline", "create_time", "uids"]):
        command, uids = process.info["cmdline"] or [""], process.info["uids"]
        address = next((word.partition("=")[2] for word in command if word.startswith("--gcs-address=")), None)
        if address and os.path.basename(command[0]) in ("raylet", "raylet.exe"):
            ours = uids is None or uids.real == os.getuid()
            clusters.append((process.info["create_time"], ours, address))
    clusters.sort(reverse=True)
    recent = [address for created, ours, address in clusters if ours and since is not None and created >= since]
    if recent:
        return recent[0]
    recorded: str | None = read_ray_address()
    running = [address for _, _, address in clusters]
    if recorded in running:
        return recorded
    return running[0] if running else None


def submit(url: str, job: dict[str, Any]) -> str:
    """Uploads the working directory, submits the job and returns its submission id."""
    # Ray lets these override the address that it is given, and `requests` looks for loopback behind proxies.
    os.environ["RAY_API_SERVER_ADDRESS"] = os.environ["RAY_ADDRESS"] = url
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    from ray.job_submission import JobSubmissionClient

    return str(JobSubmissionClient(url).submit_job(**job))


def answer(question: dict[str, Any]) -> Any:
    if "submit" in question:
        return submit(question["url"], question["submit"])
    import ray  # noqa: F401  # Makes the packages that Ray ships importable.

    address = question["address"] or local_cluster(question["since"])
    return None if address is None else {"address": address, "url": dashboard_of(address)}


def main() -> None:
    # Our reply must be alone on standard output, and this folder must not shadow anything Ray imports.
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path = [folder for folder in sys.path if os.path.abspath(folder or ".") != os.path.dirname(__file__)]
    question = json.load(sys.stdin)
    try:
        text = json.dumps({"answer": answer(question)})
    except Exception as error:
        text = json.dumps({"error": f"{type(error).__name__}: {error}"})
    reply.write(text)
    reply.flush()


if __name__ == "__main__":
    main()
