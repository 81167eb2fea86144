"""The numbers of actors: their places in the order of their creation."""

from typing import Any

import pytest

from raydap.cluster.dashboard.actor_numbers import ActorNumbers, CreatedActor
from raydap.cluster.dashboard.dashboard_client import ABSENCES, Dashboard
from raydap.cluster.dashboard.ray_facts import by_start, created_actors
from raydap.errors import Code, Problem, ProblemError
from unit.cluster.fake_dashboard import FakeDashboard, listing, text
from unit.cluster.test_dashboard import PAUSED, ask


def trainers(*ids: str, job: str = "01", kind: str = "Trainer") -> list[CreatedActor]:
    return [CreatedActor(each, job, kind) for each in ids]


def test_each_class_of_each_job_is_numbered_in_the_order_of_the_list() -> None:
    numbers = ActorNumbers()
    numbers.take([*trainers("b"), *trainers("x", kind="Logger"), *trainers("a"), *trainers("c", job="02")])
    assert [numbers.of(each) for each in ("b", "a", "x", "c")] == [(0, 2), (1, 2), (0, 1), (0, 1)]
    assert numbers.of("unknown") == (None, 1)
    assert numbers.knows("ab")
    assert not numbers.knows("ay")


def test_an_actor_keeps_its_number_and_no_other_gets_it() -> None:
    numbers = ActorNumbers()
    numbers.take(trainers("a", "b", "c"))
    # The list may come in another order, and lack actors that have ended.
    numbers.take(trainers("c", "d", "b"))
    assert [numbers.of(each) for each in ("b", "c", "d")] == [(1, 4), (2, 4), (3, 4)]
    assert numbers.of("a") == (None, 1)


def test_the_dashboards_table_of_actors_is_in_the_order_of_creation() -> None:
    rows = {"b": {"className": "pkg.Trainer", "jobId": "01000000"}, "a": {"className": "Trainer"}, "c": None}
    expected = [CreatedActor("b", "01000000", "Trainer"), CreatedActor("a", "", "Trainer")]
    assert created_actors({"result": True, "data": {"actors": rows}}) == expected


@pytest.mark.parametrize("answer", [None, [], {}, {"data": None}, {"data": {"actors": []}}])
def test_an_answer_of_another_form_contains_no_order(answer: Any) -> None:
    assert created_actors(answer) is None


def test_without_that_table_the_start_and_the_process_id_decide() -> None:
    rows: list[dict[str, Any]] = [
        {"actor_id": "d", "pid": None},
        {"actor_id": "c", "pid": 9, "start_time_ms": 5},
        {"actor_id": "b", "pid": 8, "start_time_ms": 5},
        {"actor_id": "a", "pid": 7, "start_time_ms": 6},
    ]
    assert [each.id for each in by_start(rows)] == ["b", "c", "a", "d"]


def dashboard_with(table: Any) -> FakeDashboard:
    """Return a dashboard with two trainers, of which the paused worker runs the second one, "a2"."""
    fake = FakeDashboard()
    fake.answers["/api/v0/tasks"] = listing(
        [{"worker_id": PAUSED.key, "func_or_class_name": "Act.step", "actor_id": "a2", "job_id": "01000000"}]
    )
    rows: list[dict[str, Any]] = [
        {"actor_id": each, "class_name": "Act", "job_id": "01000000", "pid": pid}
        for each, pid in (("a1", 9), ("a2", 8))
    ]
    fake.answers["/api/v0/actors"] = listing(rows)
    if table is not None:
        fake.answers["/logical/actors"] = table
    return fake


def test_a_worker_has_the_number_of_its_actor_and_the_table_is_requested_only_for_new_actors() -> None:
    actors = {each: {"className": "Act", "jobId": "01000000"} for each in ("a1", "dead", "a2")}
    fake = dashboard_with({"result": True, "data": {"actors": actors}})

    async def twice(dashboard: Dashboard) -> list[tuple[int | None, int]]:
        found = [(await dashboard.ray_facts([PAUSED]))[PAUSED.key] for _ in range(2)]
        return [(each.rank, each.created) for each in found]

    assert ask(fake, twice) == [(2, 3)] * 2
    (request,) = (each for each in fake.requests if each.path == "/logical/actors")
    assert request.query["nocache"] == "1"


def test_an_actor_that_the_table_does_not_have_yet_gets_its_number_later() -> None:
    fake = dashboard_with({"result": True, "data": {"actors": {}}})

    async def often(dashboard: Dashboard) -> list[int | None]:
        found = [(await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank for _ in range(ABSENCES - 1)]
        actors = {each: {"className": "Act", "jobId": "01000000"} for each in ("first", "a2")}
        fake.answers["/logical/actors"] = {"result": True, "data": {"actors": actors}}
        return [*found, (await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank]

    assert ask(fake, often) == [None] * (ABSENCES - 1) + [1]


def test_an_actor_that_the_table_never_has_gets_a_number_in_the_end() -> None:
    fake = dashboard_with({"result": True, "data": {"actors": {}}})

    async def often(dashboard: Dashboard) -> list[int | None]:
        return [(await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank for _ in range(ABSENCES)]

    assert ask(fake, often) == [None] * (ABSENCES - 1) + [0]


@pytest.mark.parametrize("table", [None, text(500, "boom"), {"result": True, "data": {}}])
def test_a_dashboard_without_the_table_is_asked_for_it_once(table: Any) -> None:
    fake = dashboard_with(table)

    async def twice(dashboard: Dashboard) -> list[int | None]:
        found = [(await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank]
        fake.answers["/api/v0/tasks"] = listing(
            [{"worker_id": PAUSED.key, "func_or_class_name": "Act.step", "actor_id": "new", "job_id": "01000000"}]
        )
        return [*found, (await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank]

    assert ask(fake, twice) == [0, None]
    assert [each.path for each in fake.requests].count("/logical/actors") == 1


def test_a_dashboard_that_was_silent_once_is_asked_for_its_table_again(monkeypatch: pytest.MonkeyPatch) -> None:
    actors = {each: {"className": "Act", "jobId": "01000000"} for each in ("new", "a2")}
    fake = dashboard_with({"result": True, "data": {"actors": actors}})

    async def twice(dashboard: Dashboard) -> list[int | None]:
        async def silent(path: str, *args: Any, **kwargs: Any) -> Any:
            if path == "/logical/actors":
                raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "It did not answer within 10 s."))
            return await get(path, *args, **kwargs)

        get = dashboard.rest.get
        with monkeypatch.context() as patch:
            patch.setattr(dashboard.rest, "get", silent)
            found = [(await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank]
        fake.answers["/api/v0/tasks"] = listing(
            [{"worker_id": PAUSED.key, "func_or_class_name": "Act.step", "actor_id": "new", "job_id": "01000000"}]
        )
        return [*found, (await dashboard.ray_facts([PAUSED]))[PAUSED.key].rank]

    assert ask(fake, twice) == [0, 2]
