"""Commands of `raydap debug` in a scripted session. tests/ray/test_debug_terminal.py has a real one."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from raydap.client.dap_connection import RequestRefused
from raydap.protocol.raydap_messages import WorkerList
from raydap.terminal.debugger.debugger import CommandError
from support.scripted_debugger import PATH, ScriptedDebugger

LONG = "9" * 5000
"""More digits than Python converts to a number."""


def typed(*lines: str, **values: Any) -> list[str]:
    """Return the output of each line, without trailing spaces. `values` are the values of expressions."""

    async def run() -> list[str]:
        played = ScriptedDebugger()
        played.values = values
        return [await played.execute(line) for line in lines]

    return ["\n".join(line.rstrip() for line in text.rstrip("\n").split("\n")) for text in asyncio.run(run())]


def asked(*lines: str) -> list[tuple[str, Any]]:
    """Return the requests that the last line sends to the session."""

    async def run() -> list[tuple[str, Any]]:
        played = ScriptedDebugger()
        for line in lines[:-1]:
            await played.execute(line)
        before = len(played.requests)
        await played.execute(lines[-1])
        return played.requests[before:]

    return asyncio.run(run())


def test_lists() -> None:
    (around,) = typed("list")
    assert around.split("\n")[:2] == ["  1     import ray", "  2"]
    assert "  4  -> " in around
    assert typed("list 3, 4")[0].split("\n") == ["  3     def step(self, rank):", "  4  ->     loss = rank * 10"]
    # A smaller second number is a count, and line 0 does not exist.
    assert typed("list 5, 2")[0].split("\n")[0].startswith("  5")
    assert typed("list 0, 1") == ["  1     import ray"]
    assert len(typed("list 0")[0].split("\n")) == 9


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("list x", "Give one line, or two separated by a comma"),
        ("list 1, 2, 3", "Give one line, or two"),
        ("list 1,", "Give one line, or two"),
        (f"list {LONG}", "Give one line, or two"),
        ("list 400, 401", "The file has no more lines"),
        (f"up {LONG}", "is not a number of frames"),
        ("down -1", '"-1" is not a number of frames'),
        ("down", "This is the newest frame"),
        (f"jump {LONG}", "Give the next line to execute"),
        (f"until {LONG}", "Give a line after line 4"),
        ("until 4", "Give a line after line 4"),
        ("[0] until", "This command works on one worker only"),
        (f"b {LONG}", "is not a line, FILE:LINE or function"),
        (f"b train.py:{LONG}", "is not a line, FILE:LINE or function"),
        ("b nowhere.py:3", "There is no file nowhere.py on this machine"),
        ("b ~\0/x.py:3", "There is no file"),
        ("tbreak", "Give a line or a function"),
        ("clear 7", "There is no breakpoint 7"),
        (f"clear {LONG}", "There is no breakpoint"),
        ("condition", "There is no breakpoint"),
        (f"pdb {LONG}", "of Ray's old debugger"),
        ("p", "Give an expression: p loss."),
        ("reload", "/cluster/train.py cannot be read on this machine"),
        ("reload nowhere.py", "There is no file nowhere.py on this machine"),
        ("undisplay x", "x is not displayed"),
        ("help nothing", "There is no command nothing"),
    ],
)
def test_mistakes_are_sentences(line: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=r"\.$") as refused:
        typed(line)
    assert sentence in str(refused.value)


def test_up_stays_at_the_oldest_frame() -> None:
    assert typed("up 999999999")[0].startswith("> Trainer 0 train.py(5)train()")
    with pytest.raises(CommandError, match="This is the oldest frame"):
        typed("up", "up")


def test_a_wrong_set_is_refused_as_raydap_says_it() -> None:
    with pytest.raises(RequestRefused, match=r"unknown qualifier actr \("):
        typed("[actr:x] p 1")


def test_pause_reports_at_once_that_no_thread_runs_there() -> None:
    with pytest.raises(CommandError, match="All workers in this set are already stopped"):
        typed("pause 0-1")
    with pytest.raises(CommandError, match=r"No worker is in the set nobody\. There are: "):
        typed("pause nobody")


SETS = [
    ("workers not 0", "raydap/select", "not rank:0"),
    ("stacks 0-1", "raydap/stacks", "rank:0-1"),
    ("wait 0, 1 2.5s", "raydap/places", "rank:0,1"),
    ("[0, 1] p x", "raydap/evaluate", "rank:0,1"),
    ("[where x[0] == ']'] p x", "raydap/evaluate", "where x[0] == ']'"),
    ("[all] c", "raydap/continue", "state:stopped"),
    ("[all] pause", "raydap/pause", "*"),
    ("detach all", "raydap/detach", "*"),
    ("hang 0", "raydap/waits", "rank:0"),
]


@pytest.mark.parametrize(("line", "command", "select"), SETS)
def test_a_set_is_the_same_in_brackets_and_behind_a_command(line: str, command: str, select: str) -> None:
    assert next(arguments["select"] for name, arguments in asked(line) if name == command) == select


def test_the_set_that_is_looked_at_is_meant_by_most_commands() -> None:
    ((command, arguments),) = asked("focus 0-1", "p x")
    assert (command, arguments["expression"], arguments["select"]) == ("raydap/evaluate", "x", "rank:0-1")
    assert [name for name, _ in asked("focus 0-1", "focus", "p x")] == ["evaluate"]


def test_new_code_is_read_here_and_its_details_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("x = 1\n")
    assert typed(f"reload {file}") == ["  changed: step in Trainer{0-2}"]
    assert asked(f"reload {file}")[-1] == ("raydap/reload", {"path": str(file), "text": "x = 1\n"})


def test_python_is_run_in_each_thread_of_a_set() -> None:
    (said,) = typed("[all] x = 1")
    assert said == "Executed in 2 of 2 threads."
    # Python's parser cannot read this. Each thread reports the error itself.
    assert typed("[all] " + "-" * 50_000 + "1") == ["Executed in 2 of 2 threads."]
    # Python warns about this, and tests turn warnings into errors.
    assert typed("[all] x is 1") == ["7  2  Trainer{0-1}"]


def test_what_pp_cannot_read_is_printed_as_it_came() -> None:
    value = "__import__('pprint').pformat((x\n), width=79)"
    assert typed("pp x", **{value: repr("{1: 2,\n 3: 4}")}) == ["{1: 2,\n 3: 4}"]
    for cut in ("'{1: 2...", "{[]: 1}", "<odd>"):
        assert typed("pp x", **{value: cut}) == [cut]


def test_breakpoints_are_numbered_listed_and_removed() -> None:
    lines = ("b 5, rank > 1", "tbreak step", "b Unknown.method", "b", "clear 1", "condition 2 x", "break", "clear", "b")
    said = typed(*lines)
    assert said[0] == f"Breakpoint 1 at {PATH}:5"
    assert said[1] == f"Breakpoint 2 at {PATH}:4"
    assert said[2] == "Breakpoint 3 at Unknown.method"
    assert len(said[3].split("\n")) == 3
    assert said[4] == f"Removed the breakpoint at {PATH}:5"
    assert said[5] == "Breakpoint 2 stops if x."
    assert [line.split()[0] for line in said[6].split("\n")] == ["2", "3"]
    assert said[6].startswith(f"2   tbreak at {PATH}:4 if x\n")
    assert said[7:] == ["Removed all breakpoints.", "No breakpoint is set."]


def test_a_temporary_breakpoint_goes_if_it_is_hit_before_it_is_reported_as_set() -> None:
    async def run() -> ScriptedDebugger:
        played = ScriptedDebugger()
        played.hits_at_once = True
        await played.execute("tbreak 5")
        await played.execute("b 3")
        return played

    played = asyncio.run(run())
    assert [each.line for each in played.kept] == [3]
    assert played.debugger.breakpoints.temporary == set()


def test_barriers() -> None:
    ((_, _), (command, arguments), *_) = [each for each in asked("barrier 5 3 60s") if "reakpoints" in each[0]]
    assert command == "setBreakpoints"
    assert arguments["breakpoints"] == [{"line": 5, "hitCondition": "all 3 60s"}]
    assert typed("barrier") == ["No worker waits at a barrier."]


def test_several_commands_in_a_line_end_with_the_first_that_fails() -> None:
    assert typed("p(x) ;; p y", **{"(x)": "1", "y": "2"}) == ["1\n2"]
    with pytest.raises(CommandError, match="Give one line"):
        typed("list x ;; p y")


@pytest.mark.parametrize(("state", "text"), [("detached", "Trainer 0 is running."), ("gone", "Trainer 0 has ended.")])
def test_a_worker_that_raydap_detaches_from_has_not_ended(state: Any, text: str) -> None:
    """Without breakpoints, raydap detaches from a worker when it is continued."""

    async def run() -> str:
        played = ScriptedDebugger()
        entry = msgspec.structs.replace(played.live.workers["t0"], state=state, threads=())

        def leaves(asked: Any) -> None:
            told = WorkerList(workers=(entry,), outage="")
            played.live._take_event("raydap/workersChanged", msgspec.to_builtins(told))
            played.debugger.threads.take_event("thread", {"reason": "exited", "threadId": asked["threadId"]})

        played.live.connection.answers["continue"] = leaves
        return await played.execute("continue")

    assert asyncio.run(run()).splitlines()[0] == text


def test_a_watch_is_the_console_command_of_every_client() -> None:
    (sent,) = [given for command, given in asked("watch loss != loss") if command == "evaluate"]
    assert sent == {"expression": "/watch loss != loss", "frameId": 1001, "context": "repl"}
    (sent,) = [given for command, given in asked("[Trainer 0] watch --log loss") if command == "evaluate"]
    assert sent["expression"].startswith("/in ")
    assert sent["expression"].endswith(" /watch --log loss")
    (sent,) = [given for command, given in asked("unwatch 1017") if command == "evaluate"]
    assert sent["expression"] == "/unwatch 1017"
