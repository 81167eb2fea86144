"""Lenses and hovers about live workers, from the state of sessions."""

from typing import Any

import pytest
from lsprotocol import types

from raydap.lsp.document import Document
from raydap.lsp.live.annotations import hover, lenses
from raydap.lsp.live.session_state import SessionState, StopPlace
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry

PATH = "/work/train.py"
TEXT = """\
import ray

@ray.remote
class Trainer:
    def step(self, batch):
        breakpoint()
        return batch

@ray.remote
def prepare(path):
    return path

def main():
    breakpoint()
"""


def worker(key: str, state: str, threads: tuple[int, ...] = (), **fields: Any) -> WorkerEntry:
    stopped = tuple(StoppedThread(thread, "", "breakpoint", "", 0, "") for thread in threads)
    known = {
        "name": f"{key} · 4711",
        "title": "",
        "label": "",
        "where": "",
        "age": 0.0,
        "type": "worker",
        "pid": 1,
        "node": "",
    }
    known |= {"node_id": "", "job": "", "submission": "", "actor": "", "actor_name": "", "task": "", "problem": ""}
    return WorkerEntry(key=key, state=state, threads=stopped, agent=True, **{**known, **fields})  # type: ignore[arg-type]


def step(key: str, state: str, threads: tuple[int, ...] = ()) -> WorkerEntry:
    return worker(key, state, threads, actor="Trainer", task="Trainer.step")


def stop(session: SessionState, thread: int, line: int, path: str = PATH) -> None:
    assert session.put(thread, session.expect(thread), StopPlace(path, line))


@pytest.fixture
def document() -> Document:
    found = Document(f"file://{PATH}", TEXT, 1, "utf-16")
    found.examine(frozenset())
    return found


@pytest.fixture
def session() -> SessionState:
    return SessionState()


def shown(document: Document, *sessions: SessionState) -> dict[int, str]:
    """Return the titles of the lenses by line, counted from 1."""
    found = {}
    for lens in lenses(document, sessions):
        assert lens.command is not None
        found[lens.range.start.line + 1] = lens.command.title
    return found


def test_workers_are_counted_where_their_code_is(document: Document, session: SessionState) -> None:
    session.take([step("a", "stopped", (1,)), step("b", "stopped", (2, 3)), step("c", "running")])
    session.take([worker("d", "running", task="prepare"), worker("e", "paused", task="prepare")])
    stop(session, 1, 6)
    stop(session, 2, 7)
    stop(session, 3, 7)
    assert shown(document, session) == {
        3: "2 stopped here, 1 running",
        5: "2 stopped here, 1 running",
        6: "2 stopped here",
        9: "1 running, 1 paused, not attached",
    }


def test_only_the_workers_that_a_filter_shows_count(document: Document, session: SessionState) -> None:
    session.take([step("a", "stopped", (1,)), step("b", "stopped", (2,)), step("c", "running")])
    stop(session, 1, 6)
    stop(session, 2, 7)
    found = lenses(document, [session], ["raydap.continueStopped"], {"a"})
    commands = [lens.command for lens in found if lens.command is not None]
    assert {command.title for command in commands} == {"1 stopped here", "continue"}
    assert [command.arguments for command in commands if command.command] == [[{"a": [1]}]] * 3
    assert lenses(document, [session], [], ()) == []
    table = hover(document, types.Position(4, 9), [session], {"b", "c"})
    assert table is not None
    assert isinstance(table.contents, types.MarkupContent)
    assert table.contents.value.count("stopped at line") == 1
    assert hover(document, types.Position(4, 9), [session], ()) is None


def test_a_breakpoint_of_the_driver_is_no_place_of_workers(document: Document, session: SessionState) -> None:
    session.take([worker("driver", "stopped", (1,), type="driver")])
    stop(session, 1, 14)
    assert shown(document, session) == {}


def test_a_method_of_the_same_name_is_another_one(document: Document, session: SessionState) -> None:
    session.take([worker("a", "running", actor="Other", task="step"), worker("b", "running", task="main.prepare")])
    assert shown(document, session) == {9: "1 running"}


def test_another_file_is_another_place(document: Document, session: SessionState) -> None:
    session.take([step("a", "stopped", (1,))])
    stop(session, 1, 6, "/work/other.py")
    assert shown(document, session) == {}


def test_a_resumed_worker_is_no_longer_shown_as_stopped(document: Document, session: SessionState) -> None:
    session.take([step("a", "stopped", (1,))])
    stop(session, 1, 6)
    session.forget(1)
    session.take([step("a", "running")])
    assert shown(document, session) == {3: "1 running", 5: "1 running"}
    session.take([step("a", "gone")])
    assert shown(document, session) == {}


def test_a_lens_offers_what_the_client_can_do(document: Document, session: SessionState) -> None:
    session.take([step("a", "stopped", (1, 2)), step("b", "stopped", (3,)), worker("c", "running", task="prepare")])
    for thread in (1, 2, 3):
        stop(session, thread, 6 if thread < 3 else 99)
    found = [lens.command for lens in lenses(document, [session], ["raydap.continueStopped"])]
    offered = [command for command in found if command is not None and command.command]
    assert [(command.title, command.arguments) for command in offered] == [("continue", [{"a": [1, 2]}])] * 3


def test_a_late_answer_about_an_older_stop_does_not_count(session: SessionState) -> None:
    count = session.expect(1)
    session.forget(1)
    assert not session.put(1, count, StopPlace(PATH, 6))
    count = session.expect(1)
    session.expect(1)
    assert not session.put(1, count, StopPlace(PATH, 6))


def test_a_worker_that_two_sessions_see_is_one(document: Document, session: SessionState) -> None:
    watcher = SessionState()
    watcher.take([step("a", "alive"), step("b", "paused")])
    session.take([step("a", "stopped", (1,)), step("b", "running")])
    stop(session, 1, 6)
    assert shown(document, watcher, session) == {
        3: "1 stopped here, 1 running",
        5: "1 stopped here, 1 running",
        6: "1 stopped here",
    }


def test_without_a_session_nothing_is_shown(document: Document) -> None:
    assert shown(document) == {}
    assert hover(document, types.Position(9, 6), []) is None


def test_a_hover_says_who_runs_a_function_and_for_how_long(document: Document, session: SessionState) -> None:
    session.take([step("a_b", "stopped", (1,)), step("c", "running")])
    stop(session, 1, 6)
    found = hover(document, types.Position(4, 9), [session])
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value.splitlines() == [
        "**`Trainer.step`**",
        "",
        "| worker | state | time in state |",
        "|---|---|---|",
        "| `a_b · 4711` | stopped at line 6 |  |",
        "| `c · 4711` | running |  |",
    ]
    assert found.range == types.Range(types.Position(4, 8), types.Position(4, 12))
    assert hover(document, types.Position(6, 10), [session]) is None
    assert hover(document, types.Position(500, 0), [session]) is None


def test_a_name_in_a_hover_is_no_markdown(document: Document, session: SessionState) -> None:
    """As Markdown, an image would be fetched, and a click would open a link."""
    session.take([step("x ![](https://evil/a.png) `[b](https://evil)`|c\n\n# d", "running")])
    found = hover(document, types.Position(4, 9), [session])
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    (row,) = found.contents.value.splitlines()[4:]
    name = row.split(" | ")[0].removeprefix("| ")
    assert name.startswith("`x ![](https://evil/a.png) '[b](https://evil)'\\|c")
    assert (name.count("`"), name.endswith("`")) == (2, True)


def test_a_hover_lists_only_so_many(document: Document, session: SessionState) -> None:
    session.take(worker(f"w{number:03}", "running", task="prepare") for number in range(50))
    found = hover(document, types.Position(9, 5), [session])
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    lines = found.contents.value.splitlines()
    assert (len(lines), lines[-1]) == (4 + 20 + 2, "and 30 more")
