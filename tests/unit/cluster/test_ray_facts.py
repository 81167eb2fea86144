"""Labels from rows of Ray's lists. The rows are shortened from rows that Ray 2.60 sent."""

from typing import Any

import pytest

from raydap.cluster.dashboard.actor_numbers import ActorNumbers
from raydap.cluster.dashboard.ray_facts import facts_by_worker, work_by_worker
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.protocol.types import WorkerKey

WORKER = ProcessInfo(WorkerKey("w1"), "10.0.0.7", 1, pid=7, node_id="n1")
DRIVER = ProcessInfo(WorkerKey("02000000" + "f" * 48), "10.0.0.7", 2, worker_type="DRIVER")


def task(function: str, actor: str | None = None, **more: Any) -> dict[str, Any]:
    return {"worker_id": "w1", "func_or_class_name": function, "actor_id": actor, "job_id": "02000000", **more}


def facts(
    workers: list[ProcessInfo],
    tasks: list[dict[str, Any]],
    actors: list[dict[str, Any]],
    jobs: list[dict[str, Any]],
    numbers: ActorNumbers | None = None,
) -> dict[WorkerKey, RayFacts]:
    return facts_by_worker(workers, work_by_worker(workers, tasks, actors), jobs, numbers or ActorNumbers())


def of(tasks: list[dict[str, Any]], actors: list[dict[str, Any]] | None = None) -> RayFacts:
    return facts([WORKER], tasks, actors or [], [])[WORKER.key]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("work", ""),
        ("Map(double)", "Map(double)"),
        (" any\ntext.x ", "any text.x"),
        ("Map(a)->" * 9, ("Map(a)->" * 5)[:39] + "…"),
    ],
)
def test_the_name_that_a_task_was_given_stands_beside_its_function(name: str, title: str) -> None:
    """The name may be any text, so the label keeps the function, too."""
    assert of([task("work", name=name)]) == RayFacts(task="work", job="02000000", given_name=title)


def test_a_dotted_function_is_named_by_its_end() -> None:
    assert of([task("outer.<locals>.inner")]).task == "inner"


def test_of_two_tasks_the_newest_counts() -> None:
    assert of([task("new", start_time_ms=2.0), task("old", start_time_ms=1.0), task("x")]).task == "new"


def test_when_it_began_makes_no_label_different() -> None:
    begun = of([task("work", start_time_ms=2500)])
    assert begun.started == 2.5
    assert begun == of([task("work", start_time_ms=3000)])
    assert of([task("work", start_time_ms=None)]).started == 0.0
    job = {"job_id": "02000000", "start_time": 7000}
    assert facts([DRIVER], [], [], [job])[DRIVER.key].started == 7.0


def test_the_driver_of_a_job_that_is_not_listed_is_rays_own() -> None:
    """It may be another driver of a submitted job while one runs, and of any job if Ray lists none."""
    other, submitted = {"job_id": "01000000", "status": "RUNNING"}, {"submission_id": "raysubmit_x"}
    assert facts([DRIVER], [], [], [other]) == {}
    assert facts([DRIVER], [], [], [{**other, **submitted, "status": "SUCCEEDED"}]) == {}
    for jobs in ([], [{**other, **submitted}]):
        assert facts([DRIVER], [], [], jobs)[DRIVER.key] == RayFacts("driver", job="02000000")


def test_an_actor_with_one_method_is_named_by_both() -> None:
    actors = [{"actor_id": "a1", "class_name": "Act", "name": "bob"}]
    found = of([task("Act.step", "a1"), task("Act.step", "a1")], actors)
    assert found == RayFacts("Act.step", "Act", "bob", "02000000", given_name="bob")


def test_an_actor_that_is_being_made_is_known_by_its_pid() -> None:
    """At that time Ray reports neither the actor's node nor the worker of its `__init__`."""
    creation = {"actor_id": "a1", "func_or_class_name": "Trainer.__init__", "worker_id": None}
    other = {"actor_id": "a2", "func_or_class_name": "Other.__init__", "worker_id": None}
    actor = {"actor_id": "a1", "class_name": "Trainer", "node_id": None, "pid": WORKER.pid}
    made = facts([WORKER], [other, creation], [actor, {"actor_id": "a2", "class_name": "Other", "pid": 1}], [])
    assert (made[WORKER.key].task, made[WORKER.key].actor) == ("Trainer.__init__", "Trainer")


def test_several_methods_at_once_name_only_the_class() -> None:
    found = of([task("Act.step", "a1"), task("Act.wait", "a1")])
    assert (found.task, found.actor) == ("Act", "Act")


def test_an_actor_without_a_running_task_is_known_by_its_process() -> None:
    """An actor's own threads run between its tasks. The same pid on another node is another process."""
    actors: list[dict[str, Any]] = [
        {"actor_id": "a0", "class_name": "Other", "pid": 7, "node_id": "n2"},
        {"actor_id": "a1", "class_name": "pkg.Act", "pid": 7, "node_id": "n1", "job_id": "02000000"},
    ]
    assert of([], actors) == RayFacts("Act", "Act", "", "02000000")


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({}, ""),
        ({"name": "", "repr_name": "", "serialized_runtime_env": "{}"}, ""),
        ({"name": "trainer", "repr_name": "Act(3)"}, "trainer"),
        ({"name": "", "repr_name": "Act(rank=3,\n role='x')"}, "Act(rank=3, role='x')"),
        ({"repr_name": "x" * 41}, "x" * 39 + "…"),
    ],
)
def test_an_actors_given_name_is_its_registered_name_or_its_repr(row: dict[str, Any], title: str) -> None:
    assert of([task("Act.step", "a1")], [{"actor_id": "a1", "class_name": "Act", **row}]).given_name == title


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ('{"env_vars": {"RANK": "12", "A": "b"}}', 12),
        ('{"env_vars": {"RANK": "first"}}', None),
        ('{"env_vars": {"RANK": "9999999999"}}', None),
        ('{"env_vars": {"A": "b"}}', None),
        ('{"env_vars": null}', None),
        ("[]", None),
        ("[" * 100_000, None),
        (None, None),
    ],
)
def test_the_rank_in_an_actors_environment_is_its_rank(environment: str | None, rank: int | None) -> None:
    actor = {"actor_id": "a1", "class_name": "Act", "serialized_runtime_env": environment}
    assert of([task("Act.step", "a1")], [actor]).rank == rank


def test_tasks_of_other_workers_do_not_count() -> None:
    assert of([{**task("work"), "worker_id": "w2"}, {**task("work"), "worker_id": None}]) == RayFacts()


@pytest.mark.parametrize(
    ("entrypoint", "name"),
    [
        ("python job.py", "driver job.py"),
        ("/opt/bin/python -u src/train.py --config x.py", "driver train.py"),
        ("A=1 python -m pkg.train", "driver pkg.train"),
        ("bash run.sh", "driver"),
        ("echo 'unbalanced", "driver"),
        ("", "driver"),
        (None, "driver"),
    ],
)
def test_a_driver_is_named_by_its_program(entrypoint: str | None, name: str) -> None:
    jobs = [{"job_id": "02000000", "submission_id": "raysubmit_x", "entrypoint": entrypoint}]
    assert facts([DRIVER], [], [], jobs)[DRIVER.key] == RayFacts(name, job="02000000", submission="raysubmit_x")


def test_a_driver_of_an_unknown_job_still_has_its_job_id() -> None:
    assert facts([DRIVER], [], [], [])[DRIVER.key] == RayFacts("driver", job="02000000")


def test_explicit_targets_have_no_label() -> None:
    target = ProcessInfo(WorkerKey("h:1"), "h", 1, worker_type="TARGET")
    assert facts([target], [], [], []) == {}


def test_a_driver_with_an_agent_is_known_by_its_process() -> None:
    """Its agent called before Ray gave the driver an id."""
    driver = ProcessInfo(WorkerKey("pid-4711"), "head", 0, pid=4711, worker_type="DRIVER", agent="/sockets/d")
    jobs: list[dict[str, Any]] = [
        {"job_id": "01000000", "entrypoint": "python old.py", "status": "SUCCEEDED", "driver_info": {"pid": "4711"}},
        {"job_id": "02000000", "entrypoint": "python train.py", "status": "RUNNING", "driver_info": {"pid": "4711"}},
        {"job_id": "03000000", "entrypoint": "python other.py", "status": "RUNNING", "driver_info": {"pid": "4712"}},
        {"job_id": "04000000", "entrypoint": "python odd.py", "status": "RUNNING", "driver_info": None},
    ]
    assert facts([driver], [], [], jobs)[driver.key] == RayFacts("driver train.py", job="02000000")
    assert facts([driver], [], [], jobs[2:])[driver.key] == RayFacts("driver")
