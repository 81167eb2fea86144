"""The workers of a real cluster that wait for a debugger."""

import json
import urllib.request
from typing import Any

from local_cluster import Cluster

from support.tries import tries

WAIT = 60.0


def paused_workers(cluster: Cluster, count: int) -> list[dict[str, Any]]:
    """Return the dashboard's rows of the paused workers, once there are this many; Ray's lists lag."""
    url = f"{cluster.dashboard}/api/v0/workers?detail=1&filter_keys=is_alive&filter_predicates=%3D&filter_values=True"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in tries(WAIT):
        with opener.open(url, timeout=30) as answer:
            rows = json.load(answer)["data"]["result"]["result"]
        found = [row for row in rows if row["num_paused_threads"]]
        if len(found) == count:
            return found
    raise AssertionError(rows)
