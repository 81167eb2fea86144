"""The completions that shells get."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete
from click.testing import CliRunner

from raydap.analysis.sets.set_syntax import FIXED_VALUES, QUALIFIERS, STATES, parse
from raydap.cli.main import COMMANDS, SECTIONS, main

LOADED = """\
import sys
from click.shell_completion import ShellComplete
from raydap.cli.main import COMMANDS, main

shell = ShellComplete(main, {}, "raydap", "")
for name in COMMANDS:
    assert shell.get_completions([name], "--"), name
    shell.get_completions([name], "")
shell.get_completions([], "")
print([name for name in ("aiohttp", "debugpy", "ray", "raydap.core.bridge") if name in sys.modules])
"""


def items(*words: str) -> list[CompletionItem[str]]:
    """Return the completions after these words. The last word is incomplete."""
    return ShellComplete(main, {}, "raydap", "").get_completions(list(words[:-1]), words[-1])


def values(*words: str) -> list[str]:
    return [str(item.value) for item in items(*words)]


def test_commands_and_their_options() -> None:
    assert sorted(values("")) == COMMANDS
    assert values("st") == ["stacks", "status"]
    assert {str(item.value): item.help for item in items("do")} == {
        "doctor": SECTIONS["Debug"]["doctor"],
        "down": SECTIONS["Hubs, for remote clusters"]["down"],
    }
    assert values("--v") == ["--version"]
    assert values("ps", "--wa") == ["--watch"]
    assert values("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("before", [("ps",), ("stacks",), ("hang",), ("eval", "loss"), ("compare", "loss"), ("debug",)])
def test_sets_are_completed_by_their_language(
    before: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert values(*before, "") == [f"{qualifier}:" for qualifier in QUALIFIERS]
    assert [item.help for item in items(*before, "act")] == [QUALIFIERS["actor"]]
    assert values(*before, "state:") == [f"state:{state}" for state in STATES]
    assert values(*before, "state:sto") == ["state:stopped"]
    assert values(*before, "state:stopped,pa") == ["state:stopped,paused"]
    assert "state:stopped,stopped" not in values(*before, "state:stopped,")
    assert values(*before, "actor:") == []
    assert values(*before, "nobody:") == []
    assert values(*before, "actor:T no") == ["actor:T node:", "actor:T not"]
    assert values(*before, "actor:T (state:pau") == ["actor:T (state:paused"]


def test_each_fixed_value_is_one_of_the_language() -> None:
    for qualifier, fixed in FIXED_VALUES.items():
        for value in fixed:
            parse(f"{qualifier}:{value}", {})


def test_files_are_left_to_the_shell() -> None:
    for words in (
        ("run", "tr"),
        ("run", "train.py", "da"),
        ("report", "tr"),
        ("ps", "--token-file", "tr"),
        ("stacks", "--svg", "tr"),
        ("doctor", "--break", "tr"),
        ("serve", "--tls-cert", "tr"),
        ("debug", "train.py", "tr"),
    ):
        assert [(item.type, item.value) for item in items(*words)] == [("file", words[-1])], words


def test_debug_takes_a_set_or_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("train.py", "tasks.txt", "two words.py", "[x].py"):
        (tmp_path / name).touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").touch()
    assert values("debug", "t") == ["task:", "tests/", "train.py"]
    assert values("debug", "tests/") == ["tests/test_it.py"]
    assert values("debug", "~/tr") == ["~/train.py"]
    assert values("debug", "[") == []


def test_completion_sends_no_requests_and_imports_nothing_that_could() -> None:
    ended = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout.replace("'", '"')) == []


def test_the_script_of_a_shell() -> None:
    for shell in ("bash", "zsh", "fish"):
        ended = CliRunner().invoke(main, ["completion", shell])
        assert ended.exit_code == 0
        assert f"_RAYDAP_COMPLETE={shell}_complete" in ended.output
    unknown = CliRunner().invoke(main, ["completion", "tcsh"])
    assert unknown.exit_code == 2
    assert "'tcsh' is not one of" in unknown.output


def test_the_help_says_where_the_script_goes() -> None:
    context = click.Context(main)
    command = main.get_command(context, "completion")
    assert command is not None
    text = command.get_help(click.Context(command, info_name="completion", parent=context))
    for line in ('eval "$(raydap completion bash)"', 'eval "$(raydap completion zsh)"', "fish/completions/raydap.fish"):
        assert line in text
