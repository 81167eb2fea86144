"""The rows of `raydap ps`, their order, and how often workers without an agent are inspected."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from raydap.client.joining import SessionTarget
from raydap.protocol.raydap_messages import SelectedWorkers, StoppedThread, WorkerEntry
from raydap.protocol.stack_messages import CodeLocation, Places, WaitingChild, WorkerPlace
from raydap.terminal import process_list, process_output
from raydap.terminal.legacy_listing import LegacyListing
from raydap.terminal.process_list import OUTSIDE_S, OUTSIDE_SHARE, STATES, ProcessRow, Seen
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import FakeListing, entry


def worker(key: str, **fields: Any) -> WorkerEntry:
    return msgspec.structs.replace(entry(key), **fields)


def place(
    worker: str, text: str = "in step (train.py:42)", rank: int | UnsetType = UNSET, label: str = ""
) -> WorkerPlace:
    location = CodeLocation("step", "/app/train.py", 42)
    return WorkerPlace(worker=worker, label=label or worker, text=text, location=location, rank=rank)


def failed(error: str) -> tuple[StoppedThread, ...]:
    return (StoppedThread(7, "", "exception", error, 0, ""),)


def test_names() -> None:
    task = worker("a", label="prepare", task="prepare")
    actor = worker("b", title="Trainer 3", label="Trainer 3 · step", actor="Trainer", task="Trainer.step")
    assert [ProcessRow(task, place("a")).name, ProcessRow(task, None).name] == ["prepare", "prepare"]
    assert [ProcessRow(actor, place("b")).name, ProcessRow(actor, None).name] == ["Trainer 3 · step"] * 2


def test_how_long_a_state_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    begun = msgspec.structs.replace(place("a"), started=874.0)
    later = msgspec.structs.replace(place("a"), started=1000.4)
    paused, alive, stopped = (worker("a", state=state) for state in ("paused", "alive", "stopped"))
    # The age of a state comes from the session's events, the age of a task from Ray.
    assert [ProcessRow(stopped, begun, age=61.0).lasts, ProcessRow(stopped, None, age=0.5).lasts] == ["1m 01s", ""]
    assert [ProcessRow(paused, begun).lasts, ProcessRow(paused, later).lasts, ProcessRow(paused, place("a")).lasts] == [
        "<2m 06s",
        "<1 s",
        "",
    ]
    # A worker without a debugger has been alive since its process started. Its task is younger.
    assert [ProcessRow(alive, begun, age=7200.0).lasts, ProcessRow(alive, None, age=7200.0).lasts] == ["2m 06s", ""]
    told = [ProcessRow(paused, begun).as_json(), ProcessRow(paused, None, age=7.0).as_json()]
    assert [(row["age"], row["started"]) for row in told] == [(3.0, 874.0), (7.0, None)]


def test_where_a_worker_is() -> None:
    assert ProcessRow(worker("a"), place("a")).where == "in step (train.py:42)"
    assert ProcessRow(worker("a", problem="It cannot be reached."), None).where == "It cannot be reached."
    stopped = ProcessRow(worker("a", state="stopped", threads=failed("mine.ValueError")), place("a"))
    assert (stopped.where, stopped.has_failed) == ("in step (train.py:42) mine.ValueError", True)
    paused = ProcessRow(worker("a", state="paused"), place("a"))
    assert (paused.where, paused.has_failed) == ("at breakpoint() in step (train.py:42)", False)
    assert ProcessRow(worker("a", state="paused"), None).where == ""


def test_for_programs() -> None:
    told = ProcessRow(worker("a", state="stopped", threads=failed("E"), rank=3), place("a")).as_json()
    assert (told["key"], told["state"], told["rank"], told["file"], told["line"]) == ("a", "stopped", 3, *PLACE)
    assert told["threads"][0]["error"] == "E"
    nowhere = ProcessRow(worker("a"), None).as_json()
    assert (nowhere["rank"], nowhere["place"], nowhere["file"], nowhere["line"]) == (None, "", "", 0)


PLACE = ("/app/train.py", 42)


class Cluster:
    """A session with workers and their places. `outside` records whether each look included workers without an agent.

    A look takes `look_s` seconds on a clock that advances only during looks.
    """

    def __init__(self, *entries: WorkerEntry, places: Sequence[WorkerPlace] = ()) -> None:
        self.places = list(places)
        self.outside: list[bool] = []
        self.look_s = 0.0
        self.now = 1000.0
        self.live = ScriptedLive(*entries, raydap__places=self._look, raydap__select=self._select)
        self.seen = Seen()
        self.children: list[WaitingChild] = []

    def _look(self, asked: Any) -> Places:
        self.outside.append(asked["outside"])
        self.now += self.look_s
        # The places of the other workers are found only with `outside`.
        if not asked["outside"]:
            return Places(places=(), unread=())
        return Places(places=tuple(self.places), unread=(), children=tuple(self.children))

    def _select(self, asked: Any) -> SelectedWorkers:
        assert asked["running"] is True
        return SelectedWorkers(workers=tuple(asked["select"].split()))

    def rows(self, select: str | None = None, everybody: bool = False) -> list[ProcessRow]:
        async def look() -> list[ProcessRow]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(asyncio.get_running_loop(), "time", lambda: self.now)
                return await process_list.look(
                    self.live, cast(LegacyListing, FakeListing()), select, everybody, self.seen
                )

        return asyncio.run(look())

    def change(self, key: str, **fields: Any) -> None:
        self.live.workers[key] = msgspec.structs.replace(self.live.workers[key], **fields)


def test_the_order_is_by_state_job_class_rank_and_process() -> None:
    trainers = [worker(f"t{rank}", actor="Trainer", label="Trainer", pid=50 - rank, rank=rank) for rank in range(3)]
    others = [
        worker("stopped", state="stopped", job="02"),
        worker("running", state="running"),
        worker("later", job="00", pid=7),
        worker("first", job="00", pid=6),
        worker("rollout", actor="Rollout"),
        worker("detached", state="detached"),
    ]
    places = [place(f"t{rank}", rank=rank) for rank in (2, 1)]
    cluster = Cluster(*trainers, *others, places=places)
    assert [row.entry.key for row in cluster.rows()] == [
        *("stopped", "running", "first", "later", "rollout"),
        # Workers without a rank come first.
        *("t0", "t1", "t2"),
        "detached",
    ]
    assert next(iter(STATES)) == "stopped"


def test_idle_workers_are_left_out() -> None:
    cluster = Cluster(worker("idle", task=""), worker("actor", task="", actor="A"), worker("paused", state="paused"))
    assert [row.entry.key for row in cluster.rows()] == ["paused", "actor"]
    assert [row.entry.key for row in cluster.rows(everybody=True)] == ["paused", "actor", "idle"]


def test_a_set_restricts_the_rows() -> None:
    cluster = Cluster(worker("a"), worker("b"))
    assert [row.entry.key for row in cluster.rows(select="b gone")] == ["b"]
    assert cluster.live.connection.requests[-1] == ("raydap/places", {"select": "b gone", "outside": True})


def test_of_several_threads_the_first_place_is_shown() -> None:
    cluster = Cluster(worker("a"), places=[place("a", "first"), place("a", "second")])
    assert [row.where for row in cluster.rows()] == ["first"]


def test_workers_without_an_agent_are_looked_at_every_ten_seconds() -> None:
    cluster = Cluster(worker("a"), places=[place("a")])
    assert [row.where for row in cluster.rows()] == ["in step (train.py:42)"]
    cluster.now += OUTSIDE_S - 0.1
    # The last known place is shown until then.
    assert [row.where for row in cluster.rows()] == ["in step (train.py:42)"]
    cluster.now += 0.1
    cluster.places = []
    assert [row.where for row in cluster.rows()] == [""]
    assert cluster.outside == [True, False, True]


def test_such_looks_take_a_small_share_of_the_time() -> None:
    cluster = Cluster(worker("a"))
    cluster.look_s = 2.0
    cluster.rows()
    assert cluster.seen.outside_at == cluster.now + 2.0 / OUTSIDE_SHARE
    cluster.look_s = 0.0
    cluster.now += 2.0 / OUTSIDE_SHARE - 0.1
    cluster.rows()
    cluster.now += 0.1
    cluster.rows()
    assert cluster.outside == [True, False, True]


def test_a_change_of_what_a_worker_does_is_looked_at_at_once() -> None:
    cluster = Cluster(worker("a"), worker("b"))
    for fields, expected in (
        ({}, True),
        ({}, False),
        ({"state": "paused"}, True),
        ({"task": "other"}, True),
        ({"age": 9.0}, False),
    ):
        cluster.change("a", **fields)
        cluster.rows()
        assert cluster.outside[-1] == expected
    cluster.live.workers["c"] = worker("c")
    cluster.rows()
    # A worker that has ended cannot be inspected.
    del cluster.live.workers["c"]
    cluster.rows()
    assert cluster.outside[-2:] == [True, False]
    assert list(cluster.seen.places) == ["a", "b"]


def test_why_the_list_is_empty() -> None:
    live = ScriptedLive()
    assert (
        process_output.no_rows_text(live, None)
        == process_output.no_rows_text(live, "rank:0")
        == "No workers are running."
    )
    live.workers = {"a": worker("a", task="")}
    idle = "No worker is in the set x. There are: only idle workers. `--all` also lists idle workers."
    assert process_output.no_rows_text(live, "x") == idle
    live.workers["b"] = worker("b", actor="Trainer", title="Trainer 2")
    assert "There are: Trainer 2. `--all`" in process_output.no_rows_text(live, "x")
    del live.workers["a"]
    assert process_output.no_rows_text(live, "x") == "No worker is in the set x. There are: Trainer 2."
    live.workers = {"a": worker("a", task="")}
    assert process_output.no_rows_text(live, None).startswith("All workers of this cluster are idle; `raydap ps --all`")
    live.outage = "The dashboard does not answer."
    assert process_output.no_rows_text(live, "x") == "The dashboard does not answer."


def test_forked_children_that_wait_in_breakpoint_have_rows_until_the_next_look_from_outside() -> None:
    cluster = Cluster(worker("a", actor="Loader", title="Loader 2", label="Loader 2 · load"), places=[place("a")])
    where = CodeLocation("step", "/app/train.py", 42)
    # The second parent has just ended.
    cluster.children = [WaitingChild(parent=key, pid=7, location=where, problem="") for key in "ab"]
    for _ in range(2):  # The second look does not include the outside.
        child, parent = cluster.rows()
        assert (child.state, child.name, child.entry.pid) == ("paused", "child of Loader 2", 7)
        assert (child.where, child.as_json()["place"]) == ("at breakpoint() in step (train.py:42)",) * 2
        assert "raydap debug PROGRAM.py" in child.entry.problem
        assert parent.entry.key == "a"
    assert cluster.outside == [True, False]
    cluster.children = []
    cluster.now += OUTSIDE_S
    assert [row.entry.key for row in cluster.rows()] == ["a"]


def trainer(rank: int, **fields: Any) -> WorkerEntry:
    named = {"actor": "Trainer", "rank": rank, "title": f"Trainer {rank}", "label": f"Trainer {rank} · step"}
    return worker(f"t{rank}", **{**named, "pid": rank, **fields})


def test_rows_that_differ_only_in_the_worker_are_one() -> None:
    rows = [ProcessRow(trainer(rank, node=f"10.0.0.{rank}"), place("x"), age=float(rank)) for rank in range(8)]
    rows[5] = ProcessRow(trainer(5), place("x", "in load (train.py:7)"))
    rows.insert(0, ProcessRow(trainer(9, state="stopped", threads=failed("E")), place("x")))
    rows.append(ProcessRow(worker("d", type="driver", label="driver train.py"), place("x")))
    found = process_list.folded(rows)
    # By state, and in each state small groups first.
    assert [(len(each.rows), each.state, each.name, each.where) for each in found] == [
        (1, "stopped", "Trainer 9 · step", "in step (train.py:42) E"),
        (1, "alive", "Trainer 5 · step", "in load (train.py:7)"),
        (1, "alive", "driver train.py", "in step (train.py:42)"),
        (7, "alive", "Trainer{0-4,6-7} · step", "in step (train.py:42)"),
    ]
    assert [each.node for each in found[2:]] == ["10.0.0.7", "7 nodes"]
    assert [len(each.rows) for each in process_list.folded(rows, apart="t3")] == [1, 1, 1, 1, 6]
    assert len(process_list.singly(rows)) == len(rows)


def test_the_name_and_the_time_of_a_folded_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)

    def name(*entries: WorkerEntry) -> str:
        return process_list.FoldedRow([ProcessRow(each, None) for each in entries]).name

    assert name(worker("a", label="prepare"), worker("b", label="prepare")) == "prepare"
    assert name(trainer(0), trainer(1, label="Trainer 1 · save")) == "Trainer{0-1}"
    assert name(trainer(0), trainer(1, label="Trainer 1")) == "Trainer{0-1}"
    assert len(name(*(trainer(rank) for rank in range(0, 2000, 2)))) < process_list.LONGEST_NAME + len(" · step") + 1

    def lasts(*started: float) -> str:
        places = [msgspec.structs.replace(place("a"), started=each) for each in started]
        return process_list.FoldedRow([ProcessRow(worker("a"), each) for each in places]).lasts

    assert lasts(988.0, 988.0) == "12 s"
    assert lasts(990.0, 874.0, 1000.0) == "up to 2m 06s"


def printed(
    live: ScriptedLive, monkeypatch: pytest.MonkeyPatch, *, select: str | None = None, each: bool = False
) -> int:
    @asynccontextmanager
    async def answering(_: object, following: str) -> AsyncIterator[ScriptedLive]:
        yield live

    class Listing(FakeListing):
        def follow(self, _: object) -> None:
            pass

    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(process_output, "answering", answering)
    monkeypatch.setattr(process_output, "LegacyListing", Listing)
    return asyncio.run(process_output.show(SessionTarget(), select, process_output.Choices(each=each)))


@pytest.mark.parametrize("count", [64, 1000])
def test_the_output_does_not_grow_with_the_number_of_workers(
    count: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster(*(trainer(rank) for rank in range(count)), places=[place(f"t{rank}") for rank in range(count)])
    assert printed(cluster.live, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["STATE", "COUNT", "WORKER", "JOB", "NODE", "PID", "FOR", "WHERE"]
    shown = f"alive {count} Trainer{{0-{count - 1}}} · step 01 10.0.0.7 in step (train.py:42)"
    assert [line.split() for line in lines[1:]] == [shown.split()]
    printed(cluster.live, monkeypatch, each=True)
    assert len(capsys.readouterr().out.splitlines()) == count + 1


def test_of_many_different_rows_only_some_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [place(f"t{rank}", f"in step (train.py:{rank})") for rank in range(100)]
    cluster = Cluster(*(trainer(rank) for rank in range(100)), places=places)
    printed(cluster.live, monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == process_output.MAX_ROWS + 2
    assert lines[-1] == f"and {100 - process_output.MAX_ROWS} more rows; `raydap ps --each` lists all workers"
