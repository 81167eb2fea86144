"""A subprocess of a Ray worker is part of the session."""

from collections.abc import Callable
from pathlib import Path

from dap_client import Client
from local_cluster import Child, Cluster

from support.look import attach_to, go_on, line_of, local_variables, name_of, user_frames

ENGINE = """\
def serve(number):
    answer = number * 2
    print(answer)

serve(21)
"""

DRIVER = """\
import subprocess
import sys
import ray

@ray.remote(num_cpus=0.1)
def work(engine):
    breakpoint()
    return subprocess.run([sys.executable, engine], capture_output=True, text=True).stdout

ray.init()
print("result: " + str(ray.get(work.remote(sys.argv[1]))))
"""


def test_a_subprocess_of_a_task_stops_too(
    client: Client, cluster: Cluster, run_driver: Callable[..., Child], tmp_path: Path
) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(ENGINE)
    attach_to(client, cluster)
    line = line_of(ENGINE, "print")
    client.request("setBreakpoints", source={"path": str(engine)}, breakpoints=[{"line": line}])
    driver = run_driver(DRIVER, str(engine))
    stop = client.wait_event("stopped")
    assert name_of(client, stop, "work")
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert name_of(client, stop, r"child of work \d+")
    assert user_frames(client, stop)[0]["line"] == line
    assert local_variables(client, stop)["answer"] == "42"
    go_on(client, stop)
    assert driver.wait() == 0, driver.output
    assert "result: 42" in driver.output
