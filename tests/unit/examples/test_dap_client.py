"""The scripted client against debugpy itself, without Ray or the bridge."""

import sys
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from dap_client import Client, RequestFailed

from support.debuggee import Debuggee

pytestmark = pytest.mark.slow

PROGRAM = """\
def double(number):
    result = 2 * number
    breakpoint()
    return result

print("result: " + str(double(21)))
"""


@pytest.fixture
def debuggee(plain_debugpy: Callable[[str], Debuggee]) -> Debuggee:
    return plain_debugpy(PROGRAM)


@pytest.fixture
def client(debuggee: Debuggee, children: ExitStack) -> Client:
    """Return a client that does not check messages against the schema, because debugpy sends events of its own."""
    return children.enter_context(Client.connect(debuggee.host, debuggee.port))


def test_a_session_from_handshake_to_exit(debuggee: Debuggee, client: Client) -> None:
    capabilities = client.start_session(
        "attach", {"justMyCode": False}, breakpoints={str(debuggee.path): [2]}, filters=["uncaught"]
    )
    assert capabilities["supportsConditionalBreakpoints"] is True

    stop = client.wait_event("stopped")
    assert stop["reason"] == "breakpoint"
    frame = client.request("stackTrace", threadId=stop["threadId"])["stackFrames"][0]
    assert (frame["name"], frame["line"], frame["source"]["path"]) == ("double", 2, str(debuggee.path))
    assert client.request("evaluate", expression="number * 10", frameId=frame["id"])["result"] == "210"

    client.request("continue", threadId=stop["threadId"])
    stop = client.wait_event("stopped")
    client.request("continue", threadId=stop["threadId"])
    client.wait_event("terminated")
    client.close()
    assert debuggee.child.wait() == 0
    assert "result: 42" in debuggee.child.output
    assert [event["event"] for event in client.events].count("stopped") == 2


def test_a_refused_request_raises_the_adapters_text(client: Client) -> None:
    with pytest.raises(RequestFailed, match="noSuchCommand") as failure:
        client.request("noSuchCommand")
    assert failure.value.command == "noSuchCommand"


def test_a_wait_that_ends_without_the_event_lists_the_events_so_far(client: Client) -> None:
    client.request("initialize", adapterID="test")
    with pytest.raises(TimeoutError, match=r'event "stopped": nothing within 0.01 s; events so far:\n  output'):
        client.wait_event("stopped", timeout=0.01)


def test_an_event_is_handed_out_once(client: Client) -> None:
    client.start_session("attach", {"justMyCode": False})  # This has taken the event.
    with pytest.raises(TimeoutError):
        client.wait_event("initialized", timeout=0.01)


def test_an_error_of_the_request_ends_the_wait_for_the_event(client: Client) -> None:
    refused = client.send("noSuchCommand")
    with pytest.raises(RequestFailed, match="noSuchCommand"):
        client.wait_event("initialized", unless=refused)


def test_what_is_pending_fails_when_the_adapter_goes(debuggee: Debuggee, client: Client) -> None:
    client.start_session("attach", {"justMyCode": False})
    client.wait_event("stopped")
    debuggee.child.end()
    client.wait_event("terminated")
    client.close()
    with pytest.raises(ConnectionError):
        client.request("threads")
    with pytest.raises(ConnectionError, match="terminated"):
        client.wait_event("stopped")


def test_an_adapter_on_stdio() -> None:
    with Client.spawn([sys.executable, "-m", "debugpy.adapter"]) as client:
        assert "exceptionBreakpointFilters" in client.request("initialize", adapterID="test")


ADAPTER_THAT_ASKS = """
import sys

def hear():
    length = int(sys.stdin.readline().split(":")[1])
    sys.stdin.readline()
    return sys.stdin.read(length)

def say(text):
    print(f"Content-Length: {len(text)}\\r\\n\\r\\n{text}", end="", flush=True)

hear()
for command in "startDebugging", "runInTerminal":
    say('{"seq": 7, "type": "request", "command": "%s"}' % command)
    say('{"seq": 8, "type": "event", "event": "heard", "body": %s}' % hear())
hear()
"""


def test_a_reverse_request_is_answered_or_refused() -> None:
    with Client.spawn([sys.executable, "-c", ADAPTER_THAT_ASKS]) as client:
        client.answers["startDebugging"] = lambda arguments: {"asked": arguments}
        client.send("initialize")
        accepted = client.wait_event("heard")
        assert (accepted["command"], accepted["success"], accepted["body"]) == ("startDebugging", True, {"asked": {}})
        refused = client.wait_event("heard")
        assert (refused["command"], refused["success"], refused["request_seq"]) == ("runInTerminal", False, 7)
