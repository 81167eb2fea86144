"""Exception filters, and the description of an exception."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee
from support.look import bodies, frames, go_on, variables

PROGRAM = """\
def careful(key):
    try:
        return {}[key]
    except KeyError:
        return None

def divide(number):
    return 1 / number

careful("first")
careful("second")
divide(0)
"""


def test_raised_and_uncaught(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggee = plain_debugpy(PROGRAM)
    where = {"workers": [f"{debuggee.host}:{debuggee.port}"]}
    client.start_session("attach", where, filters=["raised", "uncaught"])
    stop = client.wait_event("stopped")
    assert stop["reason"] == "exception"
    frame = frames(client, stop)[0]
    assert (frame["name"], variables(client, frame)["key"]) == ("careful", "'first'")
    info = client.request("exceptionInfo", threadId=stop["threadId"])
    assert (info["exceptionId"], info["description"]) == ("KeyError", "'first'")

    with pytest.raises(RequestFailed, match=r"filters.*1004"):
        client.request("setExceptionBreakpoints", filters=["raised", "thrown"])
    client.request("setExceptionBreakpoints", filters=["uncaught"])
    go_on(client, stop)
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]
    assert (frame["name"], variables(client, frame)["number"]) == ("divide", "0")
    info = client.request("exceptionInfo", threadId=stop["threadId"])
    # debugpy adds to the name that the thread has stopped in an outer frame.
    assert (info["exceptionId"].split()[0], info["description"]) == ("ZeroDivisionError", "division by zero")
    go_on(client, stop)
    assert debuggee.child.wait() == 1
    assert "ZeroDivisionError" in debuggee.child.output
    assert len(bodies(client, "stopped")) == 2


def test_a_condition_does_not_stop_for_other_exceptions(
    client: Client, plain_debugpy: Callable[[str], Debuggee]
) -> None:
    debuggee = plain_debugpy(PROGRAM)
    client.request("initialize", adapterID="raydap")
    attached = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"])
    client.wait_event("initialized")
    about_key = {"filterId": "raised", "condition": "key == 'second' and issubclass(__exception__[0], KeyError)"}
    client.request("setExceptionBreakpoints", filters=[], filterOptions=[about_key])
    client.request("configurationDone")
    client.result(attached)
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]
    assert (frame["name"], variables(client, frame)["key"]) == ("careful", "'second'")
    go_on(client, stop)
    # In `divide` there is no `key`. A condition that fails does not hide the exception.
    stop = client.wait_event("stopped")
    assert frames(client, stop)[0]["name"] == "divide"
    refused: list[Any] = [{}, [7], [{}], [{"filterId": "thrown"}], [{"filterId": "raised", "condition": 7}]]
    for options in refused:
        with pytest.raises(RequestFailed, match=r"filter.*1004"):
            client.request("setExceptionBreakpoints", filters=[], filterOptions=options or [{}])
    client.request("setExceptionBreakpoints", filters=[])
    go_on(client, stop)
    assert debuggee.child.wait() == 1


STEPS = """\
def careful(key):
    try:
        return {}[key]
    except KeyError:
        return None

breakpoint()
first = careful("first")
second = careful("second")
third = [careful("third")]
fourth = careful("fourth")
print("done")
"""


@pytest.mark.parametrize("tuned", [True, False])
def test_an_exception_that_is_not_wanted_eats_no_step(
    client: Client, plain_debugpy: Callable[..., Debuggee], packages: Path | None, tuned: bool
) -> None:
    debuggee = plain_debugpy(STEPS, packages)
    client.request("initialize", adapterID="raydap")
    attached = client.send("attach", workers=[f"{debuggee.host}:{debuggee.port}"], tuneWorkers=tuned)
    client.wait_event("initialized")
    never = {"filterId": "raised", "condition": "False"}
    client.request("setExceptionBreakpoints", filters=[], filterOptions=[never])
    client.request("configurationDone")
    client.result(attached)
    lines = []
    stop = client.wait_event("stopped")
    for _ in range(3):
        lines.append(frames(client, stop)[0]["line"])
        client.request("next", threadId=stop["threadId"])
        stop = client.wait_event("stopped")
        assert stop["reason"] == "step"
    # The function raises while the client steps into it and out of it, too.
    client.request("stepIn", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert (frames(client, stop)[0]["name"], stop["reason"]) == ("careful", "step")
    client.request("stepOut", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    assert frames(client, stop)[0]["name"] == "<module>"
    assert lines == list(range(lines[0], lines[0] + 3))
    go_on(client, stop)
    assert debuggee.child.wait() == 0
