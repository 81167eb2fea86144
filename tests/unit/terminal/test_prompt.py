"""The input line, without a terminal: completion, blocks of Python, history, and the prompt itself."""

import asyncio
import io
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from raydap.client.dap_connection import RequestRefused
from raydap.terminal.debugger import prompt
from raydap.terminal.debugger.debugger import Debugger
from raydap.terminal.debugger.prompt import ExpressionCompleter, Prompt, needs_more_lines
from support.scripted_session import ScriptedLive
from unit.terminal.made_up_pdbs import entry

FRAMES = {"stackFrames": [{"id": 1001, "name": "step", "source": {"path": "a.py"}, "line": 1}]}
TARGETS = {"targets": [{"label": "rank"}, {"label": "rate()", "text": "rate"}]}


def debugger(**answers: Any) -> Debugger:
    """Return a debugger with one stopped thread, and two classes of actors that run."""
    actors = [msgspec.structs.replace(entry(name), actor=name) for name in ("Rollout", "Trainer", "")]
    live = ScriptedLive(*actors, **{"stackTrace": FRAMES, "completions": TARGETS, **answers})
    made = Debugger(live, Console(file=io.StringIO(), width=80))
    made.threads.take_event("stopped", {"threadId": 7, "reason": "breakpoint"})
    made.look_at(7)
    return made


def completed(text: str, made: Debugger | None = None) -> list[str]:
    """Return the lines that Tab offers."""

    async def complete() -> list[str]:
        completer = ExpressionCompleter(made or debugger())
        found = completer.get_completions_async(Document(text), CompleteEvent())
        return [text[: len(text) + each.start_position] + each.text async for each in found]

    return asyncio.run(complete())


def test_commands_are_completed() -> None:
    assert completed("unt") == ["unt", "until"]
    assert completed("co")[:4] == ["compare", "condition", "cont", "continue"]
    assert "[all] next" in completed("[all] ne")
    assert "where" in completed("")
    # Commands of one or two letters would fill the whole list.
    assert "n" not in completed("")


def test_expressions_are_completed_in_the_frame() -> None:
    made = debugger()
    assert completed("p self.ra", made) == ["p self.rank", "p self.rate"]
    assert isinstance(made.live, ScriptedLive)
    assert made.live.connection.requests[-1] == ("completions", {"frameId": 1001, "text": "self.ra", "column": 8})
    assert completed("x = ra") == ["x = rank", "x = rate"]
    assert completed("[all] p ra") == ["[all] p rank", "[all] p rate"]
    assert completed("!ra") == ["!rank", "!rate"]
    # The command takes no argument, or none has been typed.
    assert completed("next ") == []


def test_sets_are_completed_from_their_bracket_on() -> None:
    assert completed("[act") == ["[actor:", "[actor:Rollout", "[actor:Trainer"]
    assert completed("[actor:Trainer no") == ["[actor:Trainer node:", "[actor:Trainer not "]
    assert completed("[al") == ["[all"]
    assert completed("[not (ra") == ["[not (rank:"]


@pytest.mark.parametrize("answer", [RequestRefused("no", 0), {}, {"targets": None}])
def test_what_cannot_be_completed_is_left_alone(answer: Any) -> None:
    assert completed("self.ra", debugger(completions=answer)) == []
    nobody = debugger()
    nobody.look_at(None)
    assert completed("self.ra", nobody) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in y:", True),
        ("for x in y:\n    print(x)", True),
        ("for x in y:\n    print(x)\n", False),
        ("x = (1,", True),
        ("x = '''", True),
        ("[all] if x:", True),
        ("!if x:", True),
        ("x = 1", False),
        ("x = )", False),
        ("", False),
        # pdb's own commands are single lines.
        ("p (1,", False),
        ("[all] p (1,", False),
        # Texts that Python cannot read for their size or their characters, and texts that it warns about.
        ("-" * 200_000 + "1", False),
        ("x" + ".x" * 20_000, False),
        ("x\0", False),
        ("'\udcff'", False),
        ("x is 1", False),
    ],
)
def test_enter_begins_a_line_while_a_block_is_unfinished(text: str, expected: bool) -> None:
    assert needs_more_lines(Document(text)) == expected


def test_enter_within_the_text_sends_it() -> None:
    assert not needs_more_lines(Document("for x in y:", cursor_position=3))


def made_prompt(made: Debugger, folder: Path) -> Prompt:
    with create_app_session(input=DummyInput(), output=DummyOutput()):
        return Prompt(made, {"XDG_STATE_HOME": str(folder)})


def test_the_prompt_names_the_workers_that_commands_are_for(tmp_path: Path) -> None:
    made = debugger()
    shown = made_prompt(made, tmp_path)
    made.focus.name = "Trainer 1"
    assert shown._message() == [("bold", "(Trainer 1)"), ("", " ")]
    # A set or a name may contain any characters.
    made.focus.select = "not <b>\x00\x1b&"
    assert shown._message() == [("bold", "(not <b>\ufffd\ufffd&)"), ("", " ")]
    made.focus.select = None
    made.threads.take_event("continued", {"threadId": 7})
    assert shown._message() == [("bold", "(raydap)"), ("", " ")]


def test_the_history_is_the_users_alone(tmp_path: Path) -> None:
    made_prompt(debugger(), tmp_path)
    kept = tmp_path / "raydap" / "debug-history"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_without_a_place_for_it_the_history_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "raydap").write_text("")
    assert isinstance(prompt._history({"XDG_STATE_HOME": str(tmp_path)}), InMemoryHistory)
