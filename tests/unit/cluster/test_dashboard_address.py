"""Which dashboard is used. A stand-in replaces the process that asks Ray."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import pytest

from raydap import tcp_sockets
from raydap.cluster.dashboard import dashboard_address
from raydap.cluster.dashboard.dashboard_address import DEFAULT_URL, DashboardLocation, resolve
from raydap.cluster.ray_process.ray_query import QueryFailed
from raydap.errors import Code, Problem, ProblemError
from raydap.tcp_sockets import TcpSocket


class FakeRay:
    """Stands in for the query to Ray's process, and keeps its questions."""

    def __init__(self) -> None:
        self.answer: Any = {"address": "10.0.0.1:6379", "url": "http://10.0.0.1:8265"}
        self.questions: list[Mapping[str, Any]] = []
        self.environ: Mapping[str, str] = {}

    async def query(
        self, operation: str, question: Mapping[str, Any], environ: Mapping[str, str], timeout: float
    ) -> Any:
        self.questions.append(question)
        self.environ = environ
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setattr(dashboard_address, "query", fake.query)
    return fake


def where(dashboard: str | None, **environ: str) -> DashboardLocation:
    return asyncio.run(resolve(dashboard, environ))


def problem(dashboard: str | None, **environ: str) -> Problem:
    with pytest.raises(ProblemError) as caught:
        where(dashboard, **environ)
    return caught.value.problem


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://head:8265", "http://head:8265"),
        ("https://ray.example.com/team/", "https://ray.example.com/team"),
        ("http://[::1]:8265/", "http://[::1]:8265"),
        ("  http://head:8265/?x=1#/jobs ", "http://head:8265"),
    ],
)
def test_a_url_is_used_unchanged(ray: FakeRay, given: str, url: str) -> None:
    assert where(given) == DashboardLocation(url)
    assert ray.questions == []


def test_the_argument_the_variables_and_the_local_cluster_come_in_this_order(ray: FakeRay) -> None:
    both = {"RAY_API_SERVER_ADDRESS": "http://api:1", "RAY_ADDRESS": "http://addr:2"}
    assert where("http://arg:3", **both).url == "http://arg:3"
    assert where(None, **both).url == "http://api:1"
    assert where(None, RAY_API_SERVER_ADDRESS="", RAY_ADDRESS="http://addr:2").url == "http://addr:2"
    assert ray.questions == []
    assert where(None).url == "http://10.0.0.1:8265"
    assert ray.questions == [{"address": None, "launched": ""}]


@pytest.mark.parametrize("given", ["head:6379", "10.0.0.1:6379", "[::1]:6379", "ray://head:10001"])
def test_a_ray_address_is_ray_s_to_answer(ray: FakeRay, given: str) -> None:
    assert where(given) == DashboardLocation("http://10.0.0.1:8265")
    assert ray.questions == [{"address": given, "launched": ""}]


def test_auto_is_the_local_cluster_even_beside_variables(ray: FakeRay) -> None:
    where("auto", RAY_ADDRESS="http://other:1", KEPT="x")
    assert ray.questions == [{"address": None, "launched": ""}]
    assert ray.environ == {"KEPT": "x"}, "Ray would let RAY_ADDRESS override the question"


def test_a_launched_program_without_a_cluster_has_joined_none_yet(ray: FakeRay) -> None:
    """Other clusters that Ray finds on the machine belong to other programs."""
    ray.answer = {"clusters": [{"address": "10.0.0.1:1"}]}
    with pytest.raises(ProblemError) as caught:
        asyncio.run(resolve(None, {}, "reports"))
    assert caught.value.problem.code is Code.NO_CLUSTER
    assert ray.questions == [{"address": None, "launched": "reports"}]


def test_without_any_cluster_ray_s_default_is_guessed(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.answer = {"clusters": []}
    monkeypatch.setattr(tcp_sockets, "read", lambda: None)
    assert where(None) == DashboardLocation(DEFAULT_URL, guessed=True)


def listens(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    """Pretend that a process of this user listens on Ray's default port."""
    sockets = [TcpSocket("127.0.0.1", 8265, True, uid)]
    monkeypatch.setattr(tcp_sockets, "read", lambda: sockets)


def test_the_default_is_not_guessed_where_another_user_listens(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clusters of other users can be hidden (proc(5), hidepid)."""
    ray.answer = {"clusters": []}
    listens(monkeypatch, os.getuid())
    assert where(None).guessed
    listens(monkeypatch, os.getuid() + 1)
    found = problem(None)
    assert found.code is Code.CLUSTER_NOT_NAMED
    assert found.text.endswith(f'to use it, name it: "dashboard": "{DEFAULT_URL}".')
    assert where(DEFAULT_URL) == DashboardLocation(DEFAULT_URL)


def test_clusters_that_are_not_certainly_meant_are_listed_by_their_dashboards(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older Ray must be asked for the address of the dashboard, which is done only for clusters of this user."""
    rows = [
        {"address": "10.0.0.1:1", "url": "http://10.0.0.1:8265", "owner": "alice", "ours": False, "started": 0.0},
        {"address": "10.0.0.2:1", "url": None, "owner": "bob", "ours": False, "started": 0.0},
        {"address": "127.0.0.1:1", "url": None, "owner": "me", "ours": True, "started": 0.0},
        {"address": "127.0.0.1:2", "url": None, "owner": "me", "ours": True, "started": 0.0},
    ]
    asked: list[Any] = []

    async def query(operation: str, question: Mapping[str, Any], environ: Mapping[str, str], timeout: float) -> Any:
        asked.append(question["address"])
        if question["address"] is None:
            return {"clusters": rows}
        return {"address": question["address"], "url": "http://127.0.0.1:1"}

    monkeypatch.setattr(dashboard_address, "query", query)
    found = problem(None)
    assert found.code is Code.CLUSTER_NOT_NAMED
    assert asked == [None, "127.0.0.1:1", "127.0.0.1:2"]
    assert '"dashboard": "http://127.0.0.1:1" (by me' in found.text
    assert '"dashboard": "http://10.0.0.1:8265" (by alice' in found.text
    assert '"dashboard": "10.0.0.2:1" (by bob' in found.text
    assert problem("auto").code is Code.CLUSTER_NOT_NAMED


@pytest.mark.parametrize(
    "given", ["", "head", "local", "anyscale://x", "http://", "http://a:b", "http://a:99999", "a b:1"]
)
def test_what_is_no_address_is_named(ray: FakeRay, given: str) -> None:
    found = problem(given)
    assert found.code is Code.BAD_ARGUMENT
    assert f'The argument "dashboard" is "{given}"' in found.text


def test_a_bad_variable_is_named(ray: FakeRay) -> None:
    found = problem(None, RAY_ADDRESS="nonsense")
    assert found.code is Code.BAD_ARGUMENT
    assert found.text.startswith('The environment variable RAY_ADDRESS is "nonsense"')


def test_a_cluster_that_does_not_answer(ray: FakeRay) -> None:
    ray.answer = QueryFailed("OSError: refused", "much noise")
    found = problem("head:8265")
    assert found.code is Code.NO_CLUSTER
    assert "does not answer (refused); if that is the dashboard, write http://head:8265." in found.text
    assert "much noise" in found.detail
    assert "much noise" not in found.text


def test_a_cluster_that_wants_a_token_is_asked_again_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[str | None] = []

    async def query(operation: str, question: Mapping[str, Any], environ: Mapping[str, str], timeout: float) -> Any:
        modes.append(environ.get("RAY_AUTH_MODE"))
        if modes[-1] is None:
            raise QueryFailed("AuthenticationError: RPC error: InvalidAuthToken")
        return {"address": "10.0.0.1:6379", "url": "http://10.0.0.1:8265"}

    monkeypatch.setattr(dashboard_address, "query", query)
    assert where("head:6379", RAY_AUTH_TOKEN="s3cret").url == "http://10.0.0.1:8265"
    assert modes == [None, "token"]


@pytest.mark.parametrize(
    ("environ", "code"),
    [({"RAY_AUTH_TOKEN": "wr0ng"}, Code.TOKEN_REFUSED), ({"HOME": "/nonexistent"}, Code.TOKEN_WANTED)],
)
def test_a_cluster_that_refuses_us(ray: FakeRay, environ: dict[str, str], code: Code) -> None:
    ray.answer = QueryFailed("AuthenticationError: RPC error: InvalidAuthToken")
    assert problem("head:6379", **environ).code is code


def test_a_cluster_without_dashboard(ray: FakeRay) -> None:
    ray.answer = {"address": "10.0.0.1:6379", "url": None}
    found = problem("head:6379")
    assert found.code is Code.NO_CLUSTER
    assert "include_dashboard" in found.text
