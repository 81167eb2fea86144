"""raydap ends with its editor, and the worker's next breakpoint() waits for the next raydap."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.look import attach_to, go_on, local_variables

pytestmark = pytest.mark.core

PROGRAM = """\
import os, ray, time

@ray.remote(num_cpus=0.1)
def work(path):
    turn = 0
    breakpoint()
    while not os.path.exists(path):
        time.sleep(0.05)
    turn = 1
    breakpoint()

ray.init()
ray.get(work.remote({path!r}))
print("DONE")
"""


def test_a_worker_that_computes_after_the_end_of_raydap_keeps_its_debugger(
    cluster: Cluster, run_driver: Callable[..., Child], children: ExitStack, tmp_path: Path
) -> None:
    """debugpy's adapter dies if it cannot send a response. raydap used to disconnect twice when its process ended."""
    driver = run_driver(PROGRAM.format(path=str(tmp_path / "go")))
    for turn in ("0", "1"):
        with Client.spawn([sys.executable, "-m", "raydap", "adapter"]) as editor:
            attach_to(editor, cluster)
            stop = editor.wait_event("stopped")
            assert local_variables(editor, stop)["turn"] == turn
            if turn == "1":
                go_on(editor, stop)
            editor.request("disconnect")
        (tmp_path / "go").touch()
    assert driver.wait() == 0, driver.output
    assert "DONE" in driver.output
