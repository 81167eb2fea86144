"""One test of the bridge from end to end, between a scripted client and real debugpy."""

from collections.abc import Callable

import pytest
from dap_client import Client

from support.debuggee import Debuggee

PROGRAM = """\
def double(number):
    breakpoint()
    result = 2 * number
    return result

print("result: " + str(double(21)))
"""


@pytest.mark.core
def test_one_session_over_two_programs(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> None:
    debuggees = [plain_debugpy(PROGRAM), plain_debugpy(PROGRAM)]
    client.start_session("attach", {"workers": [f"{debuggee.host}:{debuggee.port}" for debuggee in debuggees]})

    stops = [client.wait_event("stopped"), client.wait_event("stopped")]
    assert len({stop["threadId"] for stop in stops}) == 2
    paths = set()
    for stop in stops:
        frame = client.request("stackTrace", threadId=stop["threadId"])["stackFrames"][0]
        assert (frame["name"], frame["line"] in (2, 3)) == ("double", True)  # debugpy stops at the call or after it.
        paths.add(frame["source"]["path"])
        client.request("continue", threadId=stop["threadId"])
    assert paths == {str(debuggee.path) for debuggee in debuggees}

    for debuggee in debuggees:
        assert debuggee.child.wait() == 0
        assert "result: 42" in debuggee.child.output
