"""A post mortem in a call that has stopped before: the failing frame is shown next."""

from collections.abc import Callable

import pytest
from dap_client import Client
from local_cluster import Child

from support.look import bodies, go_on, local_variables, user_frames

DRIVER = """\
import sys
import ray

POST_MORTEM = {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}

def head(values):
    position = 3
    if position >= len(values):
        raise ValueError("refused")

@ray.remote(num_cpus=0.1, max_retries=0, runtime_env=POST_MORTEM)
def task(values):
    breakpoint()
    first = head(values)
    return first

@ray.remote(num_cpus=0.1, runtime_env=POST_MORTEM)
class Shop:
    def price(self, values):
        breakpoint()
        return head(values)

@ray.remote(num_cpus=0.1, runtime_env=POST_MORTEM)
class AsyncShop:
    async def price(self, values):
        breakpoint()
        return head(values)

ray.init()
for kind in sys.argv[1:]:
    if kind == "task":
        function = task
    else:
        env_vars = {**POST_MORTEM["env_vars"], "RAY_USE_UVLOOP": str(int(kind == "uvloop"))}
        actors = {
            "actor": Shop,
            "threaded": Shop.options(max_concurrency=3),
            "asyncio": AsyncShop.options(runtime_env={"env_vars": env_vars}),
            "uvloop": AsyncShop.options(runtime_env={"env_vars": env_vars}),
        }
        shop = actors[kind].remote()
        function = shop.price
    for _ in range(2):
        try:
            ray.get(function.remote([]))
        except ValueError as error:
            print(f"{kind}: {error.cause}")
"""

KINDS = ("task", "actor", "asyncio", "uvloop", "threaded")


@pytest.mark.core
def test_the_failing_frame_is_shown_next(attach: Callable[..., Client], run_driver: Callable[..., Child]) -> None:
    """There are two calls, because after the first post mortem pydevd traces more of an actor's threads.

    Ray uses uvloop, which ray[serve] installs, unless it is configured otherwise. Ray 2.39 always uses it.
    """
    client = attach()
    driver = run_driver(DRIVER, *KINDS)
    for _ in range(2 * len(KINDS)):
        stop = client.wait_event("stopped")
        assert stop["reason"] == "breakpoint"
        go_on(client, stop)
        stop = client.wait_event("stopped")
        assert stop["reason"] == "exception"
        assert user_frames(client, stop)[0]["name"] == "head"
        found = local_variables(client, stop)
        assert (found["position"], found["values"]) == ("3", "[]")
        info = client.request("exceptionInfo", threadId=stop["threadId"])
        assert (info["exceptionId"].split()[0], info["description"]) == ("ValueError", "refused")
        go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert [driver.output.count(f"{kind}: refused") for kind in KINDS] == [2] * len(KINDS)
    assert len(bodies(client, "stopped")) == 4 * len(KINDS)
