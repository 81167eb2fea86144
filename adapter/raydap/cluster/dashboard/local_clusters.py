"""The clusters of this machine, as the user can tell them apart."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from raydap.cluster.dashboard.labels import is_own_job, program
from raydap.cluster.dashboard.rest import Rest
from raydap.errors import Code, Problem, ProblemError

_JOBS_TIMEOUT_S = 3.0
_MAX_JOBS = 3
_RUNNING = ("PENDING", "RUNNING")


@dataclass(frozen=True, slots=True)
class LocalCluster:
    """A cluster with a raylet on this machine; see clusters_here.local_clusters, which gives the fields."""

    address: str
    url: str | None
    owner: str
    ours: bool
    started: float

    @property
    def name(self) -> str:
        """What the argument `dashboard` takes."""
        return self.url or self.address


def read(rows: Iterable[Mapping[str, Any]]) -> list[LocalCluster]:
    """From the rows of clusters_here.local_clusters."""
    fields = ("address", "url", "owner", "ours", "started")
    return [LocalCluster(**{name: row[name] for name in fields}) for row in rows]


async def running_jobs(rest: Rest) -> list[str]:
    """The program or submission id of each job that runs; raises ProblemError."""
    rows = await rest.get("/api/jobs/")
    return [
        program(str(row.get("entrypoint") or "")) or str(row.get("submission_id") or row.get("job_id"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("status") in _RUNNING and not is_own_job(row)
    ]


async def not_named(clusters: list[LocalCluster], pattern: str, environ: Mapping[str, str]) -> Problem:
    """The problem that the user has to say which of `clusters` is meant. `pattern` is how: an argument with `{}`.

    Only clusters of this user are asked what they run: others could ask for this user's token.
    """
    ours = sum(cluster.ours for cluster in clusters)
    if ours:
        text = f"{ours} Ray clusters of yours run on this machine; name the one to debug"
    else:
        owners = " and ".join(sorted({cluster.owner for cluster in clusters}))
        text = f"You have started no Ray cluster on this machine; name one of {owners} if you may debug it"
    in_order = sorted(clusters, key=lambda cluster: not cluster.ours)
    jobs = await asyncio.gather(*(_jobs(cluster, environ) for cluster in in_order))
    lines = [
        f"\n  {pattern.format(cluster.name)} (by {cluster.owner}, since {minute(cluster.started)}{job})"
        for cluster, job in zip(in_order, jobs, strict=True)
    ]
    return Problem(Code.CLUSTER_NOT_NAMED, f"{text}:{','.join(lines)}.")


def minute(seconds: float) -> str:
    """A point in time, given in seconds since the epoch, in local time."""
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
