"""Known habits of editors that the scenarios leave out: fast input, requests about old stops, bursts of requests."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed

from editors.scenarios import AREAS
from support.debuggee import Debuggee
from support.look import bodies, frames, go_on, line_of, variables

GATED = """\
def wait(number):
    opened = open(GATE).readline()
    return opened

for number in range(2):
    wait(number)
"""

VSCODE: dict[str, Any] = {"clientID": "vscode", "supportsStartDebuggingRequest": True, "supportsInvalidatedEvent": True}


@pytest.fixture
def session(client: Client, plain_debugpy: Callable[[str], Debuggee]) -> Callable[..., list[Debuggee]]:
    """Return `session(source, ...)`, which starts workers and a session with all of them."""

    def start(*sources: str, **capabilities: Any) -> list[Debuggee]:
        debuggees = [plain_debugpy(source) for source in sources]
        where = [f"{debuggee.host}:{debuggee.port}" for debuggee in debuggees]
        client.start_session("attach", {"workers": where}, **capabilities)
        return debuggees

    return start


def test_a_key_that_is_held_down_loses_no_stop(
    client: Client, plain_debugpy: Callable[[str], Debuggee], children: ExitStack, tmp_path: Path
) -> None:
    """Keys that are pressed while the thread runs must not reach debugpy: they block it permanently (debugpy#2048)."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    opener = os.open(gate, os.O_RDWR)  # With O_RDWR, neither side waits for the other to open the FIFO.
    children.callback(os.close, opener)
    debuggee = plain_debugpy(GATED.replace("GATE", repr(str(gate))))
    path, line = str(debuggee.path), line_of(GATED, "open(")
    client.start_session(
        "attach", {"workers": [f"{debuggee.host}:{debuggee.port}"]}, breakpoints={path: [line, line + 1]}
    )
    for number, resume in enumerate(("continue", "next")):
        stop = client.wait_event("stopped")
        frame = frames(client, stop)[0]
        assert (frame["line"], variables(client, frame)["number"]) == (line, str(number))
        client.request(resume, threadId=stop["threadId"])
        # The thread waits at the FIFO, so this is certain to find it running.
        answers = [client.request("continue", threadId=stop["threadId"]) for _ in range(3)]
        assert answers == [{"allThreadsContinued": False}] * 3
        with pytest.raises(RequestFailed, match="The thread runs"):
            client.request("next", threadId=stop["threadId"])
        os.write(opener, b"\n")
        stop = client.wait_event("stopped")
        frame = frames(client, stop)[0]
        assert (frame["line"], variables(client, frame)["number"]) == (line + 1, str(number))
        go_on(client, stop)
    assert debuggee.child.wait() == 0
    assert len(bodies(client, "stopped")) == 4


def test_hover_over_a_frame_that_runs_again_is_refused_and_harms_nothing(
    client: Client, session: Callable[..., list[Debuggee]]
) -> None:
    (debuggee,) = session(AREAS)
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    go_on(client, stop)
    with pytest.raises(RequestFailed, match=r"\[raydap 1006\]"):
        client.request("evaluate", expression="width", frameId=frame, context="hover")
    stop = client.wait_event("stopped")
    frame = frames(client, stop)[0]["id"]
    assert client.request("evaluate", expression="width", frameId=frame, context="hover")["result"] == "4"
    with pytest.raises(RequestFailed, match="NameError"):
        client.request("evaluate", expression="no_such_name", frameId=frame, context="hover")
    go_on(client, stop)
    assert debuggee.child.wait() == 0


def test_the_burst_after_a_stop_is_answered_in_full(client: Client, session: Callable[..., list[Debuggee]]) -> None:
    """VS Code requests the stacks of all expanded threads without waiting: the top frame first, then the others."""
    debuggees = session(AREAS, AREAS, **VSCODE)
    threads = [client.wait_event("stopped")["threadId"] for _ in debuggees]
    listed = client.send("threads")
    tops = [client.send("stackTrace", threadId=thread, startFrame=0, levels=1) for thread in threads]
    rests = [client.send("stackTrace", threadId=thread, startFrame=1, levels=19) for thread in threads]
    wholes = [client.send("stackTrace", threadId=thread, startFrame=0, levels=20) for thread in threads]
    assert {thread["id"] for thread in client.result(listed)["threads"]} == set(threads)
    for top, rest, whole in zip(tops, rests, wholes, strict=True):
        parts = client.result(top)["stackFrames"] + client.result(rest)["stackFrames"]
        together = client.result(whole)["stackFrames"]
        assert [(part["name"], part["line"]) for part in parts] == [(one["name"], one["line"]) for one in together]
        assert [part["name"] for part in parts[:2]] == ["area", "total"]
    client.request("disconnect")
    assert [debuggee.child.wait() for debuggee in debuggees] == [0, 0]


def test_the_first_stop_takes_the_focus_and_the_next_one_does_not(
    client: Client, session: Callable[..., list[Debuggee]]
) -> None:
    """VS Code moves the focus to each stop without `preserveFocusHint`."""
    debuggees = session(AREAS, **VSCODE)
    first = client.wait_event("stopped")
    assert first.get("preserveFocusHint", False) is False
    frames(client, first)
    # The same thread stops again without another stop in between.
    go_on(client, first)
    again = client.wait_event("stopped")
    assert (again["threadId"], again.get("preserveFocusHint", False)) == (first["threadId"], False)
    go_on(client, again)
    assert [debuggee.child.wait() for debuggee in debuggees] == [0]


def test_threads_that_vanish_are_reported_as_exited(client: Client, session: Callable[..., list[Debuggee]]) -> None:
    """LSP4E removes a thread only after its `exited` event, not when it is missing from the list."""
    (debuggee,) = session(AREAS)
    stop = client.wait_event("stopped")
    debuggee.child.process.kill()
    client.wait_event("thread", lambda body: body == {"reason": "exited", "threadId": stop["threadId"]})
    assert client.request("threads")["threads"] == []


def test_of_hasty_changes_of_breakpoints_the_last_counts(
    client: Client, session: Callable[..., list[Debuggee]]
) -> None:
    (debuggee,) = session(AREAS)
    stop = client.wait_event("stopped")
    source = {"path": str(debuggee.path), "name": debuggee.path.name}
    wrong, right = line_of(AREAS, "product ="), line_of(AREAS, "return product")
    for lines in ([wrong], [wrong, right], [right]):
        specs = [{"line": line} for line in lines]
        last = client.send("setBreakpoints", source=source, breakpoints=specs, lines=lines, sourceModified=False)
    (desired,) = client.result(last)["breakpoints"]
    go_on(client, stop)
    stop = client.wait_event("stopped")
    assert frames(client, stop)[0]["line"] == right
    assert stop["hitBreakpointIds"] == [desired["id"]]
    client.request("disconnect")
    assert debuggee.child.wait() == 0
