"""Describes the clusters of this machine, so that the user can choose one."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from raydap.cluster.dashboard.ray_facts import is_own_job, program
from raydap.cluster.dashboard.rest import Rest
from raydap.errors import Code, Problem, ProblemError

_JOBS_TIMEOUT_S = 3.0
_MAX_JOBS = 3
_RUNNING = ("PENDING", "RUNNING")


@dataclass(frozen=True, slots=True)
class LocalCluster:
    """A cluster with a raylet on this machine, as clusters_here.local_clusters reports it."""

    address: str
    """The GCS as `host:port`."""
    url: str | None
    """The URL of the dashboard; None if it is not known."""
    owner: str
    """The name of the user who has started the cluster."""
    ours: bool
    """Whether that is this user."""
    started: float
    """The time of the start, in seconds since the epoch."""

    @property
    def name(self) -> str:
        """Return the address that the argument `dashboard` accepts."""
        return self.url or self.address


def read(rows: Iterable[Mapping[str, Any]]) -> list[LocalCluster]:
    """Return the clusters of the rows of clusters_here.local_clusters."""
    fields = ("address", "url", "owner", "ours", "started")
    return [LocalCluster(**{name: row[name] for name in fields}) for row in rows]


async def running_jobs(rest: Rest) -> list[str]:
    """Return the program or submission id of each running job. Raises ProblemError."""
    rows = await rest.get("/api/jobs/")
    return [
        program(str(row.get("entrypoint") or "")) or str(row.get("submission_id") or row.get("job_id"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("status") in _RUNNING and not is_own_job(row)
    ]


async def not_named(clusters: list[LocalCluster], pattern: str, environ: Mapping[str, str]) -> Problem:
    """Return the problem that the user has to name one of `clusters`.

    `pattern` is how the user names a cluster, with `{}` in place of the address. raydap requests the jobs of this
    user's clusters only, because other clusters could ask for this user's token.
    """
    ours = sum(cluster.ours for cluster in clusters)
    if ours:
        text = f"You run {ours} Ray clusters on this machine; name the one to debug"
    else:
        owners = " or ".join(sorted({cluster.owner for cluster in clusters}))
        text = f"No Ray cluster on this machine is yours; to debug one of {owners}, name it"
    in_order = sorted(clusters, key=lambda cluster: not cluster.ours)
    jobs = await asyncio.gather(*(_jobs(cluster, environ) for cluster in in_order))
    lines = [
        f"\n  {pattern.format(cluster.name)} (by {cluster.owner}, since {minute(cluster.started)}{job})"
        for cluster, job in zip(in_order, jobs, strict=True)
    ]
    return Problem(Code.CLUSTER_NOT_NAMED, f"{text}:{','.join(lines)}.")


def minute(seconds: float) -> str:
    """Return a time, given in seconds since the epoch, as local date, hour and minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


async def _jobs(cluster: LocalCluster, environ: Mapping[str, str]) -> str:
    if not cluster.ours or cluster.url is None:
        return ""
    rest = Rest(cluster.url, environ, _JOBS_TIMEOUT_S)
    try:
        jobs = await running_jobs(rest)
    except ProblemError:
        return ", does not answer"
    finally:
        await rest.close()
    if not jobs:
        return ", no job runs"
    more = f" and {len(jobs) - _MAX_JOBS} more" if len(jobs) > _MAX_JOBS else ""
    return f", runs {', '.join(jobs[:_MAX_JOBS])}{more}"
