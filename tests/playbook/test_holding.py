"""A hub outlives its clients, and several share it."""

from typing import Any

import pytest

from raydap.core.effects import StartDiscovery, StopDiscovery
from raydap.core.events import ClientAdmitted, DiscoveryReady, Shutdown
from raydap.core.process_info import RayFacts
from raydap.core.settings import AttachSettings, HubSettings
from raydap.errors import Code
from support.fake_client import FakeClient, names
from support.playbook import Play

PATH = "/app/train.py"


@pytest.fixture
def play() -> Play:
    """Return the session of a hub that holds workers indefinitely."""
    return Play(hub_settings=HubSettings(AttachSettings()))


def set_lines(client: FakeClient, *lines: int, path: str = PATH) -> list[dict[str, Any]]:
    breakpoints = [{"line": line} for line in lines]
    shown: list[dict[str, Any]] = client.request("setBreakpoints", source={"path": path}, breakpoints=breakpoints)[
        "breakpoints"
    ]
    return shown


@pytest.mark.parametrize("word", ["disconnect", "hang up"])
def test_what_a_client_leaves_stopped_stays_stopped_and_the_next_one_finds_it(play: Play, word: str) -> None:
    first = play.session()
    one, two = play.attached("w1", "w2")
    one.stop()
    stop = first.stop()
    first.leave() if word == "disconnect" else first.hang_up("connection reset")
    if word == "hang up":
        play.warned("connection reset")
    one.commands(), two.commands()
    two.stop()
    play.tick(1e6)
    assert one.commands() == two.commands() == []
    second = play.joined()
    again, late = second.stop(), second.stop()
    assert again["threadId"] == stop["threadId"] != late["threadId"]
    second.resume(again["threadId"])
    play.finish()


def test_held_workers_resume_when_no_client_returns_in_time() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), hold=60.0))
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    client.leave()
    play.tick(59.0)
    assert worker.connected
    back = play.joined()
    back.stop()
    play.tick(1000.0)
    assert worker.connected, "a client has returned"
    back.leave()
    play.tick(60.0)
    play.take(StopDiscovery)
    assert not worker.connected
    play.session().leave()
    play.tick(60.0)
    play.take(StopDiscovery)
    play.finish()


def test_a_hub_that_holds_nothing_detaches_workers_at_once() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), hold=0.0))
    client = play.session()
    (worker,) = play.attached("w1")
    client.leave()
    play.take(StopDiscovery)
    assert not worker.connected
    play.finish()


@pytest.mark.parametrize(
    ("hold", "arguments", "held"),
    [
        (None, {"terminateDebuggee": True}, False),
        (0.0, {"suspendDebuggee": True}, True),
        (0.0, {"suspendDebuggee": False}, False),
        (None, {"suspendDebuggee": False, "terminateDebuggee": False}, True),
    ],
)
def test_a_disconnect_can_say_what_becomes_of_the_workers(
    hold: float | None, arguments: dict[str, Any], held: bool
) -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), hold=hold))
    client = play.client()
    attach = client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(attach)
    client.request("configurationDone")
    (worker,) = play.attached("w1")
    client.request("disconnect", **arguments)
    assert worker.connected is held
    if not held:
        play.take(StopDiscovery)
    play.leave()


@pytest.mark.parametrize("command", ["attach", "launch"])
def test_a_session_that_holds_nothing_makes_room_for_another(play: Play, command: str) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    first.leave()
    arguments = {"task": "step"} if command == "attach" else {"program": "train.py"}
    play.client().refused(Code.OTHER_SESSION, command, **arguments)
    worker.die()
    other = play.client()
    other.send(command, **arguments)
    play.take(StopDiscovery)
    if command == "launch":
        other.event("capabilities")
    else:
        assert play.take(StartDiscovery).settings.task == "step"
        play.feed(DiscoveryReady("the cluster"))
    other.event("initialized")
    play.leave()


def test_a_shutdown_detaches_all_workers(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    play.feed(Shutdown())
    play.take(StopDiscovery)
    assert not worker.connected
    assert client.event("terminated") == {}
    play.finish()


def test_messages_from_a_time_without_clients_are_sent_to_the_next_client(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.stop()
    client.leave()
    worker.die()
    play.warned("is lost")
    back = play.client()
    back.request("attach")
    told = back.event("output")
    back.event("initialized")
    assert told["category"] == "important"
    assert f"[raydap {Code.WORKER_GONE.value}]" in told["output"]
    back.request("configurationDone")
    play.finish()


def test_breakpoints_of_who_comes_back_take_the_place_of_the_old_ones(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    set_lines(first, 1, 2)
    set_lines(first, 5, path="/app/other.py")
    first.inbox.clear()
    first.leave()
    worker.commands()
    second = play.client()
    second.request("attach")
    second.event("initialized")
    set_lines(second, 2)
    second.request("configurationDone")
    told = [each["arguments"] for each in worker.heard if each["command"] == "setBreakpoints"][-2:]
    assert {each["source"]["path"]: [spec["line"] for spec in each["breakpoints"]] for each in told} == {
        PATH: [2],
        "/app/other.py": [],
    }
    second.inbox.clear()
    play.finish()


def test_breakpoints_of_one_show_in_the_other_and_joining_removes_none(play: Play) -> None:
    editor = play.session()
    set_lines(editor, 1, 2)
    other = play.client()
    other.request("attach")
    other.event("initialized")
    (three,) = set_lines(other, 3)
    new = editor.event("breakpoint")
    assert (new["reason"], new["breakpoint"]["line"], new["breakpoint"]["id"]) == ("new", 3, three["id"])
    other.request("configurationDone")
    shown = [other.event("breakpoint"), other.event("breakpoint")]
    assert [(each["reason"], each["breakpoint"]["line"]) for each in shown] == [("new", 1), ("new", 2)]
    one, _, _ = set_lines(editor, 1, 3, 4)
    gone, new = other.event("breakpoint"), other.event("breakpoint")
    assert (gone["reason"], gone["breakpoint"]["id"]) == ("removed", shown[1]["breakpoint"]["id"])
    assert (new["reason"], new["breakpoint"]["line"]) == ("new", 4)
    assert one["id"] == shown[0]["breakpoint"]["id"]
    play.finish()


def test_stops_and_continues_of_one_show_in_the_other(play: Play) -> None:
    editor = play.session()
    terminal = play.joined()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = editor.stop()["threadId"]
    assert terminal.stop()["threadId"] == thread
    terminal.resume(thread)
    assert editor.event("continued") == {"threadId": thread, "allThreadsContinued": False}
    editor.leave()
    worker.stop()
    assert terminal.stop()["threadId"] == thread
    play.finish()


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("continue", {"threadId": 0}),
    ("next", {"threadId": 0}),
    ("pause", {"threadId": 0}),
    ("evaluate", {"expression": "x"}),
    ("setVariable", {"variablesReference": 1, "name": "x", "value": "2"}),
    ("setExpression", {"expression": "x", "value": "2"}),
    ("completions", {"text": "x", "column": 2}),
    ("terminate", {}),
    ("restart", {}),
]


@pytest.mark.parametrize(("command", "arguments"), CHANGES)
def test_an_observer_changes_nothing(play: Play, command: str, arguments: dict[str, Any]) -> None:
    play.session()
    observer = play.joined({"role": "observer"})
    (worker,) = play.attached("w1")
    worker.stop()
    for client in play.clients.values():
        client.stop()
    worker.commands()
    assert "Observers" in observer.refused(Code.OBSERVER, command, **arguments)
    assert worker.commands() == []
    play.finish()


def test_an_observer_launches_nothing(play: Play) -> None:
    assert "role" in play.client().refused(Code.OBSERVER, "launch", program="train.py", role="observer")
    play.finish()


def test_an_observer_looks_and_its_breakpoints_are_not_set(play: Play) -> None:
    editor = play.session()
    observer = play.joined({"role": "observer"})
    (worker,) = play.attached("w1")
    worker.stop()
    editor.stop()
    thread = observer.stop()["threadId"]
    assert observer.request("stackTrace", threadId=thread)["stackFrames"]
    worker.commands()
    assert set_lines(observer, 1) == [{"verified": False, "message": "Observers cannot set breakpoints."}]
    observer.request("setExceptionBreakpoints", filters=["raised"])
    assert play.bridge.state.run.breakpoints.exceptions == {"filters": ["uncaught"]}
    assert names(worker.heard).count("setBreakpoints") == 0
    editor.leave()
    assert worker.connected, "the hub holds it"
    set_lines(play.joined(), 7)
    assert observer.event("breakpoint")["breakpoint"]["line"] == 7
    for client in play.clients.values():
        client.inbox.clear()
    play.finish()


def test_observers_keep_no_client_from_debugging(play: Play) -> None:
    observer = play.session({"role": "observer"})
    editor = play.client()
    attach = editor.send("attach", task="step")
    play.take(StopDiscovery)
    assert observer.event("terminated") == {}
    assert play.take(StartDiscovery).settings.task == "step"
    play.feed(DiscoveryReady("the cluster"))
    editor.event("initialized")
    editor.answer(attach)
    play.finish()


def test_an_observer_is_notified_when_the_workers_are_detached() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(), hold=0.0))
    editor = play.session()
    observer = play.joined({"role": "observer"})
    editor.leave()
    play.take(StopDiscovery)
    assert observer.event("terminated") == {}
    assert observer.request("threads") == {"threads": []}
    play.finish()


def test_without_the_token_nothing_but_initialize_is_answered(play: Play) -> None:
    client = play.connect(admitted=False)
    client.request("initialize", adapterID="raydap")
    for command in ("attach", "threads", "evaluate", "nonsense"):
        assert "token" in client.refused(Code.NOT_ADMITTED, command, expression="x")
    play.feed(ClientAdmitted(client.id))
    client.send("attach")
    play.take(StartDiscovery)
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(2 + 4)
    client.hang_up()
    play.feed(ClientAdmitted(client.id))
    play.leave()


def test_what_the_hub_was_started_with_completes_what_a_client_says() -> None:
    play = Play(hub_settings=HubSettings(AttachSettings(dashboard="http://head:8265", job="01*")))
    client = play.client()
    assert '"job"' in client.refused(Code.OTHER_SESSION, "attach", job="02*")
    assert '"sessions"' in client.refused(Code.BAD_ARGUMENT, "attach", sessions="perWorker")
    client.send("attach", justMyCode=False)
    assert play.take(StartDiscovery).settings == AttachSettings(
        dashboard="http://head:8265", job="01*", just_my_code=False
    )
    play.feed(DiscoveryReady("the cluster"))
    client.event("initialized")
    client.answer(4)
    client.request("configurationDone")
    play.worker("w1", RayFacts(job="01000000"))
    play.paused(play.workers["w1"])
    client.leave()
    for arguments in ({}, {"justMyCode": False}, {"justMyCode": False, "dashboard": "http://head:8265"}):
        play.joined(arguments).leave()
    assert "join it" in play.client().refused(Code.OTHER_SESSION, "attach", task="x*")
    play.finish()


def test_a_request_that_waits_for_a_file_is_answered_when_its_run_ends(play: Play) -> None:
    """An observer stays when the last debugger leaves and so ends the run."""
    debugger = play.session()
    observer = play.joined({"role": "observer"})
    (worker,) = play.attached("w1")
    worker.stop()
    thread = debugger.stop()["threadId"]
    observer.stop()
    play.answer_checks = False
    asked = observer.send("stackTrace", threadId=thread)
    debugger.request("disconnect", terminateDebuggee=True)
    play.take(StopDiscovery)
    observer.refusal(Code.NOT_STOPPED, asked)
    observer.event("terminated"), observer.event("thread")


def test_an_observer_whose_attach_failed_can_attach_as_a_debugger(play: Play) -> None:
    play.session({"task": "step"})
    client = play.client()
    client.refused(Code.OTHER_SESSION, "attach", role="observer", task="other")
    client.request("attach")
    client.event("initialized")
    client.request("setBreakpoints", source={"path": PATH}, breakpoints=[{"line": 7}])
    client.request("configurationDone")
    client.request("raydap/attach")
