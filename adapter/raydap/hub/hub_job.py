"""A hub inside a cluster, as a job of Ray's Jobs API. This machine needs to reach only the dashboard.

All users of the dashboard can see the job's command line, so it contains only the digest of the token.
"""

import asyncio
import hashlib
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

import raydap
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.jobs.job_list import ENDED
from raydap.cluster.jobs.ray_job import RayJob, submit
from raydap.errors import Code, Problem, ProblemError

METADATA = {"raydap": "hub"}
"""Metadata of each job that is a hub. raydap never stops a job without it."""

PACKAGES = (
    "aiohttp>=3.9",
    "async-timeout>=4.0.3; python_version < '3.11'",
    "click>=8.1",
    "msgspec>=0.18",
    "websockets>=13",
)
"""Packages that a hub imports in addition to Ray, as in pyproject.toml."""

STOP_TIMEOUT_S = 30
"""Seconds for the hub to detach from its workers before Ray kills it.

Ray's default of 3 s is too short for workers that are just being attached. The job's supervisor reads the value from
its environment (ray/dashboard/modules/job/job_supervisor.py).
"""

_SERVING = re.compile(r"^raydap serving on (\S+):(\d+)$", re.MULTILINE)
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+).*", re.MULTILINE)
_NO_SUCH_COMMAND = 127
_LAST_LINES = 20


class _JobRow(msgspec.Struct, frozen=True):
    """A row of the Jobs API, with the fields that raydap reads."""

    submission_id: str
    """The name that the submitter chose. Connection files are named after it, so a hub's must be a plain name."""
    type: str
    """Ray's type of the job: `SUBMISSION` if it was submitted through the Jobs API, else `DRIVER`."""
    status: str = ""
    """Ray's status of the job, such as `RUNNING`; "" if the row lacks it."""
    metadata: dict[str, str] | None = None
    """The metadata that the submitter gave; None if there is none."""

    @classmethod
    def read(cls, row: object) -> "_JobRow | None":
        """Return a row, or None if it is not a submitted job: a dashboard can answer anything."""
        try:
            return msgspec.convert(row, cls)
        except msgspec.ValidationError:
            return None

    @property
    def is_hub(self) -> bool:
        """Whether the job is a hub that raydap has submitted."""
        is_ours = METADATA.items() <= (self.metadata or {}).items() and self.type == "SUBMISSION"
        return is_ours and re.fullmatch(r"[\w-]+", self.submission_id, re.ASCII) is not None


class NameTaken(Exception):
    """Another hub has the name, because it was started at the same time."""


@dataclass(frozen=True, slots=True)
class Hubs:
    """The hubs of a cluster, and the name for the next one."""

    running: list[RayJob]
    """The hubs that run or are starting."""
    next_name: str
    """The name for a new hub's job.

    Processes that look at the same time get the same name, and Ray accepts each name once. So only one of them starts a
    hub.
    """


@dataclass(frozen=True, slots=True)
class HubJobOptions:
    """How the hub runs: the options of `raydap up`."""

    listen: tuple[str, int] = ("127.0.0.1", 0)
    """The host and port to listen on. With port 0 the system chooses one."""
    hold: float | None = None
    """Seconds to hold workers after the last client has left, None for no limit."""
    shared_files: bool = False
    """Whether editors have the files of the head node under the same paths."""
    python: str = "python"
    """The interpreter on the cluster."""
    pip: bool = False
    """Whether the cluster installs PACKAGES for the hub, into an environment of its own."""


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub that serves inside a cluster."""

    job: str
    """The submission id of its job."""
    host: str
    """The address that it listens on."""
    port: int
    """The port that it listens on."""
    node: str
    """The address of its machine."""
    machine: str
    """The host name of its machine, in Kubernetes the name of the pod; `node` if the host name is not known."""


def entrypoint(options: HubJobOptions, digest: str) -> str:
    """Return the shell command of the job. RAY_ADDRESS is the cluster's address as the job sees it.

    `exec` replaces the shell, which would otherwise end before the hub has detached from its workers. `-u` removes the
    variable in which Ray passes a job's runtime_env and metadata to drivers, because programs that the hub launches are
    not part of its job.
    """
    host, port = options.listen
    hold = "forever" if options.hold is None else f"{options.hold:.0f}"
    arguments = ["--listen", f"{host}:{port}", "--token-sha256", digest, "--hold", hold]
    if not options.shared_files:
        arguments.append("--no-shared-files")
    command = ["exec", "env", "-u", "RAY_JOB_CONFIG_JSON_ENV_VAR", options.python, "-m", "raydap", "serve", *arguments]
    return f'{shlex.join(command)} --dashboard "$RAY_ADDRESS"'


def runtime_env(pip: bool) -> dict[str, Any]:
    """Return the job's runtime_env. It uploads this raydap, so that the cluster needs no installed one."""
    environment: dict[str, Any] = {
        "py_modules": [str(Path(raydap.__file__).parent)],
        "excludes": ["__pycache__"],
        "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": str(STOP_TIMEOUT_S)},
    }
    return {**environment, "pip": list(PACKAGES)} if pip else environment


async def find_hubs(rest: Rest) -> Hubs:
    """Return the cluster's hubs. Raises ProblemError."""
    answer = await rest.get("/api/jobs/")
    jobs = map(_JobRow.read, answer if isinstance(answer, list) else ())
    hubs = [job for job in jobs if job is not None and job.is_hub]
    # Include hubs that have ended, because Ray does not accept their names again. Include the session, so that hubs of
    # different clusters have different names: connection files are named after them.
    taken = [await Dashboard(rest).session_name() or rest.url, *sorted(job.submission_id for job in hubs)]
    name = hashlib.sha256("\n".join(taken).encode()).hexdigest()[:8]
    running = [RayJob(rest, job.submission_id) for job in hubs if job.status not in ENDED]
    return Hubs(running, f"raydap-hub-{name}")


async def start(rest: Rest, name: str, options: HubJobOptions, digest: str, environ: Mapping[str, str]) -> Hub:
    """Start a hub that accepts the token with this digest, and return it when it serves.

    Raises NameTaken if another hub has the name, and ProblemError if the hub does not serve. After a ProblemError or a
    cancellation, the hub's job is stopped.
    """
    job = {
        "submission_id": name,
        "entrypoint": entrypoint(options, digest),
        "runtime_env": runtime_env(options.pip),
        "metadata": {**METADATA, "job_name": "raydap hub"},
        # A job without CPUs runs on the head node, however busy that node is.
        "entrypoint_num_cpus": 0,
    }
    ray_job = RayJob(rest, name)
    try:
        await submit(rest, job, environ)
        return await wait_until_serving(rest, ray_job)
    except BaseException as error:
        if isinstance(error, ProblemError) and await _belongs_to_another(ray_job, digest):
            raise NameTaken from None
        with suppress(ProblemError):
            await ray_job.stop()
        raise


async def _belongs_to_another(job: RayJob, digest: str) -> bool:
    try:
        return digest not in str((await job.details()).get("entrypoint"))
    except ProblemError:
        return False


async def wait_until_serving(rest: Rest, job: RayJob) -> Hub:
    """Return the hub when it serves. Raises ProblemError if its job ends first."""
    log = ""
    found: asyncio.Future[re.Match[str]] = asyncio.get_running_loop().create_future()

    def read(text: str) -> None:
        nonlocal log
        log += text
        line = _SERVING.search(log)
        if line is not None and not found.done():
            found.set_result(line)

    following = asyncio.ensure_future(job.follow(read))
    try:
        await asyncio.wait((following, found), return_when=asyncio.FIRST_COMPLETED)
        if not found.done():
            raise ProblemError(failure(job.id, await following, log))
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    details = await job.details()
    node = urlsplit(str(details.get("driver_agent_http_address"))).hostname or ""
    machine = await _host_name(rest, str(details.get("driver_node_id")))
    return Hub(job.id, found.result()[1].strip("[]"), int(found.result()[2]), node, machine or node)


async def stop(job: RayJob) -> None:
    """End a hub, and return when it has detached from all its workers. Raises ProblemError."""
    await job.stop()
    await job.wait()


def failure(job: str, details: Mapping[str, Any], log: str) -> Problem:
    """Return why a hub does not serve.

    The problem's `detail` is the end of the hub's log, or Ray's message if the job never ran.
    """
    missing = _MISSING.search(log)
    if missing is not None:
        why = (
            f'the cluster\'s Python has no module "{missing[1]}"; run `raydap up --pip`, '
            "or `pip install raydap` on the head node"
        )
        log = missing[0]
    elif details.get("driver_exit_code") == _NO_SUCH_COMMAND:
        why = "its interpreter does not exist on the cluster; give the one that runs Ray there with --python"
    elif details.get("driver_exit_code") is None:
        why = "Ray could not start its job; the reason follows"
        log = str(details.get("message"))
    else:
        why = "its job ended; the end of its log follows"
    tail = "\n".join(log.strip().splitlines()[-_LAST_LINES:])
    return Problem(Code.HUB_FAILED, f"The hub {job} does not serve: {why}.", tail)


async def _host_name(rest: Rest, node_id: str) -> str:
    """Return the node's host name, "" if the dashboard does not report it."""
    try:
        answer = await rest.get(f"/nodes/{node_id}")
        return str(answer["data"]["detail"]["hostname"])
    except (ProblemError, KeyError, TypeError):
        return ""
