"""Ray's post-mortem stops: the failing frame is shown first, then the driver gets the original error."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.look import bodies, evaluate, go_on, local_variables, name_of, user_frames

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "post_mortem.py"

ASYNC = """\
import asyncio
import ray

@ray.remote(num_cpus=0.1, runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}})
class Server:
    async def answer(self, question):
        await asyncio.sleep(0)
        return self.look_up(question)

    def look_up(self, question):
        known = [1, 2]
        return known.index(question)

ray.init()
server = Server.remote()
try:
    ray.get(server.answer.remote(3))
except ValueError as error:
    print("result: " + " ".join(map(str, [type(error.cause).__name__, ray.get(server.answer.remote(2))])))
"""


def post_mortem(client: Client) -> dict[str, object]:
    """Wait for a post-mortem stop."""
    stop = client.wait_event("stopped")
    assert stop["reason"] == "exception"
    return stop


def exception(client: Client, stop: dict[str, object]) -> str:
    """Return the name of the exception's class, without the frame that debugpy may add to it."""
    name: str = client.request("exceptionInfo", threadId=stop["threadId"])["exceptionId"]
    return name.split()[0]


@pytest.mark.core
def test_a_task_and_an_actor_method(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    driver = run_driver(EXAMPLE)
    stops = {}
    for stop in (post_mortem(client), post_mortem(client)):
        stops[user_frames(client, stop)[0]["name"]] = stop
    assert set(stops) == {"head", "price"}

    stop = stops["head"]
    assert exception(client, stop) == "IndexError"
    assert local_variables(client, stop)["values"] == "[]"
    assert evaluate(client, stop, "len(values)") == "0"
    assert [frame["name"] for frame in user_frames(client, stop)][:2] == ["head", "first"]
    assert name_of(client, stop, "first")
    go_on(client, stop)

    stop = stops["price"]
    assert exception(client, stop) == "KeyError"
    found = local_variables(client, stop)
    assert (found["article"], found["prices"]) == ("'pear'", "{'apple': 3}")
    assert name_of(client, stop, "Shop · price")
    go_on(client, stop)

    assert driver.wait() == 0, driver.output
    assert "result: ['IndexError', 'KeyError']" in driver.output
    assert len(bodies(client, "stopped")) == 2


@pytest.mark.core
def test_an_async_method(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    client = attach()
    driver = run_driver(ASYNC)
    stop = post_mortem(client)
    assert user_frames(client, stop)[0]["name"] == "look_up"
    assert exception(client, stop) == "ValueError"
    found = local_variables(client, stop)
    assert (found["known"], found["question"]) == ("[1, 2]", "3")
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: ValueError 1" in driver.output
    assert len(bodies(client, "stopped")) == 1


NESTED = """\
import ray

POST_MORTEM = {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}

@ray.remote(num_cpus=0.1, max_retries=0, runtime_env=POST_MORTEM)
def inner(divisor):
    return 10 / divisor

@ray.remote(num_cpus=0.1, max_retries=0, runtime_env=POST_MORTEM)
def outer(given):
    return ray.get(inner.remote(given - 1))

ray.init()
try:
    ray.get(outer.remote(1))
except ZeroDivisionError as error:
    print("result: " + str(type(error.cause).__name__))
"""


@pytest.mark.core
def test_nested_tasks(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    """The inner task stops where it failed. Then the outer one stops, to which Ray passes the error."""
    client = attach()
    driver = run_driver(NESTED)
    stop = post_mortem(client)
    assert exception(client, stop) == "ZeroDivisionError"
    assert user_frames(client, stop)[0]["name"] == "inner"
    assert local_variables(client, stop)["divisor"] == "0"
    go_on(client, stop)
    stop = post_mortem(client)
    assert "ZeroDivisionError" in exception(client, stop)
    assert user_frames(client, stop)[0]["name"] == "outer"
    assert local_variables(client, stop)["given"] == "1"
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: ZeroDivisionError" in driver.output


IN_A_THREAD = """\
import threading
import ray

@ray.remote(num_cpus=0.1)
class Prefetcher:
    def start(self):
        thread = threading.Thread(target=self.fill)
        thread.start()
        thread.join()

    def fill(self):
        batch = 7
        raise LookupError(batch)  # no task has failed

ray.init()
ray.get(Prefetcher.remote().start.remote())
"""


@pytest.mark.core
def test_an_error_that_fails_no_task_stops_with_the_filter_user_unhandled(
    client: Client, cluster: Cluster, tmp_path: Path
) -> None:
    """Such errors happen in a thread of the user, or in a training function of Ray Train."""
    program = tmp_path / "prefetch.py"
    program.write_text(IN_A_THREAD)
    arguments = {"program": str(program), "env": {"RAY_ADDRESS": cluster.address}, "dashboard": cluster.dashboard}
    client.timeout = 60
    client.start_session("launch", arguments, filters=["userUnhandled"])
    stop = post_mortem(client)
    assert exception(client, stop) == "LookupError"
    assert user_frames(client, stop)[0]["name"].split()[0] == "fill"
    assert local_variables(client, stop)["batch"] == "7"
    go_on(client, stop)
    assert client.wait_event("exited") == {"exitCode": 0}
