"""The stacks of stopped threads, and the sources around a frame."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from raydap.client.dap_connection import ConnectionEnded, RequestRefused, SessionError
from raydap.terminal.debugger import frames
from raydap.terminal.debugger.frames import Frame, Sources, frame_of, users
from support.scripted_session import ScriptedConnection

BODY = {"id": 1001, "name": "step", "source": {"path": "/app/train.py", "sourceReference": 0}, "line": 42}


def test_a_frame_as_pdb_writes_it() -> None:
    assert frame_of(BODY) == Frame(1001, "step", "/app/train.py", 0, 42, False)
    assert frame_of(BODY).place == "train.py(42)step()"
    assert frame_of({**BODY, "name": "<module>"}).place == "train.py(42)<module>"
    unknown = frame_of({"id": 1, "name": "f", "line": 0, "presentationHint": "subtle"})
    assert (unknown.path, unknown.reference, unknown.is_library) == ("?", 0, True)
    named = frame_of({**BODY, "source": {"name": "<string>", "sourceReference": 1003}})
    assert (named.path, named.reference) == ("<string>", 1003)


def test_frames_of_libraries_are_shown_if_there_are_no_others() -> None:
    mine, rays = frame_of(BODY), frame_of({**BODY, "presentationHint": "subtle"})
    assert users([rays, mine, rays]) == [mine]
    assert users([rays]) == [rays]
    assert users([]) == []


def test_the_stack_is_innermost_first() -> None:
    connection = ScriptedConnection({"stackTrace": {"stackFrames": [BODY, {**BODY, "id": 1002, "name": "train"}]}})
    assert [frame.name for frame in asyncio.run(frames.stack(connection, 7))] == ["step", "train"]
    assert connection.requests == [("stackTrace", {"threadId": 7})]


def test_the_frames_of_callers_name_their_process_and_count_as_the_users() -> None:
    label = {"id": 1003, "name": "called by driver train.py", "line": 0, "presentationHint": "label"}
    caller = {**BODY, "id": 1004, "name": "main", "line": 50, "presentationHint": "subtle"}
    connection = ScriptedConnection({"stackTrace": {"stackFrames": [BODY, label, caller]}})
    found = asyncio.run(frames.stack(connection, 7))
    assert users(found) == found
    assert [frame.place for frame in found] == ["train.py(42)step()", "train.py(50)main() (called by driver train.py)"]


def lines(connection: ScriptedConnection, *asked: Frame) -> list[list[str]]:
    async def read() -> list[list[str]]:
        sources = Sources()
        return [await sources.lines(connection, frame) for frame in asked]

    return asyncio.run(read())


def at(path: object, reference: int = 0) -> Frame:
    return Frame(1, "f", str(path), reference, 1, False)


def test_files_of_this_machine_are_read_here_and_again_when_they_change(tmp_path: Path) -> None:
    path = tmp_path / "a.py"

    async def read() -> None:
        sources, connection = Sources(), ScriptedConnection({})
        path.write_text("x = 1\n\ny = 2")
        assert await sources.lines(connection, at(path)) == ["x = 1", "", "y = 2"]
        path.write_text("z = 3 # longer than before\n")
        assert await sources.lines(connection, at(path)) == ["z = 3 # longer than before"]
        assert connection.requests == []

    asyncio.run(read())


def test_others_are_read_from_the_workers_once(tmp_path: Path) -> None:
    connection = ScriptedConnection({"source": lambda asked: {"content": f"# {asked['sourceReference']}\nx\n"}})
    here = tmp_path / "a.py"
    here.write_text("not this\n")
    found = lines(connection, at("/elsewhere.py", 5), at("/elsewhere.py", 5), at(here, 6))
    assert found == [["# 5", "x"], ["# 5", "x"], ["# 6", "x"]]
    assert connection.commands == ["source", "source"]


def test_a_source_that_cannot_be_read_is_empty() -> None:
    assert lines(ScriptedConnection({"source": RequestRefused("no such file", 1)}), at("/gone.py")) == [[]]
    assert lines(ScriptedConnection({"source": {}}), at("/empty.py")) == [[]]
    with pytest.raises(ConnectionEnded):
        lines(ScriptedConnection({"source": ConnectionEnded("over")}), at("/gone.py"))


def variables(answer: Any) -> list[tuple[str, str]]:
    scopes = {"scopes": [{"variablesReference": 9}, {"variablesReference": 10}]}
    connection = ScriptedConnection({"scopes": scopes, "variables": answer})
    found = asyncio.run(frames.variables(connection, at("a.py")))
    assert connection.requests[1] == ("variables", {"variablesReference": 9})
    return found


def test_variables_without_the_groups_of_debugpy() -> None:
    groups = [{"name": "special variables", "value": ""}, {"name": "x", "value": "1", "evaluateName": "x"}]
    # A program may have a global of such a name.
    odd = {"name": "my variables", "value": "2", "evaluateName": "globals()['my variables']"}
    assert variables({"variables": [*groups, odd]}) == [("x", "1"), ("my variables", "2")]
    for body in ({}, {"variables": [{"name": "x"}]}, {"variables": None}):
        with pytest.raises(SessionError, match="The variables cannot be read"):
            variables(body)
    assert asyncio.run(frames.variables(ScriptedConnection({"scopes": {"scopes": []}}), at("a.py"))) == []
