"""Puts a hub into a cluster of which only the dashboard is reached, as a job of Ray's Jobs API, and takes it away.

Whoever sees the dashboard sees the job's command line, so nothing secret is in it: of the token only the digest.
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

import raydap
from raydap.core.errors import Code, Problem, ProblemError
from raydap.discovery.dashboard import Dashboard
from raydap.discovery.rest import Rest
from raydap.discovery.submission import ENDED, Submission, submit

MARK = {"raydap": "hub"}
"""In the metadata of each job that is a hub: by it a hub is known again, and nothing else is ever stopped."""

PACKAGES = ("aiohttp>=3.9", "click>=8.1", "msgspec>=0.18", "websockets>=13")
"""What a hub imports besides Ray; pyproject.toml names the same."""

STOP_PATIENCE = 30
"""Seconds that Ray leaves the hub to let its workers go before it kills it. Ray's own 3 s are less than what workers
need that are just being attached; the job's supervisor reads them from its environment
(ray/dashboard/modules/job/job_supervisor.py)."""

_SERVING = re.compile(r"^raydap serving on (\S+):(\d+)$", re.MULTILINE)
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+).*", re.MULTILINE)
_NO_SUCH_COMMAND = 127
_LAST_LINES = 20


class NameTaken(Exception):
    """Another hub has got the name: whoever started it was first."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The hubs of a cluster: those that run or start, and the name that the next one takes.

    Ray accepts each name once. Who looks at the same time finds the same name, so only one of them can start a hub.
    """

    running: list[Submission]
    next: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How the hub is to run, as for `raydap serve`; `python` is the cluster's interpreter.

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


def entrypoint(plan: Plan, digest: str) -> str:
    """The shell command of the job. RAY_ADDRESS is the cluster as the job sees it: it may have other addresses there.

    `exec`: no shell is left that would die before the hub has let its workers go. What the hub launches is no part of
    its job, so it must not see the variable by which Ray hands a job's runtime_env and metadata to drivers.
    """
    host, port = plan.listen
    hold = "forever" if plan.hold is None else f"{plan.hold:.0f}"
    options = ["--listen", f"{host}:{port}", "--token-sha256", digest, "--hold", hold]
    if not plan.shared_files:
        options.append("--no-shared-files")
    command = ["exec", "env", "-u", "RAY_JOB_CONFIG_JSON_ENV_VAR", plan.python, "-m", "raydap", "serve", *options]
    return f'{shlex.join(command)} --dashboard "$RAY_ADDRESS"'


def runtime_env(pip: bool) -> dict[str, Any]:
    """The job's environment: this very raydap, so that the cluster needs none."""
    environment: dict[str, Any] = {
        "py_modules": [str(Path(raydap.__file__).parent)],
        "excludes": ["__pycache__"],
        "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": str(STOP_PATIENCE)},
    }
    return {**environment, "pip": list(PACKAGES)} if pip else environment


async def survey(rest: Rest) -> Survey:
    """Raises ProblemError."""
    answer = await rest.get("/api/jobs/")
    hubs = [
        job
        for job in (answer if isinstance(answer, list) else ())
        if job.get("type") == "SUBMISSION" and MARK.items() <= (job.get("metadata") or {}).items()
    ]
    # Those that have ended keep their names. Hubs of other clusters have others: connection files are named after them.
    taken = [await Dashboard(rest).session() or rest.url, *sorted(job["submission_id"] for job in hubs)]
    name = hashlib.sha256("\n".join(taken).encode()).hexdigest()[:8]
    running = [Submission(rest, job["submission_id"]) for job in hubs if job.get("status") not in ENDED]
    return Survey(running, f"raydap-hub-{name}")


async def start(rest: Rest, name: str, plan: Plan, digest: str, environ: Mapping[str, str]) -> Hub:
    """Runs a hub that admits the token with this digest; returns when it serves.

    Raises ProblemError and NameTaken. A hub that is not awaited to its start, because of an error or a cancellation, is
    stopped.
    """
    job = {
        "submission_id": name,
        "entrypoint": entrypoint(plan, digest),
        "runtime_env": runtime_env(plan.pip),
        "metadata": {**MARK, "job_name": "raydap hub"},
        # Without CPUs the job runs on the head node, however busy that is.
        "entrypoint_num_cpus": 0,
    }
    submission = Submission(rest, name)
    try:
        await submit(rest, job, environ)
        return await serving(rest, submission)
    except BaseException as error:
        if isinstance(error, ProblemError) and await _is_of_another(submission, digest):
            raise NameTaken from None
        with suppress(ProblemError):
            await submission.stop()
        raise


async def _is_of_another(job: Submission, digest: str) -> bool:
    try:
        return digest not in str((await job.details()).get("entrypoint"))
    except ProblemError:
        return False


async def serving(rest: Rest, job: Submission) -> Hub:
    """Returns when the hub serves; raises ProblemError if its job ends first, as Ray ends one that cannot start."""
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
    machine = await _machine(rest, str(details.get("driver_node_id")))
    return Hub(job.id, found.result()[1].strip("[]"), int(found.result()[2]), node, machine or node)


async def stop(job: Submission) -> None:
    """Ends a hub, and returns when it has let all its workers go. Raises ProblemError."""
    await job.stop()
    await job.wait()


def failure(job: str, details: Mapping[str, Any], log: str) -> Problem:
    """Why a hub did not come to serve. `detail` is the end of its log, or Ray's message where the job never ran."""
    missing = _MISSING.search(log)
    if missing is not None:
        why = (
            f'the cluster\'s Python has no "{missing[1]}"; run `raydap up --pip`, '
            "or install raydap's dependencies on the head node"
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


async def _machine(rest: Rest, node_id: str) -> str:
    """The node's host name; "" where the dashboard does not tell it."""
    try:
        answer = await rest.get(f"/nodes/{node_id}")
        return str(answer["data"]["detail"]["hostname"])
    except (ProblemError, KeyError, TypeError):
        return ""
