"""A hub inside a cluster, as a job of Ray's Jobs API: only the dashboard has to be reached.

Everybody who sees the dashboard sees the job's command line, so it contains only the digest of the token.
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
"""In the metadata of each job that is a hub. Jobs without it are never stopped."""

PACKAGES = (
    "aiohttp>=3.9",
    "async-timeout>=4.0.3; python_version < '3.11'",
    "click>=8.1",
    "msgspec>=0.18",
    "websockets>=13",
)
"""What a hub imports besides Ray; pyproject.toml names the same."""

STOP_TIMEOUT_S = 30
"""Seconds in which the hub can detach from its workers before Ray kills it. Ray's default of 3 s is too short for
workers that are just being attached. The job's supervisor reads them from its environment
(ray/dashboard/modules/job/job_supervisor.py)."""

_SERVING = re.compile(r"^raydap serving on (\S+):(\d+)$", re.MULTILINE)
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+).*", re.MULTILINE)
_NO_SUCH_COMMAND = 127
_LAST_LINES = 20


class _JobRow(msgspec.Struct, frozen=True):
    """A row of the Jobs API, as far as raydap reads it."""

    submission_id: str
    """The name that the submitter has given. Connection files are named after it, so it must be a plain name."""
    type: str
    status: str = ""
    metadata: dict[str, str] | None = None

    @classmethod
    def read(cls, row: object) -> "_JobRow | None":
        """Return None for what is no submitted job. A dashboard can answer anything."""
        try:
            return msgspec.convert(row, cls)
        except msgspec.ValidationError:
            return None

    @property
    def is_hub(self) -> bool:
        is_ours = METADATA.items() <= (self.metadata or {}).items() and self.type == "SUBMISSION"
        return is_ours and re.fullmatch(r"[\w-]+", self.submission_id, re.ASCII) is not None


class NameTaken(Exception):
    """Another hub has the name: it was started at the same time."""


@dataclass(frozen=True, slots=True)
class Hubs:
    """The hubs of a cluster that run or start, and the name of the next one.

    Ray accepts each name once, and all that look at the same time get the same name: only one of them starts a hub.
    """

    running: list[RayJob]
    next_name: str


@dataclass(frozen=True, slots=True)
class HubJobOptions:
    """How the hub runs, with the options of `raydap serve`. `python` is the cluster's interpreter.

    `pip`: the cluster installs PACKAGES for the hub, into an environment of its own.
    """

    listen: tuple[str, int] = ("127.0.0.1", 0)
    hold: float | None = None
    shared_files: bool = False
    python: str = "python"
    pip: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub that serves. It listens on `host` and `port` of the machine with the address `node`.

    `machine` is what that machine calls itself: in Kubernetes the name of the pod.
    """

    job: str
    host: str
    port: int
    node: str
    machine: str


def entrypoint(options: HubJobOptions, digest: str) -> str:
    """The shell command of the job. RAY_ADDRESS is the cluster's address as the job sees it.

    `exec` leaves no shell that would end before the hub has detached from its workers. `-u` removes the variable by
    which Ray hands a job's runtime_env and metadata to drivers: programs that the hub launches are no part of its job.
    """
    host, port = options.listen
    hold = "forever" if options.hold is None else f"{options.hold:.0f}"
    arguments = ["--listen", f"{host}:{port}", "--token-sha256", digest, "--hold", hold]
    if not options.shared_files:
        arguments.append("--no-shared-files")
    command = ["exec", "env", "-u", "RAY_JOB_CONFIG_JSON_ENV_VAR", options.python, "-m", "raydap", "serve", *arguments]
    return f'{shlex.join(command)} --dashboard "$RAY_ADDRESS"'


def runtime_env(pip: bool) -> dict[str, Any]:
    """The job's environment. It uploads this raydap, so that the cluster needs none."""
    environment: dict[str, Any] = {
        "py_modules": [str(Path(raydap.__file__).parent)],
        "excludes": ["__pycache__"],
        "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": str(STOP_TIMEOUT_S)},
    }
    return {**environment, "pip": list(PACKAGES)} if pip else environment


async def find_hubs(rest: Rest) -> Hubs:
    """Raises ProblemError."""
    answer = await rest.get("/api/jobs/")
    jobs = map(_JobRow.read, answer if isinstance(answer, list) else ())
    hubs = [job for job in jobs if job is not None and job.is_hub]
    # Hubs that have ended keep their names. The session makes names of different clusters differ, because connection
    # files are named after them.
    taken = [await Dashboard(rest).session_name() or rest.url, *sorted(job.submission_id for job in hubs)]
    name = hashlib.sha256("\n".join(taken).encode()).hexdigest()[:8]
    running = [RayJob(rest, job.submission_id) for job in hubs if job.status not in ENDED]
    return Hubs(running, f"raydap-hub-{name}")


async def start(rest: Rest, name: str, options: HubJobOptions, digest: str, environ: Mapping[str, str]) -> Hub:
    """Runs a hub that admits the token with this digest; returns when it serves.

    Raises ProblemError and NameTaken. After an error or a cancellation the hub is stopped.
    """
    job = {
        "submission_id": name,
        "entrypoint": entrypoint(options, digest),
        "runtime_env": runtime_env(options.pip),
        "metadata": {**METADATA, "job_name": "raydap hub"},
        # Without CPUs the job runs on the head node, however busy that is.
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
    """Returns when the hub serves. Raises ProblemError if its job ends first."""
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
    """Ends a hub, and returns when it has detached from all its workers. Raises ProblemError."""
    await job.stop()
    await job.wait()


def failure(job: str, details: Mapping[str, Any], log: str) -> Problem:
    """Why a hub does not serve. `detail` is the end of its log, or Ray's message if the job never ran."""
    missing = _MISSING.search(log)
    if missing is not None:
        why = (
            f'the cluster\'s Python has no "{missing[1]}"; run `raydap up --pip`, '
            "or `pip install raydap` on the head node"
        )
        log = missing[0]
    elif details.get("driver_exit_code") == _NO_SUCH_COMMAND:
        why = "the cluster finds no such interpreter; name the one that runs Ray there with --python"
    elif details.get("driver_exit_code") is None:
        why = "Ray could not start its job; the reason follows"
        log = str(details.get("message"))
    else:
        why = "its job ended; the end of its log follows"
    tail = "\n".join(log.strip().splitlines()[-_LAST_LINES:])
    return Problem(Code.HUB_FAILED, f"The hub {job} does not serve: {why}.", tail)


async def _host_name(rest: Rest, node_id: str) -> str:
    """The node's host name; "" if the dashboard does not say it."""
    try:
        answer = await rest.get(f"/nodes/{node_id}")
        return str(answer["data"]["detail"]["hostname"])
    except (ProblemError, KeyError, TypeError):
        return ""
