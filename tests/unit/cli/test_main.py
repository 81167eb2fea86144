"""The commands of `raydap`, each in a file of its own."""

import inspect
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from raydap.cli import main as main_module
from raydap.cli.main import COMMANDS, PLACES, main

HELPERS = {
    "__init__",
    "main",
    "cluster_command",
    "completing",
    "options",
    "shell_scripts",
    "signals",
    "standard_streams",
    "system_limits",
    "terminal_command",
}


def place(name: str) -> tuple[str, str]:
    return PLACES.get(name, (name, name))


def test_each_file_is_a_registered_command() -> None:
    files = {path.stem for path in Path(str(main_module.__file__)).parent.glob("*.py")}
    assert files - HELPERS == {place(name)[0] for name in COMMANDS}
    assert list(COMMANDS) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_its_own_help(name: str) -> None:
    ended = CliRunner().invoke(main, [name, "--help"])
    assert ended.exit_code == 0
    file, function = place(name)
    command = getattr(import_module(f"raydap.cli.{file}"), function)
    assert isinstance(command, click.Command)
    assert str(command.help).splitlines()[0].split(",")[0] in " ".join(ended.output.split())


def test_the_list_of_commands_and_an_unknown_one() -> None:
    listed = CliRunner().invoke(main, ["--help"])
    assert all(f"  {name}  " in listed.output for name in COMMANDS)
    unknown = CliRunner().invoke(main, ["no-such"])
    assert unknown.exit_code == 2
    assert "No such command" in unknown.output


def examples(command: click.Command) -> Iterator[str]:
    """Yield the lines of a command's help that are below `Examples:`."""
    text = inspect.cleandoc(str(command.help))
    for line in text.partition("\b\nExamples:\n")[2].splitlines():
        if not line.strip():
            return
        yield line.strip()


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_the_examples_in_the_help_of_a_command_can_be_pasted(
    name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples are parsed, but not run."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("pass\n" * 50)
    group = click.Context(main, info_name="raydap")
    command = main if name is None else main.get_command(group, name)
    assert command is not None
    lines = list(examples(command))
    assert len(lines) >= 2, "the help has no examples"
    shown = CliRunner().invoke(main, ["--help"] if name is None else [name, "--help"]).output
    for line in lines:
        assert f"    {line}\n" in shown
        program, *words = shlex.split(line)
        assert program == "raydap"
        assert name is None or words[0] == name
        if not words:
            continue
        meant = main.get_command(group, words[0])
        assert meant is not None, line
        if words[-1] == "--help":
            words.pop()
        meant.make_context(words[0], words[1:], parent=group)


@pytest.mark.parametrize("arguments", [["trian.py"], ["trian.py", "--lr", "0.1"]])
def test_a_mistyped_program_is_no_set(arguments: list[str]) -> None:
    ended = CliRunner().invoke(main, ["debug", *arguments])
    assert ended.exit_code == 2
    assert 'There is no file "trian.py".' in ended.output


def test_a_list_for_programs_is_not_watched() -> None:
    ended = CliRunner().invoke(main, ["ps", "--watch", "--json"])
    assert (ended.exit_code, "cannot be combined" in ended.output) == (2, True)
