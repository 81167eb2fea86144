"""Jobs from rows of Ray's Jobs API. The rows are shortened from rows that Ray 2.60 sent."""

import asyncio
from typing import Any

from raydap.cluster.dashboard.polls import Polls
from raydap.cluster.jobs.job_list import PAUSES_S, Jobs
from raydap.core.events import JobsEnded, JobsListed
from raydap.core.process_info import EndedJob
from raydap.errors import Code, Problem, ProblemError

DRIVER = {"type": "DRIVER", "job_id": "01000000", "submission_id": None, "entrypoint": "python -u a/train.py --lr 1"}
SUBMITTED = {"type": "SUBMISSION", "job_id": "02000000", "submission_id": "raysubmit_7", "entrypoint": "bash run.sh"}
EARLY = {"type": "SUBMISSION", "job_id": None, "submission_id": "raysubmit_8", "entrypoint": "python b.py"}


def told(*answers: list[dict[str, Any]]) -> list[JobsListed | JobsEnded]:
    """Return the events for these answers of the Jobs API: one at the first contact, the others in later lookups."""
    events: list[JobsListed | JobsEnded] = []
    rest = list(answers)

    async def ask() -> list[Any]:
        return rest.pop(0) if len(rest) > 1 else rest[0]

    async def main() -> None:
        jobs = Jobs(Polls(0.001), ask, events.append)
        await jobs.look_for_ends()
        await jobs.list()
        await jobs.list()
        await asyncio.gather(jobs.look_for_ends(), jobs.look_for_ends())

    asyncio.run(main())
    return events


def test_the_jobs_that_run_are_listed_once() -> None:
    ended = {**EARLY, "status": "SUCCEEDED"}
    own = {
        **DRIVER,
        "status": "RUNNING",
        "entrypoint": "/lib/raydap/cluster/ray_process/raydap_process.py relay",
    }
    found = told([{**DRIVER, "status": "RUNNING"}, {**SUBMITTED, "status": "PENDING"}, ended, own])
    assert found == [JobsListed(("train.py (01000000)", "raysubmit_7"))]


def test_rows_that_are_odd_are_only_named_oddly() -> None:
    odd: list[dict[str, Any]] = [{}, {"status": ["RUNNING"], "job_id": {}, "entrypoint": 7}, {"status": None}]
    assert told(odd) == [JobsListed(("", "", ""))]


def test_the_end_of_a_job_is_reported_once_with_its_result() -> None:
    running, stopped = {**DRIVER, "status": "RUNNING"}, {**EARLY, "status": "STOPPED"}
    before: list[dict[str, Any]] = [running, {**SUBMITTED, "status": "RUNNING"}, stopped]
    message = "Job entrypoint command failed with exit code 1,\nlast available logs"
    after: list[dict[str, Any]] = [running, {**SUBMITTED, "status": "FAILED", "message": message}, stopped]
    text = "Job raysubmit_7 has failed: Job entrypoint command failed with exit code 1"
    assert told(before, before, after)[1:] == [JobsEnded((EndedJob("02000000", text),))]


def test_of_a_driver_that_was_not_submitted_ray_does_not_know_the_result() -> None:
    ends = told([], [{**DRIVER, "status": "SUCCEEDED"}, {**EARLY, "status": "SUCCEEDED"}])[1:]
    assert ends == [
        JobsEnded(
            (
                EndedJob("01000000", "Job train.py (01000000) has ended."),
                EndedJob("", "Job b.py (raysubmit_8) has succeeded."),
            )
        )
    ]


def test_lookups_that_fail_count_too() -> None:
    asked = 0

    async def ask() -> list[Any]:
        nonlocal asked
        asked += 1
        if asked == 1:
            return []
        raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "It does not answer."))

    async def main() -> None:
        jobs = Jobs(Polls(0.001), ask, lambda event: None)
        await jobs.list()
        await jobs.look_for_ends()

    asyncio.run(main())
    assert asked == 1 + len(PAUSES_S)
