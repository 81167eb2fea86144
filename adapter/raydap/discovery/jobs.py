"""`launch` with `submit`: the program runs as a job of the cluster (Ray Jobs API)."""

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.discovery.address import resolve
from raydap.discovery.rest import Rest
from raydap.discovery.submission import Submission, submit


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
        self._job: Submission | None = None
        self._started = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Submits the job and begins to follow it. Emits DebuggeeStarted or DebuggeeFailed; never raises."""
        try:
            location = await resolve(self._settings.dashboard, self._environ)
            self._rest = Rest(location.url, self._environ)
            self._job = Submission(self._rest, await submit(self._rest, self._description(), self._environ))
            self._emit(DebuggeeStarted(self._job.id, 0))
            self._following = asyncio.create_task(self._follow(self._rest, self._job))
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
        if self._following is None:
            return
        if self._job is not None:
            try:
                await self._job.stop()
            except ProblemError as error:
                self._emit(DebuggeeOutput("stderr", f"The job could not be stopped: {error.problem}\n"))
                self._following.cancel()
                self._emit(DebuggeeExited(1))
        await asyncio.gather(self._following, return_exceptions=True)

    def _description(self) -> dict[str, Any]:
        folder = working_dir(self._settings)
        if not os.path.isdir(folder):
            text = f'The job could not be submitted: the folder "{folder}" (cwd) does not exist.'
            raise ProblemError(Problem(Code.SUBMIT_FAILED, text))
        runtime_env: dict[str, Any] = {"working_dir": folder, "env_vars": variables(self._settings)}
        return {"entrypoint": entrypoint(self._settings), "runtime_env": runtime_env}

    async def _follow(self, rest: Rest, job: Submission) -> None:
        try:
            try:
                details = await job.follow(lambda text: self._emit(DebuggeeOutput("stdout", text)))
            finally:
                # Whoever hears that it has ended may want it stopped while its connection is being closed.
                self._job = None
            self._finish(details)
        except ProblemError as error:
            self._emit(DebuggeeOutput("stderr", f"{error.problem}\n"))
            self._emit(DebuggeeExited(1))
        finally:
            await rest.close()

    def _finish(self, details: Mapping[str, Any]) -> None:
        """`details` as in ray/dashboard/modules/job/pydantic_models.py, JobDetails."""
        code = details.get("driver_exit_code")
        if details["status"] == "FAILED" and code is None:
            # It never came to run; the reason is nowhere in its log.
            self._emit(DebuggeeOutput("stderr", f"{details.get('message')}\n"))
        self._emit(DebuggeeExited(code if isinstance(code, int) else int(details["status"] != "SUCCEEDED")))
