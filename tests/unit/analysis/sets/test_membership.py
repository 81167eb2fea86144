"""Membership in sets, by the examples of docs/usage/sets.md."""

import re
from pathlib import Path
from typing import Any

import pytest

from raydap.analysis.sets.membership import Candidate, is_in
from raydap.analysis.sets.set_syntax import QUALIFIERS, parse
from raydap.core.requests.console import COMMANDS, USAGE
from raydap.protocol.raydap_messages import StoppedThread, WorkerEntry

PAGE = (Path(__file__).parents[4] / "docs" / "usage" / "sets.md").read_text(encoding="utf-8")


def candidate(key: str, place: tuple[str, int] | None = None, **fields: Any) -> Candidate:
    known: dict[str, Any] = {
        "name": f"{key} · 4711 · 10.0.0.1",
        "title": key,
        "label": key,
        "where": "",
        "state": "running",
    }
    known |= {
        "state": "running",
        "age": 0.0,
        "type": "worker",
        "pid": 4711,
        "node": "10.0.0.1",
        "node_id": "ab" * 28,
        "job": "01000000",
    }
    known |= {"submission": "", "actor": "", "actor_name": "", "task": "", "agent": True, "problem": ""}
    error = fields.pop("error", "")
    thread = None if place is None else StoppedThread(1, "", "breakpoint", error, 0, "")
    if place is not None:
        known["state"] = "stopped"
    threads = () if thread is None else (thread,)
    return Candidate(WorkerEntry(key=key, threads=threads, **{**known, **fields}), thread, place)


FLEET = [
    candidate("r0", rank=0, actor="RolloutWorker", actor_name="rollout_0"),
    candidate("r4", ("/app/train.py", 42), rank=4, actor="RolloutWorker", node="10.1.0.9", error="mine.ValueError"),
    candidate("t0", ("/app/train.py", 47), rank=0, actor="Trainer", task="Trainer.step", pid=101),
    candidate("t1", ("C:\\app\\eval.py", 3), rank=1, actor="Trainer", error="ray.exceptions.GetTimeoutError"),
    candidate("p", task="prepare", pid=101, name="prepare · 101 · 10.0.0.1"),
    candidate("l", name="DataLoader 9", title="DataLoader 9", submission="raysubmit_x"),
    candidate("odd", name="a name: with spaces"),
]

EXAMPLES = {
    "actor:Rollout*": "r0 r4",
    "actor:Rollout* node:10.0.0.*": "r0",
    "rank:0,4-7": "r0 r4 t0",
    "actor:Rollout* not rank:0": "r4",
    "state:stopped line:train.py:42": "r4",
    "line:train.py:40-50,eval.py": "r4 t0 t1",
    "error:ValueError or error:*Timeout*": "r4 t1",
    "(actor:Trainer or task:prepare) pid:101": "t0 p",
    "Trainer 1": "t1",
    "Trainer{0,2-7}": "t0",
    "prepare 101": "p",
    "loader": "l",
    '"a name: with spaces"': "odd",
    # A condition on `step` is not evaluated here.
    "actor:Trainer where step > 100": "t0 t1",
}

MORE = {
    "": "r0 r4 t0 t1 p l odd",
    "trainer 0-1": "t0 t1",
    "Train 1": "",
    "rollout*{4}": "r4",
    "rollout_0 0": "r0",
    "prepare 1": "",
    "not Trainer 1 actor:Trainer": "t0",
    "Trainer 7 or Trainer 0": "t0",
    "Trainer{x}": "",
    "actor:trainer": "t0 t1",
    "actor:rollout_0": "r0",
    "task:step": "t0",
    "task:Trainer.step": "t0",
    "task:p": "p",
    "not not actor:Trainer": "t0 t1",
    "not (actor:* or loader)": "p odd",
    "rank:0 and actor:Trainer or loader": "t0 l",
    "actor:Trainer (rank:1)": "t1",
    "job:01*": "r0 r4 t0 t1 p l odd",
    "job:raysubmit_x": "l",
    "line:app/train.py": "r4 t0",
    "line:/app/train.py:47": "t0",
    "line:rain.py": "",
    "line:*rain.py": "r4 t0",
    "line:app/eval.py": "t1",
    "state:stopped,alive": "r4 t0 t1",
    "node:" + "ab" * 28: "r0 r4 t0 t1 p l odd",
    'task:"prepare"': "p",
    "data?oader*": "l",
    "set:rollouts rank:4": "r4",
    "not set:both": "p l odd",
}

KEPT = {"rollouts": "actor:Rollout*", "both": "set:rollouts or actor:Trainer"}


def keys(text: str) -> str:
    tree, _ = parse(text, KEPT)
    return " ".join(each.entry.key for each in FLEET if is_in(tree, each))


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.items())
def test_the_examples_of_the_page(text: str, expected: str) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(("text", "expected"), MORE.items())
def test_more_sets(text: str, expected: str) -> None:
    assert keys(text) == expected


def rows(heading: str) -> list[list[str]]:
    found = re.search(rf"^\| {heading} \|.*\|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found[1].splitlines()]


def test_the_page_has_the_examples() -> None:
    assert [row[0].strip("`") for row in rows("set")] == list(EXAMPLES)


def test_the_page_has_the_commands() -> None:
    assert [(name.strip("`"), text) for name, text in rows("command")] == USAGE
    assert {usage.split()[0].strip("/") for usage, _ in USAGE} - {"in"} == COMMANDS.keys()


def test_the_page_has_the_qualifiers() -> None:
    assert {name.strip("`"): text for name, text in rows("qualifier")} == QUALIFIERS
