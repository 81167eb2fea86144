"""Steps across `.remote()` in a launched program: Step Into follows each kind of call, and Step Out leads back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.launched import ended, start, stopped_line
from support.look import bodies, evaluate, go_on, local_variables, user_frames

PROGRAM = """\
import asyncio
import ray

@ray.remote(num_cpus=0.1)
def inner(number):
    return number + 1  # in inner

@ray.remote(num_cpus=0.1)
def outer(number):
    value = ray.get(inner.remote(number))  # nested
    return value * 2  # end of outer

@ray.remote(num_cpus=0.1)
def count(limit):
    for number in range(limit):  # in count
        yield number

@ray.remote(num_cpus=0.1)
class Plain:
    def __init__(self, number):
        self.number = number  # in __init__

    def get(self, add):
        return self.number + add  # in get

@ray.remote(num_cpus=0.1)
class Async:
    async def get(self, add):
        return 100 + add  # in async get

if __name__ == "__main__":
    ray.init()
    others = [outer.remote(number) for number in (10, 20)]  # others
    ref = outer.remote(1)  # task
    first = ray.get(ref)  # result of task
    plain = Plain.remote(7)  # creation
    ray.wait([plain.get.remote(0)])
    calls = [plain.get.remote(0), plain.get.remote(1)]  # two calls
    values = ray.get(calls)  # result of method
    items = [ray.get(item) for item in count.remote(2)]  # generator
    async def main():
        actor = Async.remote()
        ref = actor.get.remote(5)  # async method
        value = await ref  # await
        return value  # after await
    last = asyncio.run(main())
    print("result: " + str([first, values, items, last, ray.get(others)]))  # end
"""

RESULT = "result: [4, [7, 8], [0, 1], 105, [22, 42]]\n"


@pytest.fixture
def launch(client: Client, cluster: Cluster, tmp_path: Path) -> Callable[..., Client]:
    return lambda *texts, **more: start(client, cluster, tmp_path, PROGRAM, *texts, **more)


def step_into(client: Client, stop: dict[str, Any], **more: Any) -> dict[str, Any]:
    client.request("stepIn", threadId=stop["threadId"], **more)
    return client.wait_event("stopped")


def step_out(client: Client, stop: dict[str, Any]) -> dict[str, Any]:
    client.request("stepOut", threadId=stop["threadId"])
    return client.wait_event("stopped")


@pytest.mark.core
def test_each_kind_of_call_is_followed_and_leads_back(launch: Callable[..., Client]) -> None:
    client = launch("# task", "# two calls", "# async method")
    driver = client.wait_event("stopped")
    stop = step_into(client, driver)
    assert stop["threadId"] != driver["threadId"]
    assert stop["reason"] == "step"
    assert stopped_line(client, stop).endswith("# nested")
    assert local_variables(client, stop)["number"] == "1"
    nested = step_into(client, stop)
    assert stopped_line(client, nested).endswith("# in inner")
    stop = step_out(client, nested)
    assert stop["reason"] == "step"
    assert stopped_line(client, stop).endswith("# nested")
    stop = step_out(client, stop)
    assert stop["threadId"] == driver["threadId"]
    assert stopped_line(client, stop).endswith("# result of task")
    client.request("next", threadId=driver["threadId"])
    stop = client.wait_event("stopped")
    assert stopped_line(client, stop).endswith("# creation")
    stop = step_into(client, stop)
    assert stopped_line(client, stop).endswith("# in __init__")
    go_on(client, stop)
    driver = client.wait_event("stopped")
    assert stopped_line(client, driver).endswith("# two calls")
    targets = client.request("stepInTargets", frameId=user_frames(client, driver)[0]["id"])["targets"]
    (second,) = (target for target in targets if "remote(1)" in target["label"])
    stop = step_into(client, driver, targetId=second["id"])
    assert stopped_line(client, stop).endswith("# in get")
    assert local_variables(client, stop)["add"] == "1"
    stop = step_out(client, stop)
    assert stopped_line(client, stop).endswith("# result of method")
    client.request("next", threadId=driver["threadId"])
    stop = client.wait_event("stopped")
    assert stopped_line(client, stop).endswith("# generator")
    stop = step_into(client, stop)
    assert stopped_line(client, stop).endswith("# in count")
    stop = step_out(client, stop)
    assert stopped_line(client, stop).endswith("# generator")
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert stopped_line(client, stop).endswith("# async method")
    stop = step_into(client, stop)
    assert stopped_line(client, stop).endswith("# in async get")
    stop = step_out(client, stop)
    assert stopped_line(client, stop).endswith("# after await")
    go_on(client, stop)
    assert RESULT in ended(client)


GATHERED = """\
import asyncio
import ray

@ray.remote(num_cpus=0.1)
def work(number):
    return number + 1  # in work

async def gathered():
    refs = [work.remote(1)]  # gathered
    values = await asyncio.gather(*refs, work.remote(2))
    return values  # after gather

async def limited():
    ref = work.remote(3)  # limited
    value = await asyncio.wait_for(ref, 60)
    return value  # after wait_for

async def waited():
    ref = work.remote(4)  # waited
    done, _ = await asyncio.wait([asyncio.ensure_future(ref)])
    return done.pop().result()  # after wait

async def main():
    return [await gathered(), await limited(), await waited()]

if __name__ == "__main__":
    ray.init()
    print("result: " + str(asyncio.run(main())))
"""


def test_step_out_leads_to_a_coroutine_that_waits_through_asyncio(
    client: Client, cluster: Cluster, tmp_path: Path
) -> None:
    start(client, cluster, tmp_path, GATHERED, "# gathered", "# limited", "# waited")
    for begins, ends in (("gathered", "gather"), ("limited", "wait_for"), ("waited", "wait")):
        driver = client.wait_event("stopped")
        assert stopped_line(client, driver).endswith(f"# {begins}")
        stop = step_into(client, driver)
        assert stopped_line(client, stop).endswith("# in work")
        stop = step_out(client, stop)
        assert stop["threadId"] == driver["threadId"]
        assert stopped_line(client, stop).endswith(f"# after {ends}")
        go_on(client, stop)
    assert "result: [[2, 3], 4, 5]\n" in ended(client)


HARD = """\
import os
import threading
import ray

@ray.remote(num_cpus=0.1)
def work(number):
    return number  # in work

@ray.remote(num_cpus=0.1, max_retries=1, retry_exceptions=True)
def flaky(file):
    if not os.path.exists(file):  # in flaky
        open(file, "w").close()
        raise OSError
    return "second"

@ray.remote(num_cpus=1000)
def never():
    return 0

def poll(ref):
    while True:
        try:
            return ray.get(ref, timeout=0.05)  # polls
        except ray.exceptions.GetTimeoutError:
            pass

def submit(end):
    while not end.is_set():
        ray.get(work.remote(0))

if __name__ == "__main__":
    ray.init()
    end = threading.Event()
    other = threading.Thread(target=submit, args=[end])
    other.start()
    one = poll(work.remote(1) if other else 0)  # among others
    two = ray.get(flaky.remote(os.path.abspath("file")))  # fails once
    end.set()
    other.join()
    ref = never.remote()  # never
    ready, _ = ray.wait([ref], timeout=60)  # waits
    print("result: " + str([one, two, ready]))
"""


def test_only_this_call_stops_and_only_once_and_a_wait_can_be_given_up(
    client: Client, cluster: Cluster, tmp_path: Path
) -> None:
    start(client, cluster, tmp_path, HARD, "# among others", "# never")
    driver = client.wait_event("stopped")
    stop = step_into(client, driver)
    assert stopped_line(client, stop).endswith("# in work")
    assert local_variables(client, stop)["number"] == "1"
    stop = step_out(client, stop)
    assert stopped_line(client, stop).endswith("# polls")
    client.request("stepOut", threadId=driver["threadId"])
    stop = client.wait_event("stopped")
    while not stopped_line(client, stop).endswith("# fails once"):
        client.request("next", threadId=driver["threadId"])
        stop = client.wait_event("stopped")
    stop = step_into(client, stop)
    assert stopped_line(client, stop).endswith("# in flaky")
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert stopped_line(client, stop).endswith("# never")
    assert evaluate(client, stop, "one, two") == "(1, 'second')"
    client.request("stepIn", threadId=driver["threadId"])
    client.wait_event("output", lambda body: "Step Into waits until a worker begins never" in body["output"])
    client.request("pause", threadId=driver["threadId"])
    client.wait_event("output", lambda body: "no longer waits for the call of never" in body["output"])
    stop = client.wait_event("stopped")
    assert stop["threadId"] == driver["threadId"]
    assert stopped_line(client, stop).endswith("# waits")


UNPREPARED = """\
import ray

@ray.remote(num_cpus=0.1)
class Counter:
    def add(self, number):
        return number + 1  # in add

@ray.remote(num_cpus=0.1)
def task():
    return 3

ray.init()
counter = Counter.remote()
ray.get(counter.add.remote(0))
breakpoint()
value = ray.get(counter.add.remote(1))  # add
other = ray.get(task.remote())  # task
print("result: " + str([value, other]))
"""


def test_a_method_is_followed_to_an_actor_that_was_not_prepared(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    driver = run_driver(UNPREPARED)
    client = attach()
    stop = client.wait_event("stopped")
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert source_line(UNPREPARED, client, stop).endswith("# add")
    stop = step_into(client, stop)
    assert source_line(UNPREPARED, client, stop).endswith("# in add")
    stop = step_out(client, stop)
    assert source_line(UNPREPARED, client, stop).endswith("# add")
    client.request("next", threadId=stop["threadId"])
    stop = step_into(client, client.wait_event("stopped"))
    assert any("this program is not prepared" in body["output"] for body in bodies(client, "output"))
    go_on(client, stop)
    driver.wait_for(r"result: \[2, 3\]")


def source_line(source: str, client: Client, stop: dict[str, Any]) -> str:
    line: int = user_frames(client, stop)[0]["line"]
    return source.splitlines()[line - 1]
