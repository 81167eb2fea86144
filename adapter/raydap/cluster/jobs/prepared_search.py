"""Looks for a prepared program while none is known: its workers have agents on any node (core/workers/prepared.py).

Processes on raydap's own node report themselves there (runtime/agents.py). This search finds programs that begin on
other nodes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from raydap.cluster.dashboard.ray_facts import Row
from raydap.cluster.jobs.job_list import has_ended
from raydap.core.events import AgentsExpected
from raydap.inworker.driver_setup import AGENT_HOOK, CLUSTER_HOOK, SETUP_HOOK, SETUP_HOOK_VARIABLE
from raydap.inworker.raylets import PROC, raylets
from raydap.tcp_sockets import is_local_address

log = logging.getLogger("raydap")

PERIOD_S = 2.0


class PreparedSearch:
    """Emits AgentsExpected at most once, and sends no question after that or after `end`.

    `ask_jobs` is Dashboard.jobs. All its answers come to `look_at_jobs`, including answers to other polls. `ask_actors`
    is Dashboard.actors, which is called once.
    """

    def __init__(
        self,
        ask_jobs: Callable[[], Awaitable[list[Row]]],
        ask_actors: Callable[[], Awaitable[list[Row]]],
        emit: Callable[[AgentsExpected], None],
    ) -> None:
        self._ask_jobs = ask_jobs
        self._ask_actors = ask_actors
        self._emit = emit
        self._other_answer = False
        self._actors_known = False
        self._ended = False

    def end(self) -> None:
        """Stop the search."""
        self._ended = True

    async def look_at_cluster(self, session: str, proc: Path = PROC) -> None:
        """Check how raydap's own node was started.

        `raydap prepare` prepares a whole cluster, so its other nodes were started in the same way.
        """
        if not self._ended and await asyncio.to_thread(_is_prepared, session, proc):
            self._expect("the cluster was started with agents")

    def look_at_jobs(self, rows: list[Row]) -> None:
        """Check the rows of running jobs. Raises nothing, because a row can contain anything."""
        self._other_answer = self._actors_known
        for row in rows:
            if has_ended(row) or self._ended:
                continue
            if _has_hook(row.get("runtime_env")):
                self._expect(f"the workers of job {row.get('job_id')} have agents")
            elif row.get("submission_id") and _has_far_driver(row):
                self._expect(f"the driver of job {row.get('submission_id')} runs on another node")

    async def poll(self) -> float | None:
        """List the jobs, unless another answer has come since the last poll. Raises ProblemError."""
        if self._ended:
            return None
        if self._other_answer:
            self._other_answer = False
            return PERIOD_S
        await self._ask_jobs()
        self._other_answer = False
        if not (self._ended or self._actors_known):
            # Look for actors that outlive their job. Other actors are part of a job that runs.
            rows = await self._ask_actors()
            self._actors_known = True
            if any(f'"{AGENT_HOOK}"' in str(row.get("serialized_runtime_env")) for row in rows):
                self._expect("an actor has an agent")
            elif not self._ended:
                log.info("no prepared program in this cluster yet, so raydap starts no actors on its other nodes")
        return PERIOD_S

    def _expect(self, reason: str) -> None:
        if not self._ended:
            self._ended = True
            self._emit(AgentsExpected(reason))


def _has_hook(runtime_env: object) -> bool:
    return isinstance(runtime_env, dict) and runtime_env.get(SETUP_HOOK) == AGENT_HOOK


def _has_far_driver(row: Row) -> bool:
    """Return whether the driver of a submitted job runs on another node. Its program may be a prepared one.

    Ray does not report the runtime_env of such a driver, only that of the submission.
    """
    driver = row.get("driver_info")
    address = driver.get("node_ip_address") if isinstance(driver, dict) else None
    return isinstance(address, str) and not is_local_address(address)


def _is_prepared(session: str, proc: Path) -> bool:
    """Return whether a raylet of this session and user was started with the variables of `raydap prepare`.

    Its workers inherit these variables.
    """
    for pid, options in raylets(proc):
        if options.get("--session-name") == session:
            try:
                environ = (proc / str(pid) / "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # The raylet has ended, or belongs to another user.
            if f"{SETUP_HOOK_VARIABLE}={CLUSTER_HOOK}".encode() in environ:
                return True
    return False
