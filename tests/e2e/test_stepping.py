"""Steps, and the lifetime of the ids of a stop."""

from collections.abc import Callable

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import frames, go_on, line_of, variables

PROGRAM = """\
import time
from pathlib import Path

def inner(value):
    doubled = 2 * value
    return doubled

def outer():
    first = inner(1)
    second = inner(2)
    return first + second

print("result: " + str(outer()))
while not Path(__file__).with_name("end").exists():
    time.sleep(0.01)
"""


def test_steps_go_in_out_and_over(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggee = plain_debugpy(PROGRAM)
    lines = {str(debuggee.path): [line_of(PROGRAM, "first = ")]}
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]}, breakpoints=lines)
    stop = client.wait_event("stopped")
    thread = stop["threadId"]
    before = frames(client, stop)[0]

    def step(command: str) -> tuple[str, int]:
        client.request(command, threadId=thread)
        stop = client.wait_event("stopped")
        assert (stop["reason"], stop["threadId"], stop["preserveFocusHint"]) == ("step", thread, False)
        frame = frames(client, stop)[0]
        return frame["name"], frame["line"]

    assert step("stepIn") == ("inner", line_of(PROGRAM, "doubled = "))
    with pytest.raises(RequestFailed, match=r"no longer valid.*\[raydap 1006\]"):
        client.request("scopes", frameId=before["id"])
    assert step("next") == ("inner", line_of(PROGRAM, "return doubled"))
    assert step("stepOut") == ("outer", line_of(PROGRAM, "first = "))
    assert step("next") == ("outer", line_of(PROGRAM, "second = "))
    assert step("next") == ("outer", line_of(PROGRAM, "return first"))
    found = variables(client, frames(client, stop)[0])
    assert (found["first"], found["second"]) == ("2", "4")
    go_on(client, stop)
    # The thread is running already, so a second `continue` succeeds without effect.
    go_on(client, stop)
    with pytest.raises(RequestFailed, match="1008"):
        client.request("next", threadId=thread)
    debuggee.path.with_name("end").touch()
    assert debuggee.child.wait() == 0
    assert "result: 6" in debuggee.child.output
