"""Breakpoints as desired state: set at any time, verified by events, kept for every worker."""

from collections.abc import Callable
from typing import Any

from dap_client import Client

from support.debuggee import Debuggee
from support.look import bodies, evaluate, frames, go_on, line_of, local_variables

COUNTING = """\
def run(number):
    a = number
    b = number
    c = number
    return c

for number in range(5):
    run(number)
print("DONE")
"""

LOOPING = """\
import threading

state = {"go": True}

def turn():
    return threading.Event().wait(0.01)

print("LOOPING", flush=True)
while state["go"]:
    turn()
print("DONE")
"""


def test_conditions_hit_counts_and_logpoints_set_before_any_worker_exists(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(COUNTING)
    client.request("initialize", adapterID="raydap")
    attach = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"])
    client.wait_event("initialized")
    specs: list[dict[str, Any]] = [
        {"line": line_of(COUNTING, "a = "), "condition": "number == 2"},
        {"line": line_of(COUNTING, "b = "), "hitCondition": "4"},
        {"line": line_of(COUNTING, "c = "), "logMessage": "c is {number}"},
    ]
    source = {"path": str(debuggee.path)}
    desired = client.request("setBreakpoints", source=source, breakpoints=specs)["breakpoints"]
    assert [breakpoint["verified"] for breakpoint in desired] == [False] * 3
    client.request("setExceptionBreakpoints", filters=[])
    client.request("configurationDone")
    client.result(attach)

    for number, breakpoint in (("2", desired[0]), ("3", desired[1])):
        stop = client.wait_event("stopped")
        assert stop["hitBreakpointIds"] == [breakpoint["id"]]
        assert frames(client, stop)[0]["line"] == breakpoint["line"]
        assert local_variables(client, stop)["number"] == number
        go_on(client, stop)
    assert debuggee.child.wait() == 0
    verified = [body["breakpoint"]["id"] for body in bodies(client, "breakpoint") if body["breakpoint"]["verified"]]
    assert sorted(set(verified)) == [breakpoint["id"] for breakpoint in desired]
    client.wait_event("output", lambda body: body["output"].endswith("] c is 4\n"))
    said = [body["output"].strip().partition("] ")[2] for body in bodies(client, "output")]
    assert [text for text in said if text.startswith("c is")] == [f"c is {number}" for number in range(5)]


def test_breakpoints_come_and_go_while_the_worker_runs(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(LOOPING)
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    debuggee.child.wait_for("LOOPING")
    source = {"path": str(debuggee.path)}
    line = line_of(LOOPING, "return")
    (desired,) = client.request("setBreakpoints", source=source, breakpoints=[{"line": line}])["breakpoints"]
    assert client.wait_event("breakpoint")["breakpoint"] == {
        "id": desired["id"],
        "verified": True,
        "line": line,
        "source": source,
    }
    stop = client.wait_event("stopped")
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [desired["id"]])
    # The same breakpoint, set again, keeps its id and its verified state.
    (again,) = client.request("setBreakpoints", source=source, breakpoints=[{"line": line}])["breakpoints"]
    assert (again["id"], again["verified"]) == (desired["id"], True)

    assert client.request("setBreakpoints", source=source, breakpoints=[])["breakpoints"] == []
    functions = client.request("setFunctionBreakpoints", breakpoints=[{"name": "turn"}])["breakpoints"]
    assert len(functions) == 1
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert stop["reason"] == "function breakpoint"
    assert frames(client, stop)[0]["name"] == "turn"
    client.request("setFunctionBreakpoints", breakpoints=[])
    evaluate(client, stop, "state.update(go=False)")
    go_on(client, stop)
    assert debuggee.child.wait() == 0
