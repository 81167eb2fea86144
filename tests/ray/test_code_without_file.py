"""Programs without a file: `python -c` and `python -`. Their breakpoint() stops, and no source is invented for them."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Child, Cluster

from support.look import bodies, go_on, local_variables, user_frames

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1)
def half(number):
    breakpoint()
    rest = number % 2
    return number // 2, rest

ray.init()
print("result: " + str(ray.get(half.remote(8))))
"""

COMMANDS = {"argument": ["-c", PROGRAM], "input": ["-"]}

pytestmark = pytest.mark.core


@pytest.mark.parametrize("how", COMMANDS)
def test_its_breakpoint_stops(
    attach: Callable[..., Client], cluster: Cluster, children: ExitStack, tmp_path: Path, how: str
) -> None:
    client = attach()
    (tmp_path / "program").write_text(PROGRAM)
    shell = ["sh", "-c", f'exec "$0" "$@" < {tmp_path / "program"}', sys.executable, *COMMANDS[how]]
    driver = children.enter_context(Child(shell, tmp_path / "driver.log", {"RAY_ADDRESS": cluster.address}))
    stop = client.wait_event("stopped")
    frame = user_frames(client, stop)[0]
    assert (frame["name"], local_variables(client, stop)["number"]) == ("half", "8")
    with pytest.raises(RequestFailed, match="has no file") as refused:
        client.request("source", source=frame["source"], sourceReference=frame["source"]["sourceReference"])
    assert "NULL" not in str(refused.value)
    line = frame["line"]
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert user_frames(client, stop)[0]["line"] == line + 1
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: (4, 0)" in driver.output
    assert len(bodies(client, "stopped")) == 2
