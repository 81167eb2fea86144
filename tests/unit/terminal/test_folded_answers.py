"""`raydap stacks`, `eval` and `compare` without a cluster: their requests, output, files and exit codes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from raydap.client.joining import SessionTarget
from raydap.errors import ProblemError
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import CodeLocation, MergedStacks, StackNode
from raydap.protocol.value_messages import EvaluationGroup, Evaluations
from raydap.terminal import folded_answers
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import entry

Answer = Callable[..., Coroutine[Any, Any, int]]

NODE = StackNode(frame=None, count=0, members=(), running=(), label="", children=())
STEP = msgspec.structs.replace(NODE, frame=CodeLocation("step", "/app/train.py", 42), count=2, label="Trainer{0-1}")
TREE = msgspec.structs.replace(NODE, count=2, label="Trainer{0-1}", children=(STEP,))
STACKS = MergedStacks(root=TREE, missing=(), silent=(), unread=())
NO_STACKS = MergedStacks(root=NODE, missing=(), silent=(), unread=())
GROUP = EvaluationGroup(value="7", type="int", members=(), label="Trainer{0-1}", running=("a", "b"))
VALUES = Evaluations(results=(), groups=(GROUP,), silent=())


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScriptedLive]:
    """Return `session(*entries, **answers)`, which makes the session that the commands join."""

    def begin(*entries: WorkerEntry, **answers: Any) -> ScriptedLive:
        live = ScriptedLive(*entries, **answers)

        @asynccontextmanager
        async def answering(target: SessionTarget, following: str) -> AsyncIterator[ScriptedLive]:
            yield live

        monkeypatch.setattr(folded_answers, "answering", answering)
        return live

    return begin


def stacks(select: str | None = None, as_json: bool = False, folded: bool = False, svg: str | None = None) -> int:
    return asyncio.run(folded_answers.stacks(SessionTarget(), select, False, as_json, folded, svg))


def test_stacks(session: Callable[..., ScriptedLive], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    live = session(entry("a"), raydap__stacks=STACKS)
    assert stacks("actor:Trainer") == 0
    assert "step (train.py:42)" in capsys.readouterr().out
    ((_, asked),) = live.connection.requests
    assert (asked["select"], asked["running"], asked["outside"], asked["maxMembers"]) == (
        "actor:Trainer",
        True,
        True,
        folded_answers.MAX_MEMBERS,
    )
    assert stacks(as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["root"]["count"] == 2
    assert stacks(folded=True) == 0
    assert capsys.readouterr().out.strip().endswith(" 2")
    path = tmp_path / "stacks.svg"
    assert stacks(svg=str(path)) == 0
    assert path.read_text(encoding="utf-8").startswith("<svg")
    assert capsys.readouterr().out == ""
    with pytest.raises(ProblemError):
        stacks(svg=str(tmp_path / "none" / "stacks.svg"))


def evaluate(select: str | None = None, as_json: bool = False) -> int:
    return asyncio.run(folded_answers.evaluate(SessionTarget(), "self.step", select, 2.5, as_json))


def test_values(session: Callable[..., ScriptedLive], capsys: pytest.CaptureFixture[str]) -> None:
    live = session(entry("a"), raydap__evaluate=VALUES)
    assert evaluate("rank:0-1") == 0
    assert capsys.readouterr().out.startswith("7  2  Trainer{0-1}")
    ((_, asked),) = live.connection.requests
    assert (asked["expression"], asked["select"], asked["running"], asked["timeout"]) == (
        "self.step",
        "rank:0-1",
        True,
        2.5,
    )
    assert evaluate(as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["groups"][0]["value"] == "7"


def test_a_worker_that_does_not_answer_is_an_answer(
    session: Callable[..., ScriptedLive], capsys: pytest.CaptureFixture[str]
) -> None:
    session(entry("a"), raydap__evaluate=msgspec.structs.replace(VALUES, groups=(), silent=(7,)))
    assert evaluate() == 3
    assert capsys.readouterr().out != ""


SENTENCES = [
    # The states of the workers, the set, the number of silent workers, and the message before the advice.
    ((), None, 0, "No workers are running."),
    ((), "rank:0", 0, "No workers are running."),
    (("alive",), "rank:0", 0, "No worker in this set can report its stack. There are: collect 4711."),
    (("paused", "paused"), None, 0, "No worker can report its stack: 2 wait at breakpoint()."),
    (
        ("paused", "alive", "alive"),
        None,
        3,
        "No worker can report its stack: 1 waits at breakpoint() and 3 did not answer.",
    ),
    (("alive", "alive"), None, 0, "No worker can report its stack: 2 run without an agent."),
    (("running",), None, 0, "No worker can report its stack."),
]


@pytest.mark.parametrize(("states", "select", "silent", "sentence"), SENTENCES)
def test_why_no_worker_can_be_asked(
    session: Callable[..., ScriptedLive],
    capsys: pytest.CaptureFixture[str],
    states: tuple[Any, ...],
    select: str | None,
    silent: int,
    sentence: str,
) -> None:
    entries = [entry(str(number), state) for number, state in enumerate(states)]
    session(*entries, raydap__stacks=msgspec.structs.replace(NO_STACKS, silent=tuple(range(silent))))
    assert stacks(select) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    text = " ".join(shown.err.split())
    assert text.startswith(sentence)
    assert ("`raydap debug` attaches" in text) == (states != ())


def test_workers_with_an_agent_are_not_called_unprepared(
    session: Callable[..., ScriptedLive], capsys: pytest.CaptureFixture[str]
) -> None:
    session(
        msgspec.structs.replace(entry("a"), agent=True), raydap__evaluate=msgspec.structs.replace(VALUES, groups=())
    )
    assert evaluate() == 3
    assert capsys.readouterr().err.startswith(
        "No worker can evaluate an expression without being stopped. `raydap debug`"
    )


def test_json_is_never_a_sentence(session: Callable[..., ScriptedLive], capsys: pytest.CaptureFixture[str]) -> None:
    session(raydap__stacks=NO_STACKS, raydap__evaluate=msgspec.structs.replace(VALUES, groups=()))
    assert stacks(as_json=True) == 3
    assert json.loads(capsys.readouterr().out)["root"]["count"] == 0
    assert evaluate(as_json=True) == 3
    assert json.loads(capsys.readouterr().out)["groups"] == []


def test_an_expression_that_fails_in_all_workers_has_failed(session: Callable[..., ScriptedLive]) -> None:
    failed = EvaluationGroup(error="NameError: x", members=(), label="Trainer{0-1}", running=("a", "b"))
    session(raydap__evaluate=msgspec.structs.replace(VALUES, groups=(failed, failed)))
    assert (evaluate(), evaluate(as_json=True)) == (1, 1)
    session(raydap__evaluate=msgspec.structs.replace(VALUES, groups=(failed, GROUP)))
    assert evaluate() == 0
