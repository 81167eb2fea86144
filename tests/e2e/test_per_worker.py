"""`"sessions": "perWorker"`: the editor opens a child session for each worker, all of them in the same bridge."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.bridge import Bridge
from support.debuggee import Debuggee

PROGRAM = """\
import debugpy
for step in range(2):
    debugpy.breakpoint()
    print("step", step)
print("DONE")
"""
Configurations = list[dict[str, Any]]


@pytest.fixture
def targets(plain_debugpy: Callable[[str], Debuggee]) -> list[Debuggee]:
    return [plain_debugpy(PROGRAM) for _ in range(2)]


@pytest.fixture(params=["tcp", "stdio"])
def parent(request: pytest.FixtureRequest, children: ExitStack) -> Iterator[Client]:
    """Yield a client for each transport. With stdio, the bridge has to open a port for the children itself."""
    if request.param == "tcp":
        yield request.getfixturevalue("client")
    else:
        with Client.spawn([sys.executable, "-m", "raydap", "adapter"]) as client:
            yield client


def offers(parent: Client) -> Configurations:
    """Accept each `startDebugging` request, and return the list to which their configurations are added."""
    configurations: Configurations = []

    def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        assert arguments["request"] == "attach"
        configurations.append(arguments["configuration"])
        return {}

    parent.answers["startDebugging"] = answer
    return configurations


def attach(parent: Client, targets: list[Debuggee]) -> None:
    arguments = {"workers": [f"{each.host}:{each.port}" for each in targets], "sessions": "perWorker"}
    parent.start_session("attach", arguments, supportsStartDebuggingRequest=True)


def open_child(configuration: dict[str, Any], connect_to: Callable[[str, int], Client]) -> Client:
    child = connect_to("127.0.0.1", configuration["debugServer"])
    child.start_session("attach", configuration)
    return child


def test_a_child_has_the_type_of_its_parents_configuration(parent: Client, targets: list[Debuggee]) -> None:
    """nvim-dap sends its own name as the adapterID, but has no adapter with this name."""
    configurations = offers(parent)
    addresses = [f"{target.host}:{target.port}" for target in targets]
    arguments = {"type": "ray", "workers": addresses, "sessions": "perWorker"}
    parent.start_session("attach", arguments, adapterID="nvim-dap", supportsStartDebuggingRequest=True)
    wait_for(configurations, 2, parent)
    assert [configuration["type"] for configuration in configurations] == ["ray", "ray"]


def wait_for(configurations: Configurations, count: int, parent: Client) -> None:
    with parent._changed:
        assert parent._changed.wait_for(lambda: len(configurations) >= count, parent.timeout)


def test_each_worker_has_a_session_and_its_stops_are_only_there(
    parent: Client, targets: list[Debuggee], connect_to: Callable[[str, int], Client]
) -> None:
    configurations = offers(parent)
    attach(parent, targets)
    wait_for(configurations, 2, parent)
    assert len({configuration["name"] for configuration in configurations}) == 2
    seen = set()
    for configuration in configurations:
        child = open_child(configuration, connect_to)
        for _ in range(2):
            stop = child.wait_event("stopped")
            (thread,) = child.request("threads")["threads"]
            assert thread["id"] == stop["threadId"]
            seen.add(stop["threadId"])
            child.request("continue", threadId=stop["threadId"])
        child.wait_event("terminated")
    assert len(seen) == 2
    assert parent.request("threads") == {"threads": []}
    assert not [event for event in parent.events if event["event"] in ("stopped", "thread", "continued")]
    for target in targets:
        assert target.child.wait() == 0, target.child.output
        assert "DONE" in target.child.output


def test_a_worker_whose_session_the_editor_does_not_open_is_shown_by_the_parent(
    client: Client, targets: list[Debuggee]
) -> None:
    attach(client, targets)  # This client answers startDebugging with a failure.
    for _ in range(4):
        client.request("continue", threadId=client.wait_event("stopped")["threadId"])
    for target in targets:
        assert target.child.wait() == 0, target.child.output


def test_ending_a_child_session_resumes_its_worker_and_ending_the_parent_all(
    client: Client, targets: list[Debuggee], connect_to: Callable[[str, int], Client]
) -> None:
    configurations = offers(client)
    attach(client, targets)
    wait_for(configurations, 2, client)
    first, second = (open_child(configuration, connect_to) for configuration in configurations)
    first.wait_event("stopped")
    second.wait_event("stopped")
    first.request("disconnect")
    assert len(second.request("threads")["threads"]) == 1
    client.request("disconnect")
    second.wait_event("terminated")
    second.request("disconnect")
    for target in targets:
        assert target.child.wait() == 0, target.child.output


def test_an_editor_without_child_sessions_gets_an_error(client: Client, targets: list[Debuggee]) -> None:
    with pytest.raises(RequestFailed, match=r"cannot start child sessions.*1004"):
        client.start_session("attach", {"workers": [f"{targets[0].host}:{targets[0].port}"], "sessions": "perWorker"})


@pytest.mark.parametrize("ticket", [None, {}, {"worker": "x"}, {"worker": "x", "token": "\udc80"}, "ticket", 7])
def test_a_wrong_ticket_opens_nothing(
    client: Client, bridge: Bridge, targets: list[Debuggee], connect_to: Callable[[str, int], Client], ticket: Any
) -> None:
    configurations = offers(client)
    attach(client, targets)
    wait_for(configurations, 2, client)
    stranger = connect_to(bridge.host, bridge.port)
    arguments = {"__raydap": ticket} if ticket is not None else {"workers": ["127.0.0.1:1"]}
    with pytest.raises(RequestFailed, match="1007"):
        stranger.start_session("attach", arguments)
    assert stranger.request("threads") == {"threads": []}
    for command in ("stackTrace", "evaluate", "pause"):
        with pytest.raises(RequestFailed, match="1003"):
            stranger.request(command, expression="1", threadId=1000)
