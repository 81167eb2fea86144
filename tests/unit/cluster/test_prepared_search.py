"""When a prepared program is detected, from answers like those of Ray 2.39 and 2.60."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from raydap.cluster.jobs.prepared_search import PreparedSearch
from raydap.errors import Code, Problem, ProblemError
from support.made_up_proc import add_process

HOOK = {"worker_process_setup_hook": "raydap_agent", "env_vars": {"A": "1"}}
PLAIN: dict[str, Any] = {
    "type": "DRIVER",
    "job_id": "01000000",
    "submission_id": None,
    "status": "RUNNING",
    "runtime_env": {},
}
PREPARED = {**PLAIN, "job_id": "02000000", "runtime_env": HOOK}
SUBMITTED = {**PLAIN, "type": "SUBMISSION", "submission_id": "raysubmit_7", "driver_info": None}
NEAR = {**SUBMITTED, "driver_info": {"id": "03000000", "node_ip_address": "127.0.0.1", "pid": "7"}}
FAR = {**SUBMITTED, "driver_info": {"id": "03000000", "node_ip_address": "192.0.2.1", "pid": "7"}}
ACTOR = {"class_name": "Counter", "state": "ALIVE", "serialized_runtime_env": "{}"}
WITH_AGENT = {**ACTOR, "serialized_runtime_env": '{"env_vars": {}, "worker_process_setup_hook":"raydap_agent"}'}

SESSION = "session_2026-01-01_00-00-00_000000_1"
CLUSTER = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR=site.execsitecustomize"

Rows = list[dict[str, Any]]


class Play:
    """Stands in for a dashboard with these `jobs` and `actors`, and records the questions in `asked`."""

    def __init__(self) -> None:
        self.jobs: Rows = []
        self.actors: Rows | None = []
        self.asked: list[str] = []
        self.told: list[str] = []
        self.search = PreparedSearch(
            self._jobs,
            self._actors,
            lambda event: self.told.append(event.reason),
        )

    async def _jobs(self) -> Any:
        self.asked.append("jobs")
        self.search.look_at_jobs(list(self.jobs))
        return self.jobs

    async def _actors(self) -> Any:
        self.asked.append("actors")
        if self.actors is None:
            raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "It does not answer."))
        return self.actors


def run(script: Callable[[Play], Awaitable[None]]) -> Play:
    async def main() -> Play:
        play = Play()
        await script(play)
        return play

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (PLAIN, []),
        (PREPARED, ["the workers of job 02000000 have agents"]),
        ({**PREPARED, "status": "SUCCEEDED"}, []),
        (SUBMITTED, []),
        (NEAR, []),
        (FAR, ["the driver of job raysubmit_7 runs on another node"]),
        ({**FAR, "status": "FAILED"}, []),
        ({**PLAIN, "runtime_env": {"worker_process_setup_hook": "my_hook"}}, []),
        ({"status": ["RUNNING"], "runtime_env": 7, "submission_id": 7, "driver_info": {"node_ip_address": 7}}, []),
    ],
    ids=["plain", "prepared", "over", "begins", "near", "far", "far and over", "another hook", "odd"],
)
def test_the_signs_that_a_job_is_prepared(job: dict[str, Any], told: list[str]) -> None:
    async def script(play: Play) -> None:
        play.jobs = [PLAIN, job]
        await play.search.poll()

    assert run(script).told == told


def test_it_is_reported_once_and_then_no_more_questions_are_sent() -> None:
    async def script(play: Play) -> None:
        for play.jobs in ([], [], [PREPARED, FAR], [PREPARED]):
            await play.search.poll()
        play.search.look_at_jobs([FAR])

    play = run(script)
    assert play.told == ["the workers of job 02000000 have agents"]
    assert play.asked == ["jobs", "actors", "jobs", "jobs"]


def test_an_answer_to_another_part_s_question_is_used_and_saves_a_question() -> None:
    async def script(play: Play) -> None:
        await play.search.poll()
        play.search.look_at_jobs([PLAIN])
        await play.search.poll()
        assert play.asked == ["jobs", "actors"]
        play.search.look_at_jobs([PREPARED])

    assert run(script).told == ["the workers of job 02000000 have agents"]


def test_actors_that_outlive_their_job_are_looked_for_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def script(play: Play) -> None:
        play.actors = None
        with pytest.raises(ProblemError):
            await play.search.poll()
        play.actors = [ACTOR, {"serialized_runtime_env": None}]
        await play.search.poll()
        await play.search.poll()
        play.search.end()
        await play.search.poll()

    play = run(script)
    assert play.told == []
    assert play.asked == ["jobs", "actors"] * 2 + ["jobs"]
    assert caplog.text.count("no prepared program in this cluster") == 1


def test_an_actor_that_outlives_its_job_counts() -> None:
    async def script(play: Play) -> None:
        play.actors = [ACTOR, WITH_AGENT]
        await play.search.poll()

    assert run(script).told == ["an actor has an agent"]


@pytest.mark.parametrize(
    ("session", "environ", "told"),
    [
        (SESSION, f"A=1\0{CLUSTER}\0B=2", ["the cluster was started with agents"]),
        (SESSION, "A=1", []),
        ("session_2025", CLUSTER, []),
        (SESSION, None, []),
    ],
    ids=["prepared", "not prepared", "another cluster", "another user"],
)
def test_a_cluster_that_was_started_for_it(tmp_path: Path, session: str, environ: str | None, told: list[str]) -> None:
    raylet = add_process(tmp_path, 7, "/x/raylet", f"--session-name={session}")
    if environ is not None:
        (raylet / "environ").write_text(environ)

    async def script(play: Play) -> None:
        await play.search.look_at_cluster(SESSION, tmp_path)

    assert run(script).told == told
