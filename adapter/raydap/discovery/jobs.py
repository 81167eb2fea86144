"""`launch` with `submit`: the program runs as a job of the cluster (Ray Jobs API)."""

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.discovery import tokens
from raydap.discovery.address import resolve
from raydap.discovery.asking import AskFailed, ask
from raydap.discovery.rest import Rest

_SUBMIT_TIMEOUT = 120.0
# A cluster that was just started takes jobs only when their agents have come up, some seconds after its dashboard
# (ray/dashboard/modules/job/job_head.py).
_NO_AGENT_YET = "No available agent"
_SUBMIT_RETRIES = 30
_BETWEEN_SUBMITS = 1.0
_BETWEEN_LOOKS = 0.5
_FAILURES = 60
_ENDED = {"SUCCEEDED", "FAILED", "STOPPED"}


def entrypoint(settings: LaunchSettings) -> str:
    """The shell command of the job; `program` is given relative to the working directory where it lies inside."""
    folder = working_dir(settings)
    if settings.module is not None:
        what = ["-m", settings.module]
    else:
        assert settings.program is not None
        path = os.path.relpath(os.path.join(folder, settings.program), folder)
        what = [settings.program if path.startswith(os.pardir) else path]
    return shlex.join([settings.python or "python", "-u", *what, *settings.args])


def working_dir(settings: LaunchSettings) -> str:
    """The folder that Ray uploads: `cwd`, or the program's folder, or the current one for a module."""
    if settings.cwd is not None:
        return os.path.abspath(settings.cwd)
    return os.path.dirname(os.path.abspath(settings.program)) if settings.program is not None else os.getcwd()


def variables(settings: LaunchSettings) -> dict[str, str]:
    """The job's environment variables. An empty RAY_DEBUG would switch Ray's debugger off, so it is left out."""
    return {name: value for name, value in settings.env.items() if value is not None and (name != "RAY_DEBUG" or value)}


class SubmittedJob:
    """Same interface as runtime.debuggee.Child: start, stop, and events until DebuggeeExited or DebuggeeFailed."""

    def __init__(
        self, settings: LaunchSettings, emit: Callable[[Event], None], environ: Mapping[str, str] = os.environ
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._environ = environ
        self._rest: Rest | None = None
        self._id = ""
        self._shown = 0
        self._started = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Submits the job and begins to follow it. Emits DebuggeeStarted or DebuggeeFailed; never raises."""
        try:
            location = await resolve(self._settings.dashboard, self._environ)
            self._rest = Rest(location.url, self._environ)
            self._id = await self._submit(self._rest)
            self._emit(DebuggeeStarted(self._id, 0))
            self._following = asyncio.create_task(self._follow(self._rest), name=f"follow job {self._id}")
        except ProblemError as error:
            self._emit(DebuggeeFailed(error.problem))
        finally:
            if self._rest is not None and self._following is None:
                await self._rest.close()
            self._started.set()

    async def stop(self) -> None:
        """Asks Ray to stop the job and waits until DebuggeeExited has been emitted. Only this job is touched.

        May be called while `start` runs: a job that is still being uploaded is stopped once it is known.
        """
        await self._started.wait()
        if self._rest is None or self._following is None:
            return
        if not self._following.done():
            try:
                await self._rest.post(f"/api/jobs/{self._id}/stop")
            except ProblemError as error:
                self._emit(DebuggeeOutput("stderr", f"The job could not be stopped: {error.problem}\n"))
                self._following.cancel()
                self._emit(DebuggeeExited(1))
        await asyncio.gather(self._following, return_exceptions=True)

    async def _submit(self, rest: Rest) -> str:
        folder = working_dir(self._settings)
        if not os.path.isdir(folder):  # noqa: ASYNC240  # One look at a local folder.
            raise _failed(f'the folder "{folder}" (cwd) does not exist', "")
        runtime_env: dict[str, Any] = {"working_dir": folder, "env_vars": variables(self._settings)}
        job = {"entrypoint": entrypoint(self._settings), "runtime_env": runtime_env}
        # This finds out whether somebody is there at all, and whether a token is wanted.
        await rest.get("/api/version")
        environ = tokens.demand(self._environ) if rest.sends_token else self._environ
        retries = _SUBMIT_RETRIES
        while True:
            try:
                return str(await ask({"url": rest.url, "submit": job}, environ, _SUBMIT_TIMEOUT))
            except AskFailed as failure:
                if retries == 0 or _NO_AGENT_YET not in str(failure):
                    raise _failed(str(failure), failure.detail) from None
            retries -= 1
            await asyncio.sleep(_BETWEEN_SUBMITS)

    async def _follow(self, rest: Rest) -> None:
        """Streams the job's log until it has ended, through outages of the dashboard."""
        failures = 0
        try:
            while failures < _FAILURES:
                try:
                    await self._tail(rest)
                    details = await rest.get(f"/api/jobs/{self._id}")
                    if isinstance(details, dict) and details.get("status") in _ENDED:
                        self._finish(details)
                        return
                    failures = 0
                except (ProblemError, aiohttp.ClientError, OSError):
                    failures += 1
                await asyncio.sleep(_BETWEEN_LOOKS)
            self._emit(DebuggeeOutput("stderr", f"The dashboard no longer answers for the job {self._id}.\n"))
            self._emit(DebuggeeExited(1))
        finally:
            await rest.close()

    async def _tail(self, rest: Rest) -> None:
        """One connection to the log; Ray sends it from the beginning, so what was shown already is skipped."""
        received = 0
        # Only this finds out whether the dashboard wants a token: the handshake of a WebSocket cannot.
        await rest.get(f"/api/jobs/{self._id}")
        async with rest.websocket(f"/api/jobs/{self._id}/logs/tail") as log:
            async for message in log:
                if message.type is aiohttp.WSMsgType.TEXT:
                    received += len(message.data)
                    fresh = received - self._shown
                    if fresh > 0:
                        self._shown = received
                        self._emit(DebuggeeOutput("stdout", message.data[-fresh:]))

    def _finish(self, details: Mapping[str, Any]) -> None:
        """`details` as in ray/dashboard/modules/job/pydantic_models.py, JobDetails."""
        code = details.get("driver_exit_code")
        if details["status"] == "FAILED" and code is None:
            # It never came to run; the reason is nowhere in its log.
            self._emit(DebuggeeOutput("stderr", f"{details.get('message')}\n"))
        self._emit(DebuggeeExited(code if isinstance(code, int) else int(details["status"] != "SUCCEEDED")))


def _failed(reason: str, detail: str) -> ProblemError:
    return ProblemError(Problem(Code.SUBMIT_FAILED, f"The job could not be submitted: {reason}.", detail))
