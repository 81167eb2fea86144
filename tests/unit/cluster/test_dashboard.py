"""Requests to a dashboard, how their answers are read, and the message for each kind of failure."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import web

from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.core.process_info import ProcessInfo, RayFacts
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey
from unit.cluster.fake_dashboard import WORKER, FakeDashboard, listing, text

T = TypeVar("T")

PAUSED = ProcessInfo(WorkerKey("ab" * 28), "10.0.0.7", 40001, 4321, "10.0.0.7", "cd" * 28, "WORKER")


def ask(
    fake: FakeDashboard,
    question: Callable[[Dashboard], Awaitable[T]],
    environ: dict[str, str] | None = None,
    **limits: Any,
) -> T:
    async def main() -> T:
        async with fake.running():
            rest = Rest(fake.url, environ if environ is not None else {"HOME": "/nonexistent"}, **limits)
            try:
                return await question(Dashboard(rest))
            finally:
                await rest.close()

    return asyncio.run(main())


def asked_for(fake: FakeDashboard, resource: str) -> int:
    """Return how often a resource was requested."""
    return [request.path for request in fake.requests].count(f"/api/v0/{resource}")


def problem(fake: FakeDashboard, environ: dict[str, str] | None = None, **limits: Any) -> Problem:
    with pytest.raises(ProblemError) as caught:
        ask(fake, Dashboard.paused, environ, **limits)
    assert fake.url in caught.value.problem.text
    assert caught.value.problem.text.count(". ") == 0, "one sentence"
    return caught.value.problem


@pytest.mark.parametrize("flat", [False, True])
def test_paused_workers_are_read_in_both_shapes(flat: bool) -> None:
    fake = FakeDashboard()
    driver = {**WORKER, "worker_id": "01000000" + "f" * 48, "worker_type": "DRIVER", "pid": 1}
    fake.answers["/api/v0/workers"] = listing([WORKER, driver], flat)
    first, second = ask(fake, Dashboard.paused)
    assert first == PAUSED
    assert (second.key, second.worker_type, second.pid) == (driver["worker_id"], "DRIVER", 1)


def test_workers_of_a_dead_node_are_not_paused() -> None:
    """Ray lists them as paused for minutes after the node has died.

    The nodes are requested again when a worker of an unknown node appears, and when the last answer is old.
    """
    fake = FakeDashboard()
    of_dead = {**WORKER, "worker_id": "w2", "node_id": "ef" * 28}
    fake.answers["/api/v0/workers"] = listing([WORKER])

    async def look(dashboard: Dashboard) -> None:
        assert [await dashboard.paused(), await dashboard.paused()] == [(PAUSED,)] * 2
        assert asked_for(fake, "nodes") == 1
        fake.answers["/api/v0/workers"] = listing([WORKER, of_dead])
        assert await dashboard.paused() == (PAUSED,)
        assert asked_for(fake, "nodes") == 2
        fake.answers["/api/v0/nodes"] = listing([{"node_id": of_dead["node_id"], "node_ip": "10.0.0.8"}])
        dashboard._nodes_asked = (float("-inf"), dashboard._nodes_asked[1])
        assert [worker.key for worker in await dashboard.paused()] == ["w2"]
        fake.answers["/api/v0/nodes"] = listing([])
        dashboard._nodes_asked = (float("-inf"), dashboard._nodes_asked[1])
        assert len(await dashboard.paused()) == 2, "there is no cluster without nodes"

    ask(fake, look)


def test_both_filters_are_asked_for() -> None:
    """Without is_alive, Ray also lists dead workers; without the pause filter, it lists all workers."""
    fake = FakeDashboard()
    assert ask(fake, Dashboard.paused) == ()
    query = fake.requests[0].query
    asked = zip(
        query.getall("filter_keys"), query.getall("filter_predicates"), query.getall("filter_values"), strict=True
    )
    assert list(asked) == [("num_paused_threads", "!=", "0"), ("is_alive", "=", "True")]
    assert query["detail"] == "1"


@pytest.mark.parametrize(
    "change",
    [
        {"debugger_port": None},
        {"debugger_port": 0},
        {"debugger_port": 70000},
        {"debugger_port": "40001"},
        {"ip": None},
        {"ip": ""},
        {"worker_id": None},
    ],
)
def test_rows_that_cannot_be_attached_are_skipped(change: dict[str, Any]) -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = listing([{**WORKER, **change}, "no row", WORKER])
    assert ask(fake, Dashboard.paused) == (PAUSED,)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (text(200, "<html>hello</html>"), Code.DASHBOARD_GARBAGE),
        (text(404, "404: Not Found"), Code.DASHBOARD_GARBAGE),
        (text(500, "boom"), Code.DASHBOARD_GARBAGE),
        (text(302, "", Location="http://elsewhere.invalid/"), Code.DASHBOARD_GARBAGE),
        ([], Code.DASHBOARD_GARBAGE),
        ({"hello": "world"}, Code.DASHBOARD_GARBAGE),
        ({"result": True, "data": None}, Code.DASHBOARD_GARBAGE),
        ({"result": True, "data": {"result": {"result": None}}}, Code.DASHBOARD_GARBAGE),
        ({"result": False, "msg": "GCS timed out"}, Code.DASHBOARD_UNREACHABLE),
        (text(500, '{"result": false, "msg": "GCS timed out"}'), Code.DASHBOARD_UNREACHABLE),
    ],
)
def test_sick_answers_have_a_name(answer: Any, code: Code) -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = answer
    assert problem(fake).code is code


def test_rays_own_complaint_is_kept_for_the_log() -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = {"result": False, "msg": "GCS timed out"}
    assert problem(fake).detail == "GCS timed out"


def test_a_redirect_is_not_followed() -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = text(302, "", Location="/api/v0/actors")
    problem(fake)
    assert [request.path for request in fake.requests] == ["/api/v0/workers"]


def test_a_huge_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raydap.cluster.dashboard.rest.MAX_ANSWER", 100_000)
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = text(200, "[" * 200_000)
    assert problem(fake).code is Code.DASHBOARD_GARBAGE


def test_a_dashboard_that_does_not_answer_is_given_up() -> None:
    fake = FakeDashboard()

    async def never(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    fake.answers["/api/v0/workers"] = never
    found = problem(fake, timeout_s=0.1)
    assert found.code is Code.DASHBOARD_UNREACHABLE
    assert "0.1 s" in found.text


def test_what_speaks_no_http_is_garbage() -> None:
    async def main() -> Problem:
        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        rest = Rest(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {})
        with pytest.raises(ProblemError) as caught:
            await Dashboard(rest).paused()
        await rest.close()
        server.close()
        return caught.value.problem

    assert asyncio.run(main()).code is Code.DASHBOARD_GARBAGE


def unreachable(url: Callable[[FakeDashboard], str], runs: bool = False) -> Problem:
    """Return the problem of a URL where no dashboard answers, whether the fake one runs or has ended."""

    async def main() -> Problem:
        fake = FakeDashboard()
        async with fake.running():
            rest = Rest(url(fake), {})
            if runs:
                return await failure(rest)
        return await failure(rest)

    async def failure(rest: Rest) -> Problem:
        with pytest.raises(ProblemError) as caught:
            await Dashboard(rest).paused()
        await rest.close()
        assert f"The Ray dashboard at {rest.url} " in caught.value.problem.text
        return caught.value.problem

    found = asyncio.run(main())
    assert found.code is Code.DASHBOARD_UNREACHABLE
    assert "ConnectionKey" not in found.text + found.detail, "aiohttp's objects are of no use to callers"
    return found


def test_a_port_without_a_listener_is_unreachable_for_the_system_s_reason() -> None:
    assert "cannot be reached (Connection refused);" in unreachable(lambda fake: fake.url).text


def test_a_name_that_leads_nowhere_and_a_server_without_tls_are_unreachable_too() -> None:
    assert re.search(r"reached \([\w -]*[Nn]ame[\w -]*\);", unreachable(lambda _: "http://no-such.invalid:1").text)
    plain = unreachable(lambda fake: fake.url.replace("http", "https"), runs=True)
    assert re.search(r"reached \([A-Z_]+\);", plain.text), plain.text


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(FakeDashboard(), Dashboard.paused) == ()


def guarded(token: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return a handler like Ray's own middleware: 401 without a token, 403 with a wrong one."""

    async def answer(request: web.Request) -> web.StreamResponse:
        given = request.headers.get("Authorization")
        if given is None:
            return web.Response(status=401, text="Unauthorized: Missing authentication token")
        if given != f"Bearer {token}":
            return web.Response(status=403, text="Forbidden: Invalid authentication token")
        return web.json_response(listing([WORKER]))

    return answer


def test_a_cluster_that_wants_a_token_gets_it() -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = guarded("s3cret")
    assert ask(fake, Dashboard.paused, {"RAY_AUTH_TOKEN": "s3cret"}) == (PAUSED,)
    assert asked_for(fake, "workers") == 2


def test_with_auth_mode_the_token_is_sent_at_once() -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = guarded("s3cret")
    assert ask(fake, Dashboard.paused, {"RAY_AUTH_TOKEN": "s3cret", "RAY_AUTH_MODE": "token"}) == (PAUSED,)
    assert asked_for(fake, "workers") == 1


def test_a_cluster_that_wants_none_gets_none() -> None:
    fake = FakeDashboard()
    ask(fake, Dashboard.paused, {"RAY_AUTH_TOKEN": "s3cret"})
    assert "Authorization" not in fake.requests[0].headers


def test_a_missing_and_a_wrong_token_are_two_things(tmp_path: Path) -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/workers"] = guarded("s3cret")
    assert problem(fake, {"HOME": str(tmp_path)}).code is Code.TOKEN_WANTED
    refused = problem(fake, {"RAY_AUTH_TOKEN": "wr0ng"})
    assert refused.code is Code.TOKEN_REFUSED
    assert "wr0ng" not in refused.text + refused.detail


def test_labels_join_tasks_actors_and_jobs() -> None:
    fake = FakeDashboard()
    fake.answers["/api/v0/tasks"] = listing(
        [{"worker_id": PAUSED.key, "func_or_class_name": "Act.step", "actor_id": "a1", "job_id": "01000000"}]
    )
    fake.answers["/api/v0/actors"] = listing([{"actor_id": "a1", "class_name": "Act", "name": "bob"}])
    fake.answers["/api/jobs/"] = [{"job_id": "01000000", "submission_id": "raysubmit_x"}]
    labels = ask(fake, lambda dashboard: dashboard.ray_facts([PAUSED]))
    assert labels == {PAUSED.key: RayFacts("Act.step", "Act", "bob", "01000000", "raysubmit_x", "bob", rank=0)}
    tasks = next(request for request in fake.requests if request.path == "/api/v0/tasks")
    assert (tasks.query["filter_keys"], tasks.query["filter_values"]) == ("state", "RUNNING")


def test_labels_do_without_the_jobs_api() -> None:
    fake = FakeDashboard()
    fake.answers["/api/jobs/"] = text(500, "boom")
    assert ask(fake, lambda dashboard: dashboard.ray_facts([PAUSED])) == {PAUSED.key: RayFacts()}


def test_passwords_in_the_url_are_not_shown() -> None:
    async def main() -> str:
        rest = Rest("http://ann:pa55@127.0.0.1:8265/ray", {})
        await rest.close()
        return rest.where

    assert asyncio.run(main()) == "http://127.0.0.1:8265/ray"


def test_a_dashboard_that_was_left_is_a_problem_too() -> None:
    async def main() -> None:
        rest = Rest("http://127.0.0.1:1", {})
        await rest.close()
        with pytest.raises(ProblemError) as caught:
            await rest.get("/api/version")
        assert caught.value.problem.code is Code.DASHBOARD_UNREACHABLE

    asyncio.run(main())


def test_workers_are_listed_with_their_debug_ports() -> None:
    fake = FakeDashboard()
    runs = {**WORKER, "worker_id": "w2", "debugger_port": None, "num_paused_threads": None}
    driver = {**WORKER, "worker_id": "w3", "worker_type": "DRIVER", "num_paused_threads": 0}
    fake.answers["/api/v0/workers"] = listing([WORKER, runs, driver, {**WORKER, "worker_type": "SPILL_WORKER"}])
    listed = ask(fake, Dashboard.listed)
    assert [(one.key, one.port, paused) for one, paused in listed.items()] == [
        (WORKER["worker_id"], 40001, 1),
        ("w2", 0, 0),
        ("w3", 40001, 0),
    ]
    assert fake.requests[0].query["detail"] == "1"


def test_all_running_workers_are_listed_except_raydap_itself() -> None:
    fake = FakeDashboard()
    types = {"w8": "SPILL_WORKER", "w5": "RESTORE_WORKER", **dict.fromkeys(("w1", "w2", "w3", "w4", "w6"), "WORKER")}
    drivers = {"01000000" + "f" * 48: 5, "02000000" + "f" * 48: 6}
    rows = [{**WORKER, "worker_id": key, "worker_type": kind, "pid": int(key[1])} for key, kind in types.items()]
    rows += [{**WORKER, "worker_id": key, "worker_type": "DRIVER", "pid": pid} for key, pid in drivers.items()]
    # Ray's list keeps the workers of a node that has died.
    rows.append({**WORKER, "worker_id": "w7", "pid": 7, "node_id": "ef" * 28})
    fake.answers["/api/v0/workers"] = listing([*rows, {**WORKER, "worker_id": None}, {**WORKER, "ip": ""}])
    fake.answers["/api/v0/tasks"] = listing([{"worker_id": "w1", "func_or_class_name": "train", "job_id": "01000000"}])
    actors = [
        {"actor_id": name, "class_name": name, "pid": pid, "node_id": WORKER["node_id"]}
        for name, pid in (("Trainer", 2), ("RaydapRelay", 3), ("RaydapSurvey", 4))
    ]
    fake.answers["/api/v0/actors"] = listing(actors)
    fake.answers["/api/jobs/"] = [
        {"job_id": "01000000", "entrypoint": "python train.py"},
        {"job_id": "02000000", "entrypoint": "/usr/bin/python /opt/raydap/cluster/ray_process/raydap_process.py relay"},
    ]
    alive = ask(fake, Dashboard.alive)
    assert {(worker.pid, worker.worker_type): label.task or label.actor for worker, label in alive.items()} == {
        (1, "WORKER"): "train",
        (2, "WORKER"): "Trainer",
        (6, "WORKER"): "",
        (5, "DRIVER"): "driver train.py",
    }
    assert {(worker.port, worker.node_id) for worker in alive} == {(0, WORKER["node_id"])}
    query = fake.requests[0].query
    # Ray's default limit is 100 rows.
    assert query["limit"] == "10000"
    assert (query.getall("filter_keys"), query.getall("filter_values")) == (["is_alive"], ["True"])
    assert asked_for(fake, "workers") == 1
    assert len(fake.requests) == 6
