"""Watchpoints as desired state: DAP's data breakpoints, and the console commands /watch and /unwatch."""

import json
from typing import Any

import pytest

from raydap.core.requests.watch_commands import CONFIRM_S
from raydap.errors import Code
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

PLACE = ["loss", "/app/train.py", 7, "step"]


def said(client: FakeClient, text: str) -> str:
    answer = client.request("evaluate", expression=text, context="repl")
    return str(answer["result"])


def frame_of(client: FakeClient, thread: int) -> int:
    found: int = client.request("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    return found


def data_breakpoint(**more: Any) -> dict[str, Any]:
    return {"dataId": json.dumps(PLACE), "accessType": "write", **more}


def set_data(client: FakeClient, *specs: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.request("setDataBreakpoints", breakpoints=list(specs))["breakpoints"]
    return found


def hit(worker: FakeWorker, number: int, **more: Any) -> None:
    body = {"number": number, "threadId": 1, "before": "0.5", "after": "nan", "line": 9, "function": "step"}
    worker.say("raydapWatched", {**body, "hits": 1, "calls": 4, "counts": "", "stops": True, **more})


def test_a_variable_is_watched_in_all_workers_now_and_later(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    thread = client.stop()["threadId"]
    info = client.request("dataBreakpointInfo", name="loss", frameId=frame_of(client, thread))
    assert info == {
        "dataId": json.dumps(PLACE),
        "description": "loss in step (train.py:7)",
        "accessTypes": ["write"],
        "canPersist": True,
    }
    (answer,) = set_data(client, {"dataId": info["dataId"], "hitCondition": ">= 3", "condition": "epoch > 1"})
    assert answer["verified"] is False
    assert "none has confirmed it yet" in answer["message"]
    changed = client.event("breakpoint")["breakpoint"]
    assert (changed["id"], changed["verified"]) == (answer["id"], True)
    assert changed["message"] == (
        "Watches loss in step (train.py:7) in 1 worker. The function is running in 1 of them now."
    )
    wanted = {
        "number": answer["id"],
        "expression": "loss",
        "paths": ["/app/train.py"],
        "line": 7,
        "function": "step",
        "condition": "epoch > 1",
        "hits": ">= 3",
        "log": False,
    }
    assert worker.watchpoints == [wanted]
    (later,) = play.attached("w2")
    assert later.watchpoints == [wanted]
    names = [each["command"] for each in later.heard]
    watched = [each for each in later.heard if "watchpoints(" in each.get("arguments", {}).get("expression", "")]
    assert later.heard.index(watched[0]) < names.index("configurationDone")
    play.tick(1)
    assert "in 2 workers" in client.event("breakpoint")["breakpoint"]["message"]
    assert set_data(client) == []
    assert worker.watchpoints == later.watchpoints == []


def test_a_worker_without_watchpoints_gets_none_of_the_code(play: Play) -> None:
    play.session()
    (worker,) = play.attached("w1")
    assert not [each for each in worker.heard if "watchpoints" in each.get("arguments", {}).get("expression", "")]


def test_a_hit_is_a_stop_of_its_own_kind(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    (answer,) = set_data(client, data_breakpoint())
    client.event("breakpoint")
    hit(worker, answer["id"])
    text = "loss: 0.5 -> nan, after line 9 of step (call 4)"
    assert client.event("output")["output"] == f"[worker 101] {text}\n"
    worker.stop()
    stop = client.stop()
    assert (stop["reason"], stop["description"], stop["text"]) == ("data breakpoint", "watch", text)
    assert stop["hitBreakpointIds"] == [answer["id"]]
    assert stop["raydap"] == {
        "expression": "loss", "before": "0.5", "after": "nan", "line": 9, "hits": 1, "step": ""
    }  # fmt: skip
    worker.resume(1)
    client.event("continued")
    worker.stop()
    assert client.stop()["reason"] == "breakpoint"


def test_a_log_only_prints(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    assert "Watches loss" in said(client, "/watch --log --at /app/train.py:7 loss")
    number = worker.watchpoints[0]["number"]
    assert worker.watchpoints[0]["log"] is True
    hit(worker, number, stops=False, before="", counts="epoch 3, step 120")
    output = client.event("output")["output"]
    assert output == "[worker 101] loss is true, after line 9 of step (epoch 3, step 120)\n"
    worker.stop()
    assert client.stop()["reason"] == "breakpoint"


def test_the_console_watches_lists_and_removes(play: Play) -> None:
    client = play.session()
    first, second = play.attached("w1", "w2")
    assert said(client, "/watch") == "There are no watchpoints."
    first.stop()
    thread = client.stop()["threadId"]
    client.request("scopes", frameId=frame_of(client, thread))
    answer = said(client, "/watch loss")
    number = first.watchpoints[0]["number"]
    assert answer == (
        f"{number}: Watches loss in step (train.py:7) in 2 workers. The function is running in 2 of them now."
    )
    assert second.watchpoints == first.watchpoints
    assert said(client, "/watch loss") == answer
    assert said(client, "/watch") == answer
    assert f"There is no watchpoint {number + 1}" in client.refused(
        Code.BAD_ARGUMENT, "evaluate", expression=f"/unwatch {number + 1}", context="repl"
    )
    assert said(client, f"/unwatch {number}") == f"Removed {number}: loss in step (train.py:7)."
    assert first.watchpoints == second.watchpoints == []
    assert said(client, "/unwatch") == "There are no watchpoints."


def test_a_set_of_workers_is_watched(play: Play) -> None:
    client = play.session()
    first, second = play.attached("w1", "w2")
    text = said(client, "/in pid:101 /watch --hits >= 3 --at /app/train.py:7 loss")
    assert "in 1 worker." in text
    assert (len(first.watchpoints), second.watchpoints) == (1, [])
    assert first.watchpoints[0]["hits"] == ">= 3"
    assert said(client, "/watch").endswith("(set pid:101, hits >= 3)")
    (third,) = play.attached("w3")
    assert third.watchpoints == []
    play.tick(1)
    client.refused(Code.BAD_ARGUMENT, "evaluate", expression="/in line:x.py /watch --at /a.py:1 loss", context="repl")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("/watch 1 +", "not a valid Python expression"),
        ("/watch --hits many loss", "hit condition"),
        ("/watch --log", "Write /watch"),
        ("/watch --at train loss", "is not a line"),
        ("/watch --at unseen.py:3 loss", "no file of this name"),
    ],
)
def test_a_mistake_is_explained(play: Play, text: str, part: str) -> None:
    client = play.session()
    assert part in client.refused(Code.BAD_ARGUMENT, "evaluate", expression=text, context="repl")


def test_without_a_stopped_worker_an_expression_has_no_frame(play: Play) -> None:
    client = play.session()
    client.refused(Code.NOT_STOPPED, "evaluate", expression="/watch loss", context="repl")
    info = client.request("dataBreakpointInfo", name="loss")
    assert info["dataId"] is None
    assert "No worker is stopped" in info["description"]


def test_each_editor_keeps_its_own(play: Play) -> None:
    first = play.session()
    (worker,) = play.attached("w1")
    (one,) = set_data(first, data_breakpoint())
    first.event("breakpoint")
    second = play.joined()
    other = json.dumps(["step", "/app/train.py", 7, "step"])
    (two,) = set_data(second, {"dataId": other})
    second.event("breakpoint")
    said(second, "/watch --at /app/train.py:7 rank")
    assert [each["expression"] for each in worker.watchpoints] == ["loss", "step", "rank"]
    assert set_data(first) == []
    assert [each["expression"] for each in worker.watchpoints] == ["step", "rank"]
    assert one["id"] != two["id"]
    second.send("disconnect")
    second.inbox.clear()
    second.open.clear()
    assert [each["expression"] for each in worker.watchpoints] in (["rank"], ["step", "rank"])


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ({"dataId": "nonsense"}, "not one of raydap's"),
        ({"dataId": "[" * 5000}, "not one of raydap's"),
        ({"dataId": 7}, "not one of raydap's"),
        (data_breakpoint(accessType="readWrite"), "not reads"),
        (data_breakpoint(hitCondition="often"), "hit condition"),
    ],
)
def test_what_cannot_be_set_says_why(play: Play, spec: dict[str, Any], part: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    (answer,) = set_data(client, spec)
    assert answer["verified"] is False
    assert part in answer["message"]
    assert worker.watchpoints == []


def test_what_a_worker_cannot_compare_is_shown(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    (answer,) = set_data(client, data_breakpoint())
    client.event("breakpoint")
    note = "This list of 9000 items is too large to be compared."
    worker.say("raydapWatchNote", {"number": answer["id"], "message": note})
    assert note in client.event("output")["output"]
    play.tick(1)
    assert client.event("breakpoint")["breakpoint"]["message"].endswith(note)


def test_a_worker_that_cannot_watch_is_not_verified(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.watch_answer = {"verified": False, "message": "Other tools use all of it.", "running": 0}
    set_data(client, data_breakpoint())
    play.tick(1)
    changed = client.event("breakpoint")["breakpoint"]
    assert (changed["verified"], changed["message"]) == (False, "Other tools use all of it.")


@pytest.mark.parametrize("answer", ["", "nonsense", "[]", "[1]", '[{"number": true}]', "{}", "[" * 5000])
def test_any_answer_of_a_worker_is_survived(play: Play, answer: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold.add("evaluate")
    set_data(client, data_breakpoint())
    request = [each for each in worker.heard if each["command"] == "evaluate"][-1]
    worker.reply(request, {"result": json.dumps(answer), "variablesReference": 0})
    for body in ({}, {"number": "x"}, {"number": 10**9, "stops": True, "threadId": 1}):
        worker.say("raydapWatched", body)
        worker.say("raydapWatchNote", body)
    worker.stop()
    client.inbox = [each for each in client.inbox if each.get("event") in ("stopped", "thread")]
    assert client.stop()["reason"] == "breakpoint"
    worker.hold.clear()
    worker._held.clear()
    play.tick(CONFIRM_S)
    client.inbox.clear()


def test_an_observer_sets_nothing(play: Play) -> None:
    play.session()
    (worker,) = play.attached("w1")
    observer = play.joined({"role": "observer"})
    (answer,) = set_data(observer, data_breakpoint())
    assert answer == {"verified": False, "message": "Observers cannot set watchpoints."}
    assert worker.watchpoints == []
