"""The messages in the console that no request causes: what the session has found, and how jobs and workers end."""

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from dap_client import Client
from local_cluster import Child, Cluster

from support.look import evaluate, go_on, problems

WALKERS = """\
import sys
import ray

@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self, number):
        breakpoint()
        return number

walkers = [Walker.remote() for _ in range(2)]
print("result: " + str(ray.get([walker.walk.remote(number) for number, walker in enumerate(walkers)])))
sys.exit(3)
"""


SUBMIT = """\
import sys
from ray.job_submission import JobSubmissionClient
print(JobSubmissionClient(sys.argv[1]).submit_job(entrypoint=sys.argv[2]))
"""


def test_a_submitted_job_from_the_first_line_to_the_last(
    attach: Callable[..., Client], cluster: Cluster, run_program: Callable[..., Child], tmp_path: Path
) -> None:
    program = tmp_path / "walkers.py"
    program.write_text(WALKERS)
    job = run_program(SUBMIT, cluster.dashboard, f"{sys.executable} {program}").wait_for(r"raysubmit_\w+")[0]
    client = attach()
    first = client.wait_event("output", lambda body: "Connected to the Ray cluster" in body["output"])["output"]
    assert cluster.dashboard in first
    for _ in range(2):
        go_on(client, client.wait_event("stopped"))
    last = client.wait_event("output", lambda body: "has failed" in body["output"])["output"]
    assert last.startswith(f"Job walkers.py ({job}) has failed: ")
    assert problems(client) == []


def test_a_driver_that_is_killed_takes_its_workers_with_it_in_one_line(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    first = client.wait_event("output", lambda body: "Connected to the Ray cluster" in body["output"])["output"]
    assert "No worker is paused" in first
    driver = run_driver(WALKERS)
    stops = [client.wait_event("stopped") for _ in range(2)]
    driver.process.send_signal(signal.SIGKILL)
    for _ in stops:
        client.wait_event("thread", lambda body: body["reason"] == "exited")
    client.wait_event("output", lambda body: re.match(r"Job \S+ \(\w+\) has ended", body["output"]) is not None)
    assert problems(client) == []


def test_a_killed_worker_is_reported_with_its_name_and_rays_reason(
    attach: Callable[..., Client], run_driver: Callable[..., Child]
) -> None:
    client = attach()
    driver = run_driver(WALKERS)
    stops = [client.wait_event("stopped") for _ in range(2)]
    pid = int(evaluate(client, stops[1], "__import__('os').getpid()"))
    names = {thread["id"]: thread["name"] for thread in client.request("threads")["threads"]}
    while not names[stops[1]["threadId"]].startswith(("Walker 0 · walk", "Walker 1 · walk")):
        client.wait_event("thread", lambda body: body["threadId"] == stops[1]["threadId"])
        names = {thread["id"]: thread["name"] for thread in client.request("threads")["threads"]}
    name = names[stops[1]["threadId"]].partition(" · ")[0]
    os.kill(pid, signal.SIGKILL)
    told = client.wait_event("output", lambda body: "is gone" in body["output"])["output"]
    assert told.startswith(f"{name} · walk: The stopped worker {pid} on ")
    assert "Worker unexpectedly exits" in told
    assert driver.wait() != 0
