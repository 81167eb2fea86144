"""The program of a `launch` request with `submit`, as a job of the cluster (Ray Jobs API)."""

import asyncio
import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from raydap.cluster.dashboard.dashboard_address import resolve
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.frozen_modules import FrozenModulesFilter
from raydap.cluster.jobs import prepared_job
from raydap.cluster.jobs.ray_job import RayJob, submit
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.env_file import with_env_file
from raydap.errors import Code, Problem, ProblemError
from raydap.inworker import raylets

log = logging.getLogger("raydap")


def entrypoint(settings: LaunchSettings, prepared: bool = False) -> str:
    """Return the shell command of the job.

    `program` is relative to the working directory if it is inside it. With `prepared`, the command runs the code in the
    job's metadata, which starts an agent (prepared_job.py).
    """
    folder = working_dir(settings)
    if settings.module is not None:
        what = ["-m", settings.module]
    else:
        assert settings.program is not None
        path = os.path.relpath(os.path.join(folder, settings.program), folder)
        what = [settings.program if path.startswith(os.pardir) else path]
    python = settings.python or "python"
    start = prepared_job.command(python, what) if prepared else [python, "-u", *what]
    return shlex.join([*start, *settings.args])


def working_dir(settings: LaunchSettings) -> str:
    """Return the folder that Ray uploads: `cwd`, else the program's folder, or the current folder for a module."""
    if settings.cwd is not None:
        return os.path.abspath(settings.cwd)
    return os.path.dirname(os.path.abspath(settings.program)) if settings.program is not None else os.getcwd()


def variables(settings: LaunchSettings) -> dict[str, str]:
    """Return the job's environment variables. An empty RAY_DEBUG would switch Ray's debugger off, so it is left out."""
    return {name: value for name, value in settings.env.items() if value is not None and (name != "RAY_DEBUG" or value)}


class DebuggeeJob:
    """The program as a job, with the interface and events of runtime.debuggee_process.DebuggeeProcess.

    `listen` makes raydap listen for the program's processes, and returns its name there. Without it the program has no
    agents.
    """

    def __init__(
        self,
        settings: LaunchSettings,
        emit: Callable[[Event], None],
        environ: Mapping[str, str] = os.environ,
        listen: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._environ = environ
        self._listen = listen
        self._rest: Rest | None = None
        self._job: RayJob | None = None
        self._filter = FrozenModulesFilter()
        self._started = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Submit the job and begin to follow it. Emits DebuggeeStarted, or DebuggeeFailed for a ProblemError."""
        try:
            self._settings = with_env_file(self._settings, self._environ)
            location = await resolve(self._settings.dashboard, self._environ)
            self._rest = location.client(self._environ)
            self._job = RayJob(self._rest, await submit(self._rest, await self._description(self._rest), self._environ))
            off = variables(self._settings).get("RAYDAP") == "off"
            self._emit(DebuggeeStarted(self._job.id, 0, off))
            self._following = asyncio.create_task(self._follow(self._rest, self._job))
        except ProblemError as error:
            self._emit(DebuggeeFailed(error.problem))
        finally:
            if self._rest is not None and self._following is None:
                await self._rest.close()
            self._started.set()

    async def stop(self) -> None:
        """Ask Ray to stop this job and no other, and wait until DebuggeeExited has been emitted.

        May be called while `start` runs: a job that is still being uploaded is stopped once its id is known.
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

    async def _description(self, rest: Rest) -> dict[str, Any]:
        runtime_env = self._runtime_env()
        metadata = await self._metadata(rest)
        return {
            "entrypoint": entrypoint(self._settings, prepared=metadata is not None),
            "runtime_env": runtime_env,
            **({} if metadata is None else {"metadata": metadata}),
        }

    def _runtime_env(self) -> dict[str, Any]:
        folder = working_dir(self._settings)
        if not os.path.isdir(folder):
            text = f'The job could not be submitted: the folder "{folder}" (cwd) does not exist.'
            raise ProblemError(Problem(Code.SUBMIT_FAILED, text))
        return {"working_dir": folder, "env_vars": variables(self._settings)}

    async def _metadata(self, rest: Rest) -> dict[str, str] | None:
        """Return the metadata that give the job agents; None if raydap could reach none of its processes.

        raydap's machine must be a node of the cluster to reach them.
        """
        if self._listen is None:
            return None
        session = await Dashboard(rest).session_name()
        if session is None or not await asyncio.to_thread(raylets.sockets_folder, session, self._environ):
            log.info("the job runs without agents: no node of its cluster is on this machine")
            return None
        return prepared_job.metadata(session, await self._listen(), self._settings.sub_process)

    async def _follow(self, rest: Rest, job: RayJob) -> None:
        try:
            try:
                details = await job.follow(self._output)
            finally:
                # `stop` may be called while the connection is being closed: then there is nothing left to stop.
                self._job = None
            self._finish(details)
        except ProblemError as error:
            self._lost(str(error.problem))
        except Exception as error:
            log.exception("following the job %s failed", job.id)
            self._lost(f"raydap can no longer follow job {job.id} ({error!r}); see its log for details.")
        finally:
            await rest.close()

    def _output(self, text: str) -> None:
        # Ray writes the entrypoint into the log. The user need not see what raydap has added to it.
        boot = shlex.join(prepared_job.command("", [])[1:])
        text = self._filter.drop(text.replace(f" {boot} ", " -u "))
        if text:
            self._emit(DebuggeeOutput("stdout", text))

    def _lost(self, reason: str) -> None:
        """Report an error as the end of the job. The job may keep running, but raydap no longer follows it."""
        self._emit(DebuggeeOutput("stderr", f"{reason}\n"))
        self._emit(DebuggeeExited(1))

    def _finish(self, details: Mapping[str, Any]) -> None:
        """Report the end of the job. `details` are JobDetails of ray/dashboard/modules/job/pydantic_models.py."""
        code = details.get("driver_exit_code")
        if details["status"] == "FAILED" and code is None:
            # The job never ran, so its log does not give the reason.
            self._emit(DebuggeeOutput("stderr", f"{details.get('message')}\n"))
        self._emit(DebuggeeExited(code if isinstance(code, int) else int(details["status"] != "SUCCEEDED")))
