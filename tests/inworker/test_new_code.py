"""New code for a running program, and breakpoints in it."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from raydap.core.workers import new_texts
from raydap.inworker import calls
from support.agents import PreparedProgram, ask
from support.entered import EnteredWorker
from support.held_program import HELD, RunHeld
from support.look import line_of

pytestmark = pytest.mark.core

SOURCE = """\
def main():
    state = []
    step(state)
    for _ in range(2):
        held("reloaded")
        step(state)

def step(state):
    state.append("old")
    print(state, flush=True)

held("go")
main()
"""

NEW_STEP = """\
# This line and the next
# move everything.

def step(state):
    state.append("new")
    helper(state)
    print(state, flush=True)

def helper(state):
    state.append(LIMIT)  # added

LIMIT = 9
"""


def new_text(path: Path) -> str:
    """Return the program with another `step`, a new function and a new constant."""
    text = path.read_text()
    first, last = (
        text.index("def step("),
        text.index('held("go")') if 'held("go")' in text else text.index("breakpoint()"),
    )
    return text[:first] + NEW_STEP + text[last:]


def reload(path: Path, text: str) -> str:
    return calls.reload_code([str(path)], "", new_texts.pack(text))


@pytest.mark.usefixtures("debuggable")
@pytest.mark.parametrize("saved", [True, False], ids=["saved", "an older copy"])
def test_a_breakpoint_in_the_new_code_stops_at_its_new_line(run_held: RunHeld, saved: bool) -> None:
    program = run_held(SOURCE)
    path = program.worker.path
    program.child.wait_for(r"\['old'\]")
    text = new_text(path)
    if saved:
        path.write_text(text)
    answer: dict[str, Any] = json.loads(program.worker.query(reload(path, text)))
    assert (answer["changed"], answer["added"], answer["kept"]) == (["step"], ["LIMIT", "helper"], [])
    line = line_of(text, "# added")
    set_line(program.worker, path, line)
    (path.parent / "reloaded").touch()
    thread = program.worker.client.wait_event("stopped")["threadId"]
    frames = program.worker.frames(thread)
    assert [(each["name"], each["line"]) for each in frames[:2]] == [("helper", line), ("step", line - 4)]
    set_line(program.worker, path, None)
    assert program.worker.call(calls.resume_thread(thread)) == ""
    program.child.wait_for(r"\['old', 'new', 9, 'new', 9\]")


def set_line(worker: EnteredWorker, path: Path, line: int | None) -> None:
    breakpoints = [] if line is None else [{"line": line}]
    answer = worker.client.request("setBreakpoints", source={"path": str(path)}, breakpoints=breakpoints)
    assert [each["line"] for each in answer["breakpoints"]] == [line for _ in breakpoints]


def test_an_agent_takes_new_code_without_a_debugger(tmp_path: Path, children: ExitStack) -> None:
    program = PreparedProgram.start(HELD + SOURCE, tmp_path, None, children)
    program.called().close()
    (tmp_path / "go").touch()
    program.child.wait_for(r"\['old'\]")
    path = program.path
    question = {"query": calls.reload_in_agent([str(path)], "", new_texts.pack(new_text(path)))}
    assert ask(program, question)["changed"] == ["step"]
    (tmp_path / "reloaded").touch()
    program.child.wait_for(r"\['old', 'new', 9, 'new', 9\]")
