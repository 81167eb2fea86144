"""Joins what Ray reports about a worker, from the rows of Ray's lists of tasks, actors and jobs."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from raydap.cluster.dashboard.actor_numbers import ActorNumbers, CreatedActor
from raydap.core.process_info import ListedActor, ProcessInfo, RayFacts, rank_of
from raydap.presentation.short_text import in_one_line
from raydap.protocol.types import WorkerKey

Row = Mapping[str, Any]

_JOB_DIGITS = 8
_LONGEST_NAME = 40


class Work(NamedTuple):
    """The tasks and the actor of a worker, as rows of Ray's lists."""

    tasks: list[Row]
    """Its running tasks."""
    actor: Row | None
    """Its actor; None for a worker that runs plain tasks, and for an actor that is not listed."""

    @property
    def actor_id(self) -> str:
        """Ray's hex id of the actor; "" if the worker runs none."""
        ids = [task["actor_id"] for task in self.tasks if task.get("actor_id")]
        return str((self.actor or {}).get("actor_id") or next(iter(ids), ""))


def work_by_worker(
    workers: Iterable[ProcessInfo], tasks: Iterable[Row], actors: Iterable[Row]
) -> dict[WorkerKey, Work]:
    """Return what each worker of Ray runs; nothing for drivers.

    The list of tasks lags about one second. `tasks` are the running ones (ray/util/state/common.py, TaskState), and
    `actors` are rows of ActorState.
    """
    running: dict[str, list[Row]] = {}
    for task in tasks:
        running.setdefault(str(task.get("worker_id")), []).append(task)
    by_id = {actor.get("actor_id"): actor for actor in actors}
    # The list of actors has no worker ids, so the process identifies an actor without a running task.
    by_process = {(actor.get("node_id"), actor.get("pid")): actor for actor in by_id.values()}
    found = {}
    for worker in workers:
        if worker.worker_type == "WORKER":
            mine = running.get(worker.key, [])
            actor_ids = [task["actor_id"] for task in mine if task.get("actor_id")]
            if actor_ids:
                actor = by_id.get(actor_ids[0])
            else:
                # While an actor is being created, Ray reports its pid, but neither its node nor the worker that runs
                # `__init__`.
                actor = by_process.get((worker.node_id, worker.pid)) or by_process.get((None, worker.pid))
                mine = mine or [task for task in running.get("None", []) if _makes(task, actor)]
            found[worker.key] = Work(mine, actor)
    return found


def facts_by_worker(
    workers: Iterable[ProcessInfo], work: Mapping[WorkerKey, Work], jobs: Iterable[Row], numbers: ActorNumbers
) -> dict[WorkerKey, RayFacts]:
    """Return facts for each worker and driver. A field is empty where the lists contain nothing.

    `work` is the result of `work_by_worker`, and `jobs` are rows of JobDetails. There are no facts for Ray's own
    driver, whose job is not listed: the dashboard's agent is one after it has submitted a job. While a submitted job
    runs, another driver of that job may be missing from the list, too (ray/dashboard/modules/job/utils.py,
    get_driver_jobs).
    """
    by_job = {str(job.get("job_id")): job for job in jobs}
    is_complete = bool(by_job) and not any(
        job.get("submission_id") and job.get("status") == "RUNNING" for job in by_job.values()
    )
    facts = {}
    for worker in workers:
        if worker.worker_type == "DRIVER":
            # A driver's worker id is its job id, filled up with the digit f (ray/src/ray/common/id.cc,
            # ComputeDriverIdFromJob). A driver with an agent has called raydap before Ray gave it an id.
            job = _job_of_process(worker.pid, by_job) if worker.agent else worker.key[:_JOB_DIGITS]
            if worker.agent or job in by_job or not is_complete:
                facts[worker.key] = _driver(job, by_job.get(job, {}))
        elif worker.key in work:
            facts[worker.key] = _worker(work[worker.key], by_job, numbers)
    return facts


def created_actors(answer: object) -> list[CreatedActor] | None:
    """Return the actors in the dashboard's answer to /logical/actors; None if the answer has another form.

    The answer also contains actors that have ended. It is in the order of creation: the dashboard adds an actor at the
    end when the GCS reports its registration, and a later change keeps its place (ray/dashboard/modules/node/
    node_head.py, _process_updated_actor_table). Only a dashboard that was restarted has forgotten the order.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    rows = data.get("actors") if isinstance(data, dict) else None
    if not isinstance(rows, dict):
        return None
    return [
        CreatedActor(str(actor_id), str(row.get("jobId") or ""), _last_part(row.get("className")))
        for actor_id, row in rows.items()
        if isinstance(row, dict)
    ]


def by_start(actors: Iterable[Row]) -> list[CreatedActor]:
    """Return the actors of Ray's list (ActorState) in the order in which they have started, or have their pids."""

    def order(row: Row) -> tuple[float, int, str]:
        pid = row.get("pid")
        began = milliseconds(row.get("start_time_ms")) or float("inf")
        return began, pid if isinstance(pid, int) else 0, str(row.get("actor_id"))

    return [
        CreatedActor(str(row.get("actor_id")), str(row.get("job_id") or ""), _class_name(row))
        for row in sorted(actors, key=order)
    ]


def listed_actor(row: Row) -> ListedActor:
    """Return the row of an actor as a ListedActor."""
    pid = row.get("pid")
    return ListedActor(
        job=str(row.get("job_id") or ""),
        actor=_class_name(row),
        alive=row.get("state") == "ALIVE",
        node_id=str(row.get("node_id") or ""),
        pid=pid if isinstance(pid, int) else 0,
    )


def _class_name(actor: Row) -> str:
    return _last_part(actor.get("class_name"))


def _last_part(name: object) -> str:
    return str(name or "").rpartition(".")[2]


def _makes(task: Row, actor: Row | None) -> bool:
    return actor is not None and task.get("actor_id") == actor.get("actor_id")


def _job_of_process(pid: int, by_job: Mapping[str, Row]) -> str:
    """Return the id of the running job with this driver; "" if Ray lists none (yet)."""
    for job, details in by_job.items():
        driver = details.get("driver_info")
        if details.get("status") == "RUNNING" and isinstance(driver, dict) and str(driver.get("pid")) == str(pid):
            return job
    return ""


def _driver(job: str, details: Row) -> RayFacts:
    name = program(str(details.get("entrypoint") or ""))
    return RayFacts(
        task=f"driver {name}".rstrip(),
        job=job,
        submission=details.get("submission_id") or "",
        started=_seconds(details.get("start_time")),
    )


def _worker(work: Work, by_job: Mapping[Any, Row], numbers: ActorNumbers) -> RayFacts:
    tasks, actor = work
    newest = max(tasks, key=lambda task: task.get("start_time_ms") or 0, default=None)
    job = str((newest or actor or {}).get("job_id") or "")
    submission = str(by_job.get(job, {}).get("submission_id") or "")
    started = _seconds((newest or {}).get("start_time_ms"))
    if newest is not None and not newest.get("actor_id"):
        given = _given_name(newest)
        return RayFacts(task=_last(newest, 1), job=job, submission=submission, given_name=given, started=started)
    kind = _last(newest, 2).rpartition(".")[0] if newest is not None else ""
    kind = kind or _class_name(actor or {})
    methods = {_last(task, 2) for task in tasks}
    number, created = numbers.of(work.actor_id)
    rank = _declared_rank(actor or {})
    return RayFacts(
        # Async and threaded actors run several methods at once, so naming one of them would be a guess.
        task=methods.pop() if len(methods) == 1 else kind,
        actor=kind,
        actor_name=str((actor or {}).get("name") or ""),
        job=job,
        submission=submission,
        given_name="" if actor is None else _actor_name(actor),
        started=started,
        rank=number if rank is None else rank,
        created=created,
    )


def milliseconds(value: object) -> int:
    """Return a time of a row, in milliseconds since 1970; 0 if it is missing or malformed."""
    return value if isinstance(value, int) else 0


def _seconds(milliseconds: object) -> float:
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else 0.0


def _given_name(task: Row) -> str:
    """Return the name that the task has from `.options(name=...)`; "" without one.

    All tasks of Ray Data run the function `_map_task`, and have names such as `Map(double)`. For a task without a name,
    Ray repeats the name of the function.
    """
    name = str(task.get("name") or "")
    return "" if name == task.get("func_or_class_name") else in_one_line(name, _LONGEST_NAME)


def _actor_name(actor: Row) -> str:
    """Return the name that an actor was registered with, else its own `__repr__`; "" without both.

    Ray stores the repr if the class defines one (ray/util/state/common.py, ActorState.repr_name).
    """
    return in_one_line(str(actor.get("name") or actor.get("repr_name") or ""), _LONGEST_NAME)


def _declared_rank(actor: Row) -> int | None:
    """Return RANK in the env_vars of the actor's runtime_env, which torch.distributed reads, too; None without it."""
    try:
        rank = json.loads(str(actor.get("serialized_runtime_env") or "{}"))["env_vars"]["RANK"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return rank_of(str(rank))


def _last(task: Row, parts: int) -> str:
    """Return the last components of the function's dotted name.

    `name` may be any text of the user, so it is the second choice.
    """
    return ".".join(str(task.get("func_or_class_name") or task.get("name") or "").split(".")[-parts:])


def is_own_job(row: Row) -> bool:
    """Return whether a row of the Jobs API is a job of raydap: Ray lists one for each process that joins."""
    script = r"\braydap[/\\]cluster[/\\]ray_process[/\\]raydap_process\.py\b"
    return re.search(script, str(row.get("entrypoint"))) is not None


def program(entrypoint: str) -> str:
    """Return the script or module in a command line: `python -u train.py --lr 1` -> `train.py`."""
    try:
        words = shlex.split(entrypoint)
    except ValueError:
        return ""
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m" or (word.endswith(".py") and not word.startswith("-")):
            return os.path.basename(word)
    return ""
