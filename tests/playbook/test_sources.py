"""Additions of the bridge about source files, and code that exists in one worker only."""

import ast
from typing import Any

import pytest

from raydap.core.effects import StopDiscovery
from raydap.core.model import worker as workers
from raydap.errors import Code
from raydap.inworker import calls
from support.fake_worker import PLUMBING
from support.playbook import Play

FILE: dict[str, Any] = {"source": {"path": "/app/train.py"}, "line": 7, "endLine": 9}


def test_loaded_sources_are_the_files_of_the_stacks_so_far(play: Play) -> None:
    client = play.session()
    one, two = play.attached("w1", "w2")
    two.path = "C:\\app\\eval.py"
    assert client.request("loadedSources") == {"sources": []}
    for worker in (one, two):
        worker.stop()
        client.request("stackTrace", threadId=client.stop()["threadId"])
    assert client.request("loadedSources")["sources"] == [
        {"name": "train.py", "path": "/app/train.py"},
        {"name": "default_worker.py", "path": PLUMBING},
        {"name": "eval.py", "path": "C:\\app\\eval.py"},
    ]


def test_code_without_a_file_is_fetched_from_its_worker_and_is_no_loaded_source(play: Play) -> None:
    client = play.session()
    handles = []
    for worker in play.attached("w1", "w2"):
        worker.path, worker.source_reference = "<string>", 3
        worker.stop()
        source = client.request("stackTrace", threadId=client.stop()["threadId"])["stackFrames"][0]["source"]
        handles.append(source["sourceReference"])
    assert len(set(handles)) == 2
    for handle, key in zip(handles, ("w1", "w2"), strict=True):
        answer = client.request("source", sourceReference=handle, source={"sourceReference": handle})
        assert answer == {"content": f"x = '{key}'\n"}
    assert "<string>" not in {source["path"] for source in client.request("loadedSources")["sources"]}


def test_a_source_lives_as_long_as_its_worker(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.source_reference = 3
    worker.stop()
    thread = client.stop()["threadId"]
    source = client.request("stackTrace", threadId=thread)["stackFrames"][0]["source"]["sourceReference"]
    client.resume(thread)
    assert client.request("source", sourceReference=source) == {"content": "x = 'w1'\n"}
    worker.die()
    client.event("thread")
    assert "no longer valid" in client.refused(Code.STALE_ID, "source", sourceReference=source)


def test_only_so_many_sources_of_a_worker_are_kept(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """pydevd gives code without a file a new number in every stack."""
    monkeypatch.setattr(workers, "KEPT_SOURCES", 2)
    client = play.session()
    (worker,) = play.attached("w1")
    handles, living = [], []
    for number in (3, 4, 3, 5, 6):
        worker.source_reference = number
        worker.stop()
        thread = client.stop()["threadId"]
        frame = client.request("stackTrace", threadId=thread)["stackFrames"][0]
        handles.append(frame["source"]["sourceReference"])
        living.append(len(play.bridge.state.handles))
        client.resume(thread)
    assert handles[0] == handles[2] != handles[1]
    assert living[1:] == living[1:2] * 4
    client.refused(Code.STALE_ID, "source", sourceReference=handles[0])
    worker.source_reference = 5
    assert client.request("source", sourceReference=handles[3]) == {"content": "x = 'w1'\n"}


def test_a_source_of_two_workers_at_once_is_refused(play: Play) -> None:
    client = play.session()
    handles = []
    workers = play.attached("w1", "w2")
    for worker in workers:
        worker.source_reference = 3
        worker.stop()
        frame = client.request("stackTrace", threadId=client.stop()["threadId"])["stackFrames"][0]
        handles.append(frame["source"]["sourceReference"])
    for worker in workers:
        worker.commands()
    wrong = {"sourceReference": handles[0], "source": {"sourceReference": handles[1]}}
    assert "different workers" in client.refused(Code.STALE_ID, "source", **wrong)
    assert [worker.commands() for worker in workers] == [[], []]


def test_a_new_session_has_none_of_the_old_ones_sources(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.stop()
    client.request("stackTrace", threadId=client.stop()["threadId"])
    client.leave()
    play.take(StopDiscovery)
    assert play.session().request("loadedSources") == {"sources": []}


def test_breakpoints_can_be_where_any_attached_worker_has_code(play: Play) -> None:
    client = play.session()
    assert client.request("breakpointLocations", **FILE) == {"breakpoints": []}
    one, two = play.attached("w1", "w2")
    one.commands()
    assert client.request("breakpointLocations", **FILE) == {"breakpoints": [{"line": 7}, {"line": 9}]}
    asked = one.heard[-1]["arguments"]
    assert asked["expression"] == calls.code_lines("/app/train.py", 7, 9)
    assert "frameId" not in asked
    one.die()
    two.commands()
    client.request("breakpointLocations", source={"path": "/app/train.py"}, line=7)
    assert two.heard[-1]["arguments"]["expression"] == calls.code_lines("/app/train.py", 7, 7)


@pytest.mark.parametrize("answer", ["", "[7, 9", "7", '{"7": 9}', "null", '["7", null, true]', "[" * 50])
def test_an_odd_answer_is_no_place_for_breakpoints(play: Play, answer: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.lines = answer
    assert client.request("breakpointLocations", **FILE) == {"breakpoints": []}


@pytest.mark.parametrize("end", ["refuse", "die", "silence"])
def test_without_an_answer_of_the_worker_there_is_no_place_for_breakpoints(play: Play, end: str) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold.add("evaluate")
    seq = client.send("breakpointLocations", **FILE)
    if end == "refuse":
        worker.refuse(worker.heard[-1], "SyntaxError")
        worker._held.clear()
    elif end == "die":
        worker.die()
    else:
        play.tick(31)
    assert client.answer(seq) == {"breakpoints": []}


def test_a_worker_that_is_detaching_is_not_asked(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.hold.add("evaluate")
    client.leave()
    play.take(StopDiscovery)
    another = play.session()
    worker.commands()
    assert another.request("breakpointLocations", **FILE) == {"breakpoints": []}
    assert worker.commands() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": None},
        {"source": "/app/train.py"},
        {"source": {}},
        {"source": {"path": 7}},
        {"line": None},
        {"line": "7"},
        {"line": True},
        {"endLine": "9"},
        {"endLine": 9.5},
    ],
)
def test_a_question_without_file_or_line_is_refused(play: Play, wrong: dict[str, Any]) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    worker.commands()
    assert "breakpointLocations needs" in client.refused(Code.BAD_ARGUMENT, "breakpointLocations", **{**FILE, **wrong})
    assert worker.commands() == []


def test_a_path_is_data_to_the_worker_whatever_is_in_it(play: Play) -> None:
    client = play.session()
    (worker,) = play.attached("w1")
    path = "/a'); {exit}()\n\\ \udc80\"#.py"
    client.request("breakpointLocations", source={"path": path}, line=1)
    asked = ast.walk(ast.parse(worker.heard[-1]["arguments"]["expression"], mode="eval"))
    strings = [node.value for node in asked if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert strings.count(path) == 1
