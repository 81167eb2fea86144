"""`launch` with `submit`, against a server that plays the Jobs API."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.jobs import ray_job
from raydap.cluster.jobs.debuggee_job import DebuggeeJob, entrypoint, variables, working_dir
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.core.events import DebuggeeExited, DebuggeeFailed, DebuggeeOutput, DebuggeeStarted, Event
from raydap.core.settings import LaunchSettings
from raydap.errors import Code
from unit.cluster.fake_dashboard import FakeDashboard

WAIT = 20.0
JOB = "/api/jobs/job_1"


class Cluster:
    """A Jobs API with one job, which ends when `end` is called. Each connection to its log gets one of `logs`."""

    def __init__(self, fake: FakeDashboard, logs: list[str]) -> None:
        self.details: dict[str, Any] = {"status": "RUNNING", "driver_exit_code": None, "message": "why"}
        self.ended = asyncio.Event()
        self.last_log_sent = asyncio.Event()
        self._logs = logs
        fake.answers.update({JOB: self._look, f"{JOB}/logs/tail": self._tail, f"{JOB}/stop": self._stop})

    async def _look(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self.details)

    async def _stop(self, _: web.Request) -> web.StreamResponse:
        self.end("STOPPED", None)
        return web.json_response({"stopped": True})

    async def _tail(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(self._logs.pop(0))
        if not self._logs:
            self.last_log_sent.set()
            await self.ended.wait()
        await socket.close()
        return socket

    def end(self, status: str, code: int | None) -> None:
        self.details |= {"status": status, "driver_exit_code": code}
        self.ended.set()


def run(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    script: Callable[[Cluster, DebuggeeJob], Awaitable[None]],
    logs: list[str],
    submitted: Any = "job_1",
    env: dict[str, str | None] | None = None,
) -> tuple[list[Event], list[Mapping[str, Any]]]:
    """Run the script beside a submitted job until DebuggeeExited; return the events and what was submitted."""
    questions: list[Mapping[str, Any]] = []
    events: list[Event] = []
    (tmp_path / "x.py").touch()

    async def query(operation: str, question: Mapping[str, Any], *_: object) -> Any:
        questions.append(question)
        if isinstance(submitted, Exception):
            raise submitted
        return submitted

    async def main() -> None:
        fake = FakeDashboard()
        async with fake.running():
            cluster = Cluster(fake, logs)
            settings = LaunchSettings(program=str(tmp_path / "x.py"), submit=True, dashboard=fake.url, env=env or {})
            job = DebuggeeJob(settings, events.append, {})
            await job.start()
            await script(cluster, job)
            if job._following is not None:
                await asyncio.wait_for(job._following, WAIT)

    monkeypatch.setattr(ray_job, "query", query)
    monkeypatch.setattr(ray_job, "_POLL_S", 0.001)
    asyncio.run(main())
    return events, questions


def test_a_job_whose_environment_forbids_agents_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        cluster.end("SUCCEEDED", 0)

    events, _ = run(monkeypatch, tmp_path, script, [], env={"RAYDAP": "off"})
    assert events[0] == DebuggeeStarted("job_1", 0, off=True)


def test_a_job_s_log_and_code_are_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        cluster.end("FAILED", 3)

    events, questions = run(monkeypatch, tmp_path, script, ["hello\n"])
    assert events == [DebuggeeStarted("job_1", 0), DebuggeeOutput("stdout", "hello\n"), DebuggeeExited(3)]
    assert questions[0]["job"]["runtime_env"]["working_dir"] == str(tmp_path)
    assert questions[0]["job"]["entrypoint"] == "python -u x.py"


def test_a_log_that_breaks_off_continues_without_repeating(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        await asyncio.wait_for(cluster.last_log_sent.wait(), WAIT)
        cluster.end("SUCCEEDED", 0)

    events, _ = run(monkeypatch, tmp_path, script, ["one\n", "one\ntwo\n"])
    text = "".join(event.text for event in events if isinstance(event, DebuggeeOutput))
    assert text == "one\ntwo\n"
    assert events[-1] == DebuggeeExited(0)


def test_stop_stops_this_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        await asyncio.wait_for(job.stop(), WAIT)
        await asyncio.wait_for(job.stop(), WAIT)
        assert cluster.details["status"] == "STOPPED"

    events, _ = run(monkeypatch, tmp_path, script, ["hello\n"])
    assert events[-1] == DebuggeeExited(1)
    assert sum(isinstance(event, DebuggeeExited) for event in events) == 1


def test_nothing_is_stopped_that_has_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    closing, closed, close = asyncio.Event(), asyncio.Event(), Rest.close

    async def slowly(rest: Rest) -> None:
        await close(rest)
        closing.set()
        await closed.wait()

    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        monkeypatch.setattr(Rest, "close", slowly)
        cluster.end("SUCCEEDED", 0)
        await asyncio.wait_for(closing.wait(), WAIT)
        stopping = asyncio.create_task(job.stop())
        await asyncio.sleep(0)
        closed.set()
        await asyncio.wait_for(stopping, WAIT)

    events, _ = run(monkeypatch, tmp_path, script, ["log\n"])
    assert events[-1] == DebuggeeExited(0)


def test_a_job_that_never_ran_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        cluster.end("FAILED", None)

    events, _ = run(monkeypatch, tmp_path, script, [""])
    assert events[-2:] == [DebuggeeOutput("stderr", "why\n"), DebuggeeExited(1)]


def test_what_cannot_be_submitted_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        await job.stop()

    events, _ = run(monkeypatch, tmp_path, script, [], QueryFailed("RuntimeError: too large", "noise"))
    (event,) = events
    assert isinstance(event, DebuggeeFailed)
    assert event.problem.code is Code.SUBMIT_FAILED
    assert "too large" in event.problem.text


def test_the_entrypoint_is_one_shell_command() -> None:
    settings = LaunchSettings(program="/work dir/src/train.py", args=("a b", "$HOME"), cwd="/work dir")
    assert entrypoint(settings) == "python -u src/train.py 'a b' '$HOME'"
    assert entrypoint(LaunchSettings(module="pkg.train", python="/opt/python")) == "/opt/python -u -m pkg.train"
    assert entrypoint(LaunchSettings(program="/other/train.py", cwd="/work")) == "python -u /other/train.py"


def test_the_working_directory_is_cwd_or_the_program_s_folder() -> None:
    assert working_dir(LaunchSettings(program="/a/b.py")) == "/a"
    assert working_dir(LaunchSettings(program="/a/b.py", cwd="/c")) == "/c"
    assert working_dir(LaunchSettings(module="x")) == os.getcwd()


def test_variables_are_handed_on_but_for_the_empty_and_the_removed() -> None:
    assert variables(LaunchSettings(module="x", env={"A": "1", "B": None, "C": "", "RAY_DEBUG": ""})) == {
        "A": "1",
        "C": "",
    }


def test_a_job_that_cannot_be_followed_any_more_ends_for_the_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def script(cluster: Cluster, job: DebuggeeJob) -> None:
        cluster.details["status"] = ["odd"]
        cluster.ended.set()

    events, _ = run(monkeypatch, tmp_path, script, ["log\n"])
    *_, told, last = events
    assert isinstance(told, DebuggeeOutput)
    assert "can no longer follow job job_1" in told.text
    assert last == DebuggeeExited(1)
    assert "TypeError" in caplog.text
