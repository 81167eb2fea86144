"""A hub as a job of the cluster, against a server that plays the Jobs API."""

import ast
import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.jobs import ray_job
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.errors import Code, ProblemError
from raydap.hub import hub_job
from raydap.hub.hub_job import Hub, HubJobOptions
from unit.cluster.fake_dashboard import FakeDashboard

WAIT = 20.0
NODE = "cd" * 28
HUB = Hub("JOB", "127.0.0.1", 4711, "10.0.0.7", "head-x7")
LACKS = "ModuleNotFoundError: No module named 'msgspec'"
SERVES = "raydap serving on 127.0.0.1:4711\n"


class Cluster:
    """A Jobs API. A submitted job writes `log`, and ends at once with `code` unless that is None."""

    def __init__(self, fake: FakeDashboard, log: str, code: int | None = None, never_ran: str = "") -> None:
        self.fake = fake
        self.jobs: dict[str, dict[str, Any]] = {}
        self.submitted: list[Mapping[str, Any]] = []
        self._log, self._code, self._never_ran = log, code, never_ran
        self._ended = asyncio.Event()
        self.tailed = asyncio.Event()
        fake.answers["/api/jobs/"] = self._list
        fake.answers[f"/nodes/{NODE}"] = {"data": {"detail": {"hostname": "head-x7"}}}

    async def query(self, operation: str, question: Mapping[str, Any], *_: object) -> str:
        job = question["job"]
        self.submitted.append(job)
        name = str(job["submission_id"])
        if name in self.jobs:
            raise QueryFailed("RuntimeError: Request failed with status code 500")
        self.add(name, job["metadata"])
        self.jobs[name]["entrypoint"] = job["entrypoint"]
        if self._code is not None or self._never_ran:
            self.jobs[name] |= {"status": "FAILED", "driver_exit_code": self._code, "message": self._never_ran}
            self._ended.set()
        return name

    def add(self, name: str, metadata: Mapping[str, str] | None, status: str = "RUNNING") -> None:
        where = {"driver_agent_http_address": "http://10.0.0.7:52365", "driver_node_id": NODE}
        self.jobs[name] = {"type": "SUBMISSION", "submission_id": name, "metadata": metadata, "status": status, **where}
        path = f"/api/jobs/{name}"
        self.fake.answers |= {path: self._look, f"{path}/logs/tail": self._tail, f"{path}/stop": self._stop}

    async def _list(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(list(self.jobs.values()))

    async def _look(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self.jobs[request.path.split("/")[3]])

    async def _stop(self, request: web.Request) -> web.StreamResponse:
        self.jobs[request.path.split("/")[3]]["status"] = "STOPPED"
        self._ended.set()
        return web.json_response({"stopped": True})

    async def _tail(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(self._log)
        self.tailed.set()
        await self._ended.wait()
        await socket.close()
        return socket


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cluster]:
    """Return `play(script, log, ...)`, which runs `await script(cluster, rest)` and returns the Cluster."""

    def run(script: Callable[[Cluster, Rest], Awaitable[None]], log: str = "", **more: Any) -> Cluster:
        async def main() -> Cluster:
            fake = FakeDashboard()
            async with fake.running():
                cluster = Cluster(fake, log, **more)
                monkeypatch.setattr(ray_job, "query", cluster.query)
                rest = Rest(fake.url, {})
                try:
                    await asyncio.wait_for(script(cluster, rest), WAIT)
                finally:
                    await rest.close()
                return cluster

        return asyncio.run(main())

    monkeypatch.setattr(ray_job, "_POLL_S", 0.001)
    return run


def test_a_hub_is_a_job_that_says_where_it_serves(play: Callable[..., Cluster]) -> None:
    async def script(_: Cluster, rest: Rest) -> None:
        hub = await hub_job.start(rest, "hub", HubJobOptions(), "ab" * 32, {})
        assert hub == Hub("hub", "127.0.0.1", 4711, "10.0.0.7", "head-x7")

    cluster = play(script, f"Runtime env is setting up.\n{SERVES}")
    (job,) = cluster.submitted
    assert job["submission_id"] == "hub"
    assert job["entrypoint_num_cpus"] == 0
    assert cluster.jobs["hub"]["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("log", "end", "why", "detail"),
    [
        (f"Traceback\n{LACKS}\n", {"code": 1}, "raydap up --pip", LACKS),
        ("env: 'python': not here\n", {"code": 127}, "--python", "env: 'python': not here"),
        ("one\ntwo\n", {"code": 1}, "the end of its log follows", "one\ntwo"),
        ("", {"never_ran": "no such wheel"}, "the reason follows", "no such wheel"),
    ],
)
def test_a_hub_that_does_not_serve_says_why(
    play: Callable[..., Cluster], log: str, end: dict[str, Any], why: str, detail: str
) -> None:
    async def script(_: Cluster, rest: Rest) -> None:
        with pytest.raises(ProblemError) as failed:
            await hub_job.start(rest, "hub", HubJobOptions(), "ab" * 32, {})
        problem = failed.value.problem
        assert problem.code is Code.HUB_FAILED
        assert why in problem.text
        assert problem.detail == detail

    play(script, log, **end)


def test_giving_up_stops_the_job(play: Callable[..., Cluster]) -> None:
    async def script(cluster: Cluster, rest: Rest) -> None:
        starting = asyncio.ensure_future(hub_job.start(rest, "hub", HubJobOptions(), "ab" * 32, {}))
        await cluster.tailed.wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    (job,) = play(script, "not yet\n").jobs.values()
    assert job["status"] == "STOPPED"


def test_only_hubs_that_run_are_found(play: Callable[..., Cluster]) -> None:
    async def script(cluster: Cluster, rest: Rest) -> None:
        cluster.add("users", {"raydap": "no"})
        cluster.add("plain", None)
        # A hostile dashboard could answer this. raydap would remove the file of this name.
        cluster.add("../../settings", hub_job.METADATA)
        cluster.jobs["number"] = {"type": "SUBMISSION", "submission_id": 7, "metadata": [["raydap", "hub"]]}
        cluster.jobs["none"] = None  # type: ignore[assignment]
        cluster.add("old", hub_job.METADATA, "SUCCEEDED")
        cluster.add("starting", {**hub_job.METADATA, "more": "1"}, "PENDING")
        (found,) = (await hub_job.find_hubs(rest)).running
        assert found.id == "starting"
        await hub_job.stop(found)
        assert (await hub_job.find_hubs(rest)).running == []

    assert play(script).jobs["users"]["status"] == "RUNNING"


def test_callers_at_the_same_time_start_only_one_hub(play: Callable[..., Cluster]) -> None:
    async def script(cluster: Cluster, rest: Rest) -> None:
        name = (await hub_job.find_hubs(rest)).next_name
        assert (await hub_job.find_hubs(rest)).next_name == name
        await hub_job.start(rest, name, HubJobOptions(), "ab" * 32, {})
        with pytest.raises(hub_job.NameTaken):
            await hub_job.start(rest, name, HubJobOptions(), "cd" * 32, {})
        assert cluster.jobs[name]["status"] == "RUNNING"

    play(script, SERVES)


def test_no_name_is_taken_twice_and_other_clusters_have_others(play: Callable[..., Cluster]) -> None:
    names = set()

    async def script(cluster: Cluster, rest: Rest) -> None:
        for session in ("one", "other"):
            cluster.fake.answers["/api/version"] = {"session_name": session}
            cluster.jobs.clear()
            for _ in range(3):
                name = (await hub_job.find_hubs(rest)).next_name
                assert name not in names
                names.add(name)
                cluster.add(name, hub_job.METADATA, "STOPPED")

    play(script)


def test_the_entrypoint_holds_the_digest_and_is_one_command() -> None:
    command = hub_job.entrypoint(HubJobOptions(("127.0.0.1", 4711), 60.0, True, "/opt/my python"), "ab" * 32)
    assert shlex.split(command) == [
        *("exec", "env", "-u", "RAY_JOB_CONFIG_JSON_ENV_VAR"),
        *("/opt/my python", "-m", "raydap", "serve", "--listen", "127.0.0.1:4711"),
        *("--token-sha256", "ab" * 32, "--hold", "60", "--dashboard", "$RAY_ADDRESS"),
    ]
    assert "--hold forever --no-shared-files" in hub_job.entrypoint(HubJobOptions(), "ab" * 32)


def test_the_package_goes_along_and_pip_only_if_wanted() -> None:
    environment = hub_job.runtime_env(pip=False)
    (package,) = environment["py_modules"]
    assert (Path(package) / "hub" / "hub_job.py").samefile(hub_job.__file__)
    assert "pip" not in environment
    assert hub_job.runtime_env(pip=True)["pip"] == list(hub_job.PACKAGES)


def test_pip_installs_what_the_package_depends_on() -> None:
    """The cluster has its own Ray, and the workers their own debugpy.

    rich and prompt_toolkit are only for the terminal, pygls only for editors, jinja2 only for reports.
    """
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    dependencies = re.search(r"^dependencies = (\[.*?^\])", project, re.DOTALL | re.MULTILINE)
    assert dependencies is not None
    others = ("ray[default]", "debugpy", "rich", "prompt_toolkit", "pygls", "jinja2")
    wanted = [name for name in ast.literal_eval(dependencies[1]) if not name.startswith(others)]
    assert list(hub_job.PACKAGES) == wanted
