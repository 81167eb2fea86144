"""debugpy's own options reach every worker, and have the effect that debugpy documents."""

from collections.abc import Callable

import pytest
from dap_client import Client

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, variables

PROGRAM = """\
import subprocess, sys

def answer():
    return 6 * 7

breakpoint()
answer()
print("printed by the worker", flush=True)
child = subprocess.run([sys.executable, "-c", "print('child ran')"], capture_output=True, text=True, timeout=60)
print("child:", child.stdout.strip(), flush=True)
"""


@pytest.mark.parametrize("on", [True, False])
def test_output_and_return_values_are_shown_if_they_are_asked_for(
    client: Client, plain_debugpy: Callable[[str], Debuggee], on: bool
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    options = {"redirectOutput": on, "showReturnValue": on, "subProcess": False}
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"], **options})
    stop = client.wait_event("stopped")
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert ("(return) answer" in variables(client, frames(client, stop)[0])) is on
    client.request("next", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert evaluate(client, stop, "1 + 1") == "2"
    go_on(client, stop)
    assert debuggee.child.wait() == 0
    client.wait_event("thread", lambda body: body["reason"] == "exited")
    printed = "".join(body["output"] for body in bodies(client, "output") if body.get("category") == "stdout")
    assert ("printed by the worker" in printed) is on
    assert "child: child ran" in debuggee.child.output


def test_a_worker_that_may_not_debug_its_subprocesses_starts_them_undebugged(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"], "subProcess": False})
    client.request("raydap/workers")
    go_on(client, client.wait_event("stopped"))
    assert debuggee.child.wait() == 0
    client.wait_event("thread", lambda body: body["reason"] == "exited")
    told = [worker["type"] for body in bodies(client, "raydap/workersChanged") for worker in body["workers"]]
    assert "child" not in told


@pytest.mark.parametrize(
    ("root", "folder"),
    [
        ("C:\\Users\\dev\\proj", "c:\\Users\\dev\\proj"),
        ("c:\\Users\\dev\\proj\\", "C:\\Users\\dev\\proj"),
        ("C:/Users/dev/proj", "c:\\Users\\dev\\proj"),
    ],
)
def test_breakpoints_of_an_editor_on_windows_bind(
    client: Client, plain_debugpy: Callable[[str], Debuggee], root: str, folder: str
) -> None:
    debuggee = plain_debugpy(PROGRAM.replace("breakpoint()", "pass"))
    path = f"{folder}\\{debuggee.path.name}"
    where = {
        "workers": [f"{debuggee.host}:{debuggee.port}"],
        "pathMappings": [{"localRoot": root, "remoteRoot": str(debuggee.path.parent)}],
        "clientOS": "windows",
    }
    client.start_session("attach", where, breakpoints={path: [7]})
    stop = client.wait_event("stopped")
    source = frames(client, stop)[0]["source"]
    # The breakpoint has shown how the editor writes the path.
    assert (source["path"], source["sourceReference"]) == (path, 0)
    go_on(client, stop)
    assert debuggee.child.wait() == 0
