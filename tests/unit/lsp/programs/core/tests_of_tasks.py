"""Tests of a program with Ray, in which much is local."""

import pytest
import ray


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.fixture
def answer(monkeypatch):
    monkeypatch.setenv("RAY_DEBUG", "0")
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    return input("Continue? ")


@pytest.mark.parametrize("count", [1, 2])
def test_tasks(cluster, count):
    @ray.remote
    def double(x):  # runs in: task
        return 2 * x

    assert ray.get([double.remote(i) for i in range(count)], timeout=30) == [2 * i for i in range(count)]


def test_errors(cluster):
    class Worker:
        def fail(self):  # runs in: actor
            raise ValueError

    actor = ray.remote(Worker).remote()
    with pytest.raises(ray.exceptions.RayTaskError):
        ray.get(actor.fail.remote())


def test_lambdas(cluster):
    refs = [ray.remote(lambda x: x + 1).remote(i) for i in range(3)]  # runs in: task
    assert sum(map(lambda ref: ray.get(ref), refs)) == 6
