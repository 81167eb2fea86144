"""Threads that Ray creates in C++: each of their stops is shown, inspected and continued once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.launched import ended, line_of, start
from support.look import evaluate, go_on, local_variables

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1, max_concurrency=3)
class Doubler:
    def __init__(self):
        "begun"

    def double(self, number):
        doubled = number * 2
        return doubled  # in a thread

@ray.remote(num_cpus=0.1, concurrency_groups={"io": 2, "control": 1})
class Store:
    def __init__(self, items):
        "begun"
        self.items = items

    @ray.method(concurrency_group="io")
    def read(self, key):
        return self.items[key]

    def write(self, key, number):
        self.items[key] = number  # in the thread of a group

if __name__ == "__main__":
    ray.init()
    doubler = Doubler.remote()
    for _ in range(2):
        print("doubled: " + str(ray.get([doubler.double.remote(number) for number in range(3)])))
    store = Store.remote({})
    for number in range(3):
        ray.get(store.write.remote("a", number))
        print("read: " + str(ray.get(store.read.remote("a"))))
"""

PLACES = ("# in a thread", "# in the thread of a group")

pytestmark = pytest.mark.core


class Play:
    """A session that has launched the program, with breakpoints at PLACES."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def begin(self) -> None:
        """Let the next actor begin."""

    def output(self) -> str:
        """Return the output of the program at its end."""
        return ended(self.client)


class AttachedPlay(Play):
    """A session that has attached: each actor is debugged by its adapter after a breakpoint()."""

    def __init__(self, client: Client, driver: Child) -> None:
        super().__init__(client)
        self.driver = driver

    def begin(self) -> None:
        go_on(self.client, self.client.wait_event("stopped"))

    def output(self) -> str:
        assert self.driver.wait() == 0, self.driver.output
        return self.driver.output


@pytest.fixture(params=["launch", "attach"])
def play(
    request: pytest.FixtureRequest,
    client: Client,
    cluster: Cluster,
    run_driver: Callable[..., Child],
    attach: Callable[..., Client],
    tmp_path: Path,
) -> Play:
    if request.param == "launch":
        start(client, cluster, tmp_path, PROGRAM, *PLACES)
        return Play(client)
    attach()
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace('"begun"', "breakpoint()"))
    wanted = [{"line": line_of(PROGRAM, text)} for text in PLACES]
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)
    return AttachedPlay(client, run_driver(program))


def test_threads_of_an_actor_and_of_a_concurrency_group_stop_and_continue(play: Play) -> None:
    play.begin()
    three_threads_of_an_actor_stop_at_one_line_twice(play.client)
    play.begin()
    the_thread_of_a_concurrency_group_stops(play.client)
    results = play.output()
    assert results.count("doubled: [0, 2, 4]\n") == 2
    assert [f"read: {number}\n" in results for number in range(3)] == [True] * 3


def three_threads_of_an_actor_stop_at_one_line_twice(client: Client) -> None:
    seen: Counter[str] = Counter()
    for _ in range(2):
        stops = [client.wait_event("stopped") for _ in range(3)]
        for stop in stops:
            seen[local_variables(client, stop)["doubled"]] += 1
            assert evaluate(client, stop, "number * 3") in ("0", "3", "6")
            go_on(client, stop)
    assert seen == {"0": 2, "2": 2, "4": 2}


def the_thread_of_a_concurrency_group_stops(client: Client) -> None:
    for number in range(3):
        stop = client.wait_event("stopped")
        assert local_variables(client, stop)["number"] == str(number)
        go_on(client, stop)
