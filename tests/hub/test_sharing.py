"""Clients join, leave, vanish and share one hub, with real debugpy behind it: no stopped worker is lost."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from support.bridge import Hub
from support.debuggee import Debuggee
from support.look import evaluate, frames, go_on, line_of, local_variables
from support.mcp_client import McpClient

PROGRAM = """\
for turn in range(2):
    breakpoint()
    first = turn
    second = turn
print("DONE")
"""


@pytest.fixture
def debuggee(plain_debugpy: Callable[[str], Debuggee]) -> Debuggee:
    return plain_debugpy(PROGRAM)


@pytest.fixture
def come(hub: Hub, connect_to: Callable[[str, int], Client]) -> Callable[..., Client]:
    """Return `come(**arguments)`, which returns a client that has attached over TCP with the hub's token."""

    def attach(breakpoints: dict[str, list[int]] | None = None, **arguments: Any) -> Client:
        client = connect_to(hub.host, hub.port)
        client.start_session("attach", {"token": hub.token, **arguments}, breakpoints=breakpoints or {})
        return client

    return attach


def target(debuggee: Debuggee) -> list[str]:
    return [f"{debuggee.host}:{debuggee.port}"]


@pytest.mark.parametrize("politely", [True, False], ids=["disconnect", "vanish"])
def test_a_returning_client_finds_the_same_stop_and_its_own_breakpoints(
    come: Callable[..., Client],
    debuggee: Debuggee,
    hub: Hub,
    adapter: Callable[..., Client],
    politely: bool,
) -> None:
    one, two = line_of(PROGRAM, "first ="), line_of(PROGRAM, "second =")
    first = come({str(debuggee.path): [one]}, workers=target(debuggee))
    stop = first.wait_event("stopped")
    if politely:
        first.request("disconnect")
    else:
        first.close()
    second = adapter(hub.url, RAYDAP_TOKEN=hub.token)
    second.start_session("attach", {}, breakpoints={str(debuggee.path): [two]})
    again = second.wait_event("stopped")
    assert again["threadId"] == stop["threadId"]
    assert local_variables(second, again)["turn"] == "0"
    go_on(second, again)
    stop = second.wait_event("stopped")
    assert frames(second, stop)[0]["line"] == two, "the breakpoint of the client that left is not asked for any more"
    for _ in range(2):
        go_on(second, stop)
        stop = second.wait_event("stopped")
    go_on(second, stop)
    assert debuggee.child.wait() == 0
    assert "DONE" in debuggee.child.output


def test_two_clients_and_an_observer_see_the_same(come: Callable[..., Client], debuggee: Debuggee) -> None:
    editor = come(workers=target(debuggee))
    terminal = come()
    observer = come(role="observer")
    stops = [client.wait_event("stopped") for client in (editor, terminal, observer)]
    (thread,) = {stop["threadId"] for stop in stops}
    line = line_of(PROGRAM, "second =")
    source = {"path": str(debuggee.path)}
    editor.request("setBreakpoints", source=source, breakpoints=[{"line": line}])
    for client in (terminal, observer):
        new = client.wait_event("breakpoint", lambda body: body["reason"] == "new")
        assert new["breakpoint"]["line"] == line
    with pytest.raises(RequestFailed, match=r"Observers cannot send evaluate.*\[raydap 1012\]"):
        evaluate(observer, stops[0], "turn")
    assert local_variables(observer, stops[0])["turn"] == "0"
    go_on(terminal, stops[0])
    for client in (editor, terminal, observer):
        client.wait_event("continued")
        assert client.wait_event("stopped")["threadId"] == thread
    terminal.request("disconnect")
    editor.request("setBreakpoints", source=source, breakpoints=[])
    observer.wait_event("breakpoint", lambda body: body["reason"] == "removed")
    go_on(editor, stops[0])
    editor.wait_event("stopped")
    go_on(editor, stops[0])
    assert debuggee.child.wait() == 0


def test_a_hub_that_ends_detaches_the_workers_and_reports_it(
    children: ExitStack, connect_to: Callable[[str, int], Client], debuggee: Debuggee, tmp_path: Path
) -> None:
    hub = Hub.start(tmp_path / "hub.log")
    children.push(hub.child)
    client = connect_to(hub.host, hub.port)
    client.start_session("attach", {"workers": target(debuggee), "token": hub.token})
    client.wait_event("stopped")
    hub.child.process.terminate()
    client.wait_event("terminated")
    assert hub.child.wait() == 0
    assert "Traceback" not in hub.child.output
    assert not hub.connection.exists()
    # The worker has no debugger any more, so its second breakpoint() does not stop.
    assert debuggee.child.wait() == 0


def test_workers_continue_when_no_client_returns_in_time(
    start_hub: Callable[..., Hub], connect_to: Callable[[str, int], Client], debuggee: Debuggee
) -> None:
    hub = start_hub("--hold", "1")
    client = connect_to(hub.host, hub.port)
    client.start_session("attach", {"workers": target(debuggee), "token": hub.token})
    client.wait_event("stopped")
    client.close()
    assert debuggee.child.wait() == 0


def test_a_coding_agent_shares_the_session_of_an_editor(
    come: Callable[..., Client], debuggee: Debuggee, hub: Hub, tmp_path: Path, children: ExitStack
) -> None:
    editor = come(workers=target(debuggee))
    stop = editor.wait_event("stopped")
    options = ("--connect", hub.url)
    agent = children.enter_context(McpClient(tmp_path, *options, env={"RAYDAP_TOKEN": hub.token}))
    assert f"{debuggee.path.name}:3 in <module>, breakpoint" in agent.call("wait")
    assert "turn = 0\n" in agent.call("look")
    line = line_of(PROGRAM, "second =")
    assert "set in 1 worker" in agent.call("breakpoint", at=f"{debuggee.path}:{line}")
    agent.call("go", action="continue")
    assert editor.wait_event("stopped")["hitBreakpointIds"]
    assert "in <module>, step" in agent.call("go", action="next")
    assert editor.wait_event("stopped")["reason"] == "step"
    assert agent.call("end").startswith("no session")
    # The agent's stop was its own, so it goes on, to the next stop of the program.
    stop = editor.wait_event("stopped")
    assert local_variables(editor, stop)["turn"] == "1"
    assert editor.request("raydap/breakpoints")["breakpoints"] == []
    go_on(editor, stop)
    assert debuggee.child.wait() == 0
