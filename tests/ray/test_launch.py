"""`launch` of a program without breakpoint(): the editor's breakpoints stop each process that reaches them."""

import os
import select
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from dap_client import Client
from local_cluster import Child, Cluster

from support.bridge import Bridge
from support.launched import ended, line_of, start, stopped_line
from support.look import bodies, evaluate, go_on, local_variables

PROGRAM = """\
import asyncio
import os
import ray

def double(number):
    return number * 2  # in a task, and in the task that it starts

@ray.remote(num_cpus=0.1)
def outer(number):
    return double(number) + ray.get(inner.remote(number))

@ray.remote(num_cpus=0.1)
def inner(number):
    return double(number)

@ray.remote(num_cpus=0.1, runtime_env={"env_vars": {"OF_ITS_OWN": "yes"}})
class Plain:
    def __init__(self, number):
        self.number = number  # in __init__

    def get(self):
        return os.environ["OF_ITS_OWN"], self.number  # in a method

@ray.remote(num_cpus=0.1)
class Async:
    async def get(self):
        await asyncio.sleep(0)
        return "async"  # in a coroutine

@ray.remote(num_cpus=0.1, max_concurrency=2)
class Threaded:
    def get(self):
        return "threaded"  # in a thread

if __name__ == "__main__":
    ray.init()
    actors = Plain.remote(7), Async.remote(), Threaded.remote()
    calls = [outer.remote(1), *(actor.get.remote() for actor in actors)]
    values = ray.get(calls)
    print("result: " + str(values))  # in the driver
"""

PLACES = {
    "# in a task, and": 2,
    "# in __init__": 1,
    "# in a method": 1,
    "# in a coroutine": 1,
    "# in a thread": 1,
    "# in the driver": 1,
}
"""The number of runs of each of these lines."""

RESULT = "result: [4, ('yes', 7), 'async', 'threaded']\n"

ONE_ACTOR = PROGRAM.replace("Plain.remote(7), Async.remote(), Threaded.remote()", "[Plain.remote(7)]")
"""PROGRAM with one kind of actor, for tests that need no other: each worker costs a second of a processor."""

RESULT_OF_ONE = "result: [4, ('yes', 7)]\n"

Launch = Callable[..., Client]


@pytest.fixture
def launch(client: Client, cluster: Cluster, tmp_path: Path) -> Launch:
    return lambda source, *texts, **more: start(client, cluster, tmp_path, source, *texts, **more)


@pytest.mark.core
def test_every_kind_of_process_stops_the_first_time_it_gets_there(launch: Launch) -> None:
    client = launch(PROGRAM, *PLACES)
    seen = dict.fromkeys(PLACES, 0)
    for _ in range(sum(PLACES.values())):
        stop = client.wait_event("stopped")
        assert stop["reason"] == "breakpoint"
        (place,) = (text for text in PLACES if text in stopped_line(client, stop))
        seen[place] += 1
        go_on(client, stop)
    assert seen == PLACES
    assert RESULT in ended(client)


def test_without_a_breakpoint_no_worker_is_debugged(launch: Launch) -> None:
    client = launch(ONE_ACTOR)
    assert RESULT_OF_ONE in ended(client)
    assert bodies(client, "stopped") == []


def test_conditions_and_logpoints_hold_in_workers(client: Client, launch: Launch, tmp_path: Path) -> None:
    source = ONE_ACTOR.replace("double(number) + ", "sum(double(n) for n in range(5)) + ")
    program = tmp_path / "program.py"
    launch(source, "# in the driver")
    # The driver is not far yet: it starts its first worker seconds later.
    line = line_of(source, "# in a task, and")
    wanted = [
        {"line": line, "condition": "number == 3"},
        {"line": line_of(source, "# in a method"), "logMessage": "{self.number}!"},
    ]
    wanted.append({"line": line_of(source, "# in the driver")})
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)
    stop = client.wait_event("stopped")
    assert local_variables(client, stop)["number"] == "3"
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert "# in the driver" in stopped_line(client, stop)
    assert any("7!" in body["output"] for body in bodies(client, "output"))
    go_on(client, stop)
    ended(client)


BOTH = """\
import ray

@ray.remote(num_cpus=0.1)
def work():
    before = 1  # set in the editor
    breakpoint()
    return before

@ray.remote(num_cpus=0.1, runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}})
class Failing:
    def fail(self):
        data = {}  # set there, too
        return data["missing"]

    def port(self):
        return ray._private.worker.global_worker.debugger_port

ray.init()
failing = Failing.remote()
try:
    print(ray.get([work.remote(), work.remote()]))
    ray.get(failing.fail.remote())
except ray.exceptions.RayTaskError as error:
    print("result: " + " ".join(map(str, [type(error.cause).__name__, "port:", ray.get(failing.port.remote())])))
"""


def test_rays_own_breakpoint_and_post_mortem_work_beside_it(launch: Launch) -> None:
    client = launch(BOTH, "# set in the editor", "# set there, too")
    reasons = []
    for _ in range(6):
        stop = client.wait_event("stopped")
        line = stopped_line(client, stop).strip()
        reasons.append((stop["reason"], line.partition("  #")[0]))
        go_on(client, stop)
    expected = 2 * [("breakpoint", "before = 1"), ("breakpoint", "breakpoint()")]
    assert sorted(reasons[:4]) == sorted(expected)
    assert reasons[4:] == [("breakpoint", "data = {}"), ("exception", 'return data["missing"]')]
    # Ray has opened no port for an adapter.
    assert "result: KeyError port: 0\n" in ended(client)


DRIVER = """\
import ray

ray.init()
number = 1
breakpoint()
number += 1
print("result: " + str(number))
breakpoint()
"""


def test_a_breakpoint_of_the_driver_itself_stops_it(launch: Launch) -> None:
    """This includes a breakpoint in its last line."""
    client = launch(DRIVER)
    stop = client.wait_event("stopped")
    lines = [stopped_line(client, stop)]
    for step in ("next", "stepIn", "continue"):
        client.request(step, threadId=stop["threadId"])
        lines.append(stopped_line(client, client.wait_event("stopped")))
    assert lines == ["breakpoint()", "number += 1", 'print("result: " + str(number))', "breakpoint()"]
    go_on(client, stop)
    assert "result: 2" in ended(client)


def test_raydap_can_be_configured_not_to_debug_the_program(launch: Launch) -> None:
    client = launch(ONE_ACTOR, *PLACES, reach="paused")
    assert RESULT_OF_ONE in ended(client)
    assert bodies(client, "stopped") == []


HOOKED = """\
import os
import ray

def set_up():
    os.environ["SET_UP"] = "by the program"

@ray.remote(num_cpus=0.1)
def look():
    found = os.environ["SET_UP"], os.environ["HOOKED"]
    return found  # here

ray.init(runtime_env={"worker_process_setup_hook": set_up})
print("result: " + str(ray.get(look.remote())))
"""

HOOK = """\
def hook(runtime_env):
    return {**(runtime_env or {}), "env_vars": {"HOOKED": "by the user"}}
"""


def test_the_programs_own_hooks_are_called(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "users_hook.py").write_text(HOOK)
    env = {"RAY_RUNTIME_ENV_HOOK": "users_hook.hook", "PYTHONPATH": str(tmp_path)}
    client = launch(HOOKED, "# here", env=env)
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "found") == "('by the program', 'by the user')"
    go_on(client, stop)
    assert "result: ('by the program', 'by the user')" in ended(client)


FAILING_HOOKS = """\
import ray

def broken():
    raise ValueError("broken")

@ray.remote(num_cpus=0.1, max_retries=0)
def work():
    value = 1
    return value  # here

for hook in broken, "no_such_module.hook", 5, "":
    try:
        ray.init(runtime_env={"worker_process_setup_hook": hook}, log_to_driver=False)
        outcome = ray.get(work.remote())
    except Exception as error:
        outcome = type(error).__name__
    print("result: " + str(outcome))
    ray.shutdown()
"""


def test_setup_hooks_that_fail_do_so_as_without_raydap(
    cluster: Cluster,
    connect_to: Callable[[str, int], Client],
    children: ExitStack,
    run_driver: Callable[..., Child],
    tmp_path: Path,
) -> None:
    """raydap logs Ray's reason, which contains the traceback of the hook, so this bridge may print a traceback."""
    bridge = Bridge.start(tmp_path / "bridge.log")
    children.callback(bridge.child.end)
    client = start(connect_to(bridge.host, bridge.port), cluster, tmp_path, FAILING_HOOKS, "# here")
    go_on(client, client.wait_event("stopped"))
    launched = [line for line in ended(client).splitlines() if line.startswith("result:")]
    assert launched == [f"result: {what}" for what in ("WorkerCrashedError", "WorkerCrashedError", "TypeError", 1)]
    alone = run_driver(FAILING_HOOKS)
    assert alone.wait() == 0, alone.output
    assert [line for line in alone.output.splitlines() if line.startswith("result:")] == launched


LONG = """\
import os, time
import ray

@ray.remote(num_cpus=0.1)
class Loop:
    def run(self, file):
        turns = 0
        while not os.path.exists(file):
            turns += 1  # again and again
            time.sleep(0.01)
        return turns > 0

ray.init()
loop = Loop.remote()
result = ray.get(loop.run.remote(os.path.abspath("stop")))
print("result: " + str(result))
"""


def test_a_breakpoint_that_is_set_later_stops_a_running_worker(launch: Launch, tmp_path: Path) -> None:
    client = launch(LONG)
    program = tmp_path / "program.py"
    client.wait_event("output", lambda body: "Connected to Ray cluster" in body["output"])
    wanted = [{"line": line_of(LONG, "# again and again")}]
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=wanted)
    for _ in range(2):
        stop = client.wait_event("stopped")
        assert "again and again" in stopped_line(client, stop)
        go_on(client, stop)
    # Remove the breakpoint during a stop: a running worker could stop once more before.
    stop = client.wait_event("stopped")
    client.request("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    (tmp_path / "stop").touch()
    go_on(client, stop)
    assert "result: True" in ended(client)


KILLED = LONG.replace('print("result: " + str(result))', 'print(result, file=open("done", "w"))')


def test_the_program_continues_when_raydap_is_killed(
    cluster: Cluster, connect_to: Callable[[str, int], Client], children: ExitStack, tmp_path: Path
) -> None:
    """A worker of the program is stopped at that time."""
    bridge = Bridge.start(tmp_path / "bridge.log")
    children.callback(bridge.child.end)
    os.mkfifo(tmp_path / "done")
    done = os.open(tmp_path / "done", os.O_RDONLY | os.O_NONBLOCK)
    children.callback(os.close, done)
    children.callback((tmp_path / "stop").touch)
    start(connect_to(bridge.host, bridge.port), cluster, tmp_path, KILLED, "# again and again").wait_event("stopped")
    bridge.child.process.kill()
    (tmp_path / "stop").touch()
    select.select([done], [], [], 60)
    assert os.read(done, 100) == b"True\n"
