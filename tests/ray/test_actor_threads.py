"""Threads that Ray makes in C++: each of their stops is shown, read and continued once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.launched import ended, line_of, start
from support.look import evaluate, go_on, local_variables

THREADED = """\
import ray

@ray.remote(num_cpus=0.1, max_concurrency=3)
class Doubler:
    def __init__(self):
        "begun"

    def double(self, number):
        doubled = number * 2
        return doubled  # in a thread

if __name__ == "__main__":
    ray.init()
    doubler = Doubler.remote()
    for _ in range(2):
        print("result: " + str(ray.get([doubler.double.remote(number) for number in range(3)])))
"""

GROUPS = """\
import ray

@ray.remote(num_cpus=0.1, concurrency_groups={"io": 2, "control": 1})
class Store:
    def __init__(self, items):
        "begun"
        self.items = items

    @ray.method(concurrency_group="io")
    def read(self, key):
        return self.items[key]

    def write(self, key, number):
        self.items[key] = number  # in a thread

if __name__ == "__main__":
    ray.init()
    store = Store.remote({})
    for number in range(3):
        ray.get(store.write.remote("a", number))
        print("result: " + str(ray.get(store.read.remote("a"))))
"""

pytestmark = pytest.mark.core

Play = Callable[[str], tuple[Client, Callable[[], str]]]


@pytest.fixture(params=["launch", "attach"])
def play(
    request: pytest.FixtureRequest,
    client: Client,
    cluster: Cluster,
    run_driver: Callable[..., Child],
    attach: Callable[..., Client],
    tmp_path: Path,
) -> Play:
    """`play(source)` runs a program with a breakpoint "in a thread". It returns a client, and a function that returns
    the output of the program at its end. With `attach` the actor is debugged by its adapter."""

    def launch(source: str) -> tuple[Client, Callable[[], str]]:
        start(client, cluster, tmp_path, source, "# in a thread")
        return client, lambda: ended(client)

    def attach_to_driver(source: str) -> tuple[Client, Callable[[], str]]:
        attach()
        program = tmp_path / "program.py"
        program.write_text(source.replace('"begun"', "breakpoint()"))
        wanted = [{"line": line_of(source, "# in a thread")}]
        client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)
        driver = run_driver(program)
        go_on(client, client.wait_event("stopped"))

        def output() -> str:
            assert driver.wait() == 0, driver.output
            return driver.output

        return client, output

    return launch if request.param == "launch" else attach_to_driver


def test_three_threads_of_an_actor_stop_at_one_line_twice(play: Play) -> None:
    client, output = play(THREADED)
    seen: Counter[str] = Counter()
    for _ in range(2):
        stops = [client.wait_event("stopped") for _ in range(3)]
        for stop in stops:
            seen[local_variables(client, stop)["doubled"]] += 1
            assert evaluate(client, stop, "number * 3") in ("0", "3", "6")
            go_on(client, stop)
    assert seen == {"0": 2, "2": 2, "4": 2}
    assert output().count("result: [0, 2, 4]\n") == 2


def test_the_threads_of_a_concurrency_group_stop_and_run_on(play: Play) -> None:
    client, output = play(GROUPS)
    for number in range(3):
        stop = client.wait_event("stopped")
        assert local_variables(client, stop)["number"] == str(number)
        go_on(client, stop)
    results = output()
    assert [f"result: {number}\n" in results for number in range(3)] == [True] * 3
