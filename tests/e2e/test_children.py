"""Subprocesses of a worker in real debugpy: separate targets, named after their parent, and never left behind.

They are stopped by breakpoints of the editor: debugpy itself loses `debugpy.breakpoint()` in spawned children on some
versions of Python (seen on 3.11 without raydap).
"""

from collections.abc import Callable
from typing import Any

import pytest
from dap_client import Client

from support.debuggee import Debuggee
from support.look import evaluate, go_on, line_of, local_variables, problems

POOL = """\
import multiprocessing

def work(number):
    doubled = 2 * number
    return doubled

if __name__ == "__main__":
    with multiprocessing.get_context("{how}").Pool(1) as pool:
        pending = pool.apply_async(work, (21,))
        other = "the parent continues"
        print("result: " + str(pending.get()), flush=True)
"""

COMMAND = """\
import pathlib, subprocess, sys

def work(number):
    doubled = 2 * number
    return doubled

if "child" in sys.argv:
    print("result: " + str(work(21)), flush=True)
else:
    child = subprocess.Popen([sys.executable, "-Xfrozen_modules=off", __file__, "child"])
    other = "the parent continues"
    assert child.wait() == 0
"""

PROGRAMS = {"spawn": POOL.format(how="spawn"), "fork": POOL.format(how="fork"), "command": COMMAND}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    return PROGRAMS[request.param]


@pytest.fixture
def parent(plain_debugpy: Callable[[str], Debuggee], program: str) -> Debuggee:
    """Return a program whose child calls `work`."""
    return plain_debugpy(program)


def attach(client: Client, parent: Debuggee, program: str, *lines: str) -> None:
    numbers = {str(parent.path): [line_of(program, line) for line in lines]}
    client.start_session("attach", {"workers": [f"{parent.host}:{parent.port}"]}, breakpoints=numbers)


def names(client: Client) -> dict[int, list[str]]:
    return {thread["id"]: thread["name"].split(" · ") for thread in client.request("threads")["threads"]}


def ended_well(parent: Debuggee) -> bool:
    return parent.child.wait() == 0 and "result: 42" in parent.child.output


def test_a_child_stops_under_its_parents_name(client: Client, parent: Debuggee, program: str) -> None:
    attach(client, parent, program, "return doubled")
    stop = client.wait_event("stopped")
    (what, pid, node) = names(client)[stop["threadId"]]
    assert (what, node) == (f"child of worker {parent.child.pid}", parent.host)
    assert evaluate(client, stop, "__import__('os').getppid()") == str(parent.child.pid)
    assert evaluate(client, stop, "__import__('os').getpid()") == pid
    assert local_variables(client, stop) == {"number": "21", "doubled": "42"}
    go_on(client, stop)
    assert ended_well(parent)
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    assert problems(client) == []


def test_parent_and_child_stop_and_continue_separately(client: Client, parent: Debuggee, program: str) -> None:
    attach(client, parent, program, "return doubled", "other =")
    stops: dict[str, dict[str, Any]] = {}
    for _ in range(2):
        stop = client.wait_event("stopped")
        stops[names(client)[stop["threadId"]][0]] = stop
    child = f"child of worker {parent.child.pid}"
    assert set(stops) == {"worker", child}
    go_on(client, stops["worker"])
    client.wait_event("continued")
    assert local_variables(client, stops[child])["doubled"] == "42"
    go_on(client, stops[child])
    assert ended_well(parent)


def test_a_disconnect_resumes_a_stopped_child_and_its_parent(client: Client, parent: Debuggee, program: str) -> None:
    attach(client, parent, program, "return doubled")
    client.wait_event("stopped")
    client.request("disconnect")
    assert ended_well(parent)


def test_a_child_that_begins_after_the_editor_has_left_runs(client: Client, parent: Debuggee, program: str) -> None:
    first = "multiprocessing.get_context" if "get_context" in program else "child = subprocess"
    attach(client, parent, program, first, "return doubled")
    client.wait_event("stopped")
    client.request("disconnect")
    assert ended_well(parent)


def test_a_disconnect_while_a_child_begins_loses_neither_process(
    client: Client, parent: Debuggee, program: str
) -> None:
    """The progress of the child at this point varies. In each case it ends well."""
    attach(client, parent, program, "other =", "return doubled")
    client.wait_event("stopped")
    client.request("disconnect")
    assert ended_well(parent)
