"""Expressions and variables, including text that is not valid Unicode."""

import json
from collections.abc import Callable

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, variables

PROGRAM = """\
class Odd:
    def __repr__(self):
        return "odd \\udc80"

def fail():
    raise ValueError("bad \\udc80")

def work(odd, nested):
    breakpoint()
    return len(nested)

print("result: " + str(work(Odd(), {"list": [1, 2, 3]})))
"""


def test_expressions_are_evaluated_where_the_user_looks(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggees = [plain_debugpy(PROGRAM), plain_debugpy(PROGRAM)]
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}" for debuggee in debuggees]})
    stops = [client.wait_event("stopped"), client.wait_event("stopped")]
    pids = []
    for stop in stops:
        pids.append(evaluate(client, stop, "__import__('os').getpid()"))
        # Editors request the scopes of the selected frame, and an expression without a frame is evaluated there.
        found = variables(client, frames(client, stop)[0])
        assert found["odd"] == "odd \udc80"
        assert client.request("evaluate", expression="__import__('os').getpid()")["result"] == pids[-1]
    assert set(pids) == {str(debuggee.child.pid) for debuggee in debuggees}

    stop = stops[0]
    answer = client.request("evaluate", expression="nested", frameId=frames(client, stop)[0]["id"])
    (child,) = (
        variable
        for variable in client.request("variables", variablesReference=answer["variablesReference"])["variables"]
        if variable["name"] == "'list'"
    )
    items = client.request("variables", variablesReference=child["variablesReference"])["variables"]
    assert [item["value"] for item in items if item["type"] == "int"][:3] == ["1", "2", "3"]
    assert evaluate(client, stop, "odd") == "odd \udc80"
    with pytest.raises(RequestFailed, match="ZeroDivisionError"):
        evaluate(client, stop, "1 / 0")
    with pytest.raises(RequestFailed, match="bad"):
        evaluate(client, stop, "fail()")
    for stop in stops:
        go_on(client, stop)
    for debuggee in debuggees:
        assert debuggee.child.wait() == 0
    # Every message can be serialised again as pure ASCII JSON.
    assert "\\udc80" in json.dumps(client.received)


def test_nothing_is_stopped_so_nothing_can_be_evaluated(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy("breakpoint()\nprint('DONE')\n")
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]})
    stop = client.wait_event("stopped")
    (frame, *_) = frames(client, stop)
    go_on(client, stop)
    client.wait_event("continued")
    with pytest.raises(RequestFailed, match="1008"):
        client.request("evaluate", expression="1")
    with pytest.raises(RequestFailed, match="1006"):
        client.request("evaluate", expression="1", frameId=frame["id"])
    assert debuggee.child.wait() == 0
