"""A client that requests all workers also gets those without a debugger, with what they run (docs/requests.md)."""

from collections.abc import Callable
from pathlib import Path

from dap_client import Client
from local_cluster import Child, Cluster

from support.everybody import Everybody
from support.look import bodies, local_variables, problems

PROGRAM = """\
import os
import sys
import time
import ray

LATCH = sys.argv[1]

def wait(name):
    while not os.path.exists(f"{LATCH}/{name}"):
        time.sleep(0.05)

@ray.remote(num_cpus=0.1)
def outer():
    return ray.get(inner.remote())

@ray.remote(num_cpus=0.1)
def inner():
    wait("tasks")

@ray.remote(num_cpus=0.1)
class Idler:
    def ready(self):
        pass

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self):
        breakpoint()
        wait("train")

ray.init()
idler, trainer = Idler.remote(), Trainer.remote()
ray.get(idler.ready.remote())
calls = [outer.remote(), trainer.train.remote()]
ray.get(calls)
wait("end")
print("result: done")
"""


def test_all_workers_are_listed_with_what_they_run(
    attach: Callable[..., Client], run_driver: Callable[..., Child], cluster: Cluster, tmp_path: Path
) -> None:
    client = attach(autoAttach=False)
    everybody = Everybody(client)
    driver = run_driver(PROGRAM, str(tmp_path))
    trainer = everybody.one("Trainer.train", "paused")
    shown = [everybody.one(label) for label in ("outer", "inner", "Idler")]
    job = trainer["job"]
    (program,) = everybody.wait(
        lambda all_: [worker for worker in all_.workers.values() if (worker["type"], worker["job"]) == ("driver", job)]
    )
    assert (program["state"], program["pid"]) == ("alive", driver.pid)
    assert program["label"].startswith("driver ")
    assert {worker["job"] for worker in shown} == {job}
    assert {worker["node"] for worker in [*shown, program]} == {cluster.host}
    assert {worker["type"] for worker in shown} == {"worker"}
    assert len({worker["pid"] for worker in [*shown, program, trainer]}) == 5
    assert {worker["agent"] for worker in [*shown, program, trainer]} == {False}

    # Ray keeps a worker that has run a task for later tasks. It is idle then.
    (tmp_path / "tasks").touch()
    keys = {worker["key"] for worker in shown[:2]}
    everybody.wait(lambda all_: all(all_.workers[key]["label"] == "idle" for key in keys))

    client.request("raydap/attach", workers=[trainer["key"]])
    client.wait_event("stopped")
    client.request("raydap/detach", workers=[trainer["key"]])
    assert everybody.one("Trainer.train")["key"] == trainer["key"]
    states = everybody.history[trainer["key"]]
    others = [state for state in states if state != "alive"]
    assert others[:5] == ["paused", "attaching", "running", "stopped", "detached"]
    # On a busy machine, Ray may list the worker as paused for longer than raydap expects after a detach.
    assert set(others[5:]) <= {"paused", "detached"}
    assert states[-1] == "alive"

    idler = shown[2]["key"]
    client.request("raydap/attach", workers=[idler])
    problem = everybody.wait(lambda all_: all_.workers[idler]["problem"])
    assert "when it calls breakpoint()" in problem
    assert everybody.workers[idler]["state"] == "alive"

    for name in ("train", "end"):
        (tmp_path / name).touch()
    assert driver.wait() == 0, driver.output
    mine = [program["key"], trainer["key"], idler]
    everybody.wait(lambda all_: {all_.workers[key]["state"] for key in mine} == {"gone"})
    assert len(bodies(client, "stopped")) == 1
    assert problems(client) == []


def test_a_request_without_all_lists_paused_workers_only(
    attach: Callable[..., Client], run_driver: Callable[..., Child], tmp_path: Path
) -> None:
    client = attach(autoAttach=False)
    assert client.request("raydap/workers")["workers"] == []
    for name in ("tasks", "train", "end"):
        (tmp_path / name).touch()
    driver = run_driver(PROGRAM, str(tmp_path))
    (paused,) = client.wait_event("raydap/workersChanged")["workers"]
    assert paused["state"] == "paused"
    client.request("raydap/attach")
    stop = client.wait_event("stopped")
    client.request("continue", threadId=stop["threadId"])
    assert driver.wait() == 0, driver.output
    changes = [worker for body in bodies(client, "raydap/workersChanged") for worker in body["workers"]]
    assert {worker["key"] for worker in changes} == {paused["key"]}


WITHOUT_A_STOP = """\
import os
import time
import ray

@ray.remote(num_cpus=0.1)
class Trainer:
    def train(self):
        steps = 0
        while not os.path.exists("end"):
            steps += 1
            time.sleep(0.05)  # a step
        return "trained"

ray.init()
trainer = Trainer.remote()
print("result: " + str(ray.get(trainer.train.remote())))
"""


def test_a_worker_with_an_agent_is_attached_when_a_client_wants_it(
    client: Client, cluster: Cluster, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    # Ray runs each worker in a folder of its own.
    program.write_text(WITHOUT_A_STOP.replace('"end"', repr(str(tmp_path / "end"))))
    where = {"dashboard": cluster.dashboard, "program": str(program), "env": {"RAY_ADDRESS": cluster.address}}
    client.start_session("launch", where, filters=["uncaught"])
    everybody = Everybody(client)
    trainer = everybody.one("Trainer.train")
    assert trainer["agent"]
    drivers = [worker for worker in everybody.workers.values() if worker["type"] == "driver" and worker["agent"]]
    assert [driver["state"] for driver in drivers] == ["running"]
    driver = everybody.one("driver program.py", "running")
    assert (driver["key"], driver["job"]) == (drivers[0]["key"], trainer["job"])

    key = trainer["key"]
    for _ in range(2):
        client.request("raydap/attach", workers=[key])
        assert everybody.one("Trainer.train", "running")["key"] == key
        client.request("raydap/detach", workers=[key])
        assert everybody.one("Trainer.train")["key"] == key
    assert everybody.history[key][:1] == ["alive"]
    assert everybody.history[key][-8:] == ["attaching", "running", "detached", "alive"] * 2
    assert everybody.workers[key]["problem"] == ""

    # An attached worker can be stopped by a breakpoint that is set later.
    client.request("raydap/attach", workers=[key])
    everybody.one("Trainer.train", "running")
    line = next(number for number, text in enumerate(program.read_text().splitlines(), 1) if "# a step" in text)
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": line}])
    stop = client.wait_event("stopped")
    assert int(local_variables(client, stop)["steps"]) > 0
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    client.request("continue", threadId=stop["threadId"])
    (tmp_path / "end").touch()
    client.wait_event("terminated")
    assert "result: trained" in "".join(body["output"] for body in bodies(client, "output"))
    everybody.wait(lambda all_: all_.workers[key]["state"] == "gone")
    assert problems(client) == []
