"""A job of the cluster (Ray Jobs API). Ray's own client submits it; HTTP requests follow and stop it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any

from raydap.cluster.dashboard import ray_token
from raydap.cluster.dashboard.rest import Rest, not_a_dashboard
from raydap.cluster.jobs.job_list import ENDED
from raydap.cluster.ray_process.ray_query import QueryFailed, query
from raydap.errors import Code, Problem, ProblemError

_SUBMIT_TIMEOUT_S = 120.0
# A new cluster accepts jobs only when its agents have started, some seconds after its dashboard
# (ray/dashboard/modules/job/job_head.py).
_NO_AGENT_YET = "No available agent"
_SUBMIT_RETRIES = 30
_SUBMIT_RETRY_S = 1.0
_POLL_S = 0.5
_MAX_FAILURES = 60


async def submit(rest: Rest, job: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Upload the folder in the job's runtime_env, submit the job and return its submission id.

    `job` contains the arguments of Ray's JobSubmissionClient.submit_job. Raises ProblemError, and OSError if this
    machine cannot start a process.
    """
    # This request finds out whether the dashboard answers, and whether it wants a token.
    await rest.get("/api/version")
    environ = ray_token.with_token_mode(environ) if rest.sends_token else environ
    retries = _SUBMIT_RETRIES
    while True:
        try:
            return str(await query("submit", {"url": rest.url, "job": job}, environ, _SUBMIT_TIMEOUT_S))
        except QueryFailed as failure:
            if retries == 0 or _NO_AGENT_YET not in str(failure):
                text = f"The job could not be submitted: {failure}."
                raise ProblemError(Problem(Code.SUBMIT_FAILED, text, failure.detail)) from None
        retries -= 1
        await asyncio.sleep(_SUBMIT_RETRY_S)


class RayJob:
    """One submitted job, by its submission id."""

    def __init__(self, rest: Rest, submission_id: str) -> None:
        self.id = submission_id
        self._rest = rest
        self._shown = 0

    async def details(self) -> Mapping[str, Any]:
        """Return Ray's JobDetails (ray/dashboard/modules/job/pydantic_models.py). Raises ProblemError."""
        details = await self._rest.get(f"/api/jobs/{self.id}")
        if not isinstance(details, dict):
            raise not_a_dashboard(self._rest.where, "does not answer like a Ray dashboard")
        return details

    async def stop(self) -> None:
        """Ask Ray to stop the job, which ends some time later. Raises ProblemError."""
        await self._rest.post(f"/api/jobs/{self.id}/stop")

    async def wait(self) -> None:
        """Wait until the job has ended. Raises ProblemError."""
        while (await self.details()).get("status") not in ENDED:  # noqa: ASYNC110  # Ray offers only polling.
            await asyncio.sleep(_POLL_S)

    async def follow(self, on_log: Callable[[str], None]) -> Mapping[str, Any]:
        """Pass the job's log to `on_log`, each part once, and return the job's details when it has ended.

        Waits through outages of the dashboard. Raises ProblemError after many failures in a row.
        """
        failures = 0
        while True:
            try:
                await self._tail(on_log)
                details = await self.details()
                if details.get("status") in ENDED:
                    return details
                failures = 0
            except (ProblemError, OSError) as error:
                failures += 1
                if failures == _MAX_FAILURES:
                    text = f"The dashboard no longer answers requests about job {self.id}."
                    raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, text, repr(error))) from None
            await asyncio.sleep(_POLL_S)

    async def _tail(self, on_log: Callable[[str], None]) -> None:
        """Read the log over one connection. Ray sends all of it, so the part that was passed on before is skipped."""
        received = 0
        # This request finds out whether the dashboard wants a token: the handshake of a WebSocket cannot.
        await self.details()
        async with aclosing(self._rest.texts(f"/api/jobs/{self.id}/logs/tail")) as texts:
            async for text in texts:
                received += len(text)
                fresh = received - self._shown
                if fresh > 0:
                    self._shown = received
                    on_log(text[-fresh:])
