"""A post mortem without a frame of the user: the frames of the libraries are shown."""

from collections.abc import Callable

import pytest
from dap_client import Client
from local_cluster import Child

from support.look import bodies, evaluate, go_on, local_variables, user_frames

DRIVER = """\
import importlib
import json
import sys
import ray

POST_MORTEM = {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}

class Table:
    def __reduce__(self):
        return importlib.import_module, ("missing_library",)

@ray.remote(num_cpus=0.1, runtime_env=POST_MORTEM)
class Shop:
    table = Table()

    def price(self, article):
        return self.table[article]

ray.init()
try:
    if sys.argv[1] == "import":
        shop = Shop.remote()
        ray.get(shop.price.remote("pear"))
    else:
        ray.get(ray.remote(num_cpus=0.1, max_retries=0, runtime_env=POST_MORTEM)(json.loads).remote("{"))
except Exception as error:
    print("result: the call failed")
"""


@pytest.mark.core
@pytest.mark.parametrize("my_code", [True, False])
@pytest.mark.parametrize(
    ("what", "function", "error"),
    [("import", "temporary_actor_method", "RuntimeError"), ("call", "raw_decode", "JSONDecodeError")],
)
def test_the_frames_of_the_library_are_shown(
    attach: Callable[..., Client], run_driver: Callable[..., Child], what: str, function: str, error: str, my_code: bool
) -> None:
    client = attach(justMyCode=my_code)
    driver = run_driver(DRIVER, what)
    stop = client.wait_event("stopped")
    assert stop["reason"] == "exception"
    shown = user_frames(client, stop)
    assert shown[0]["name"] == function
    if what == "call":
        assert [frame["name"] for frame in shown][:3] == ["raw_decode", "decode", "loads"]
        assert local_variables(client, stop)["s"] == "'{'"
    (worker,) = client.request("raydap/workers")["workers"]
    assert [thread["error"] for thread in worker["threads"]] == [error]
    assert evaluate(client, stop, "1 + 1") == "2"
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: the call failed" in driver.output
    assert len(bodies(client, "stopped")) == 1
