"""The commands of `raydap`: one file each."""

from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from raydap.cli import main as main_module
from raydap.cli.main import COMMANDS, PLACES, main

HELPERS = {"__init__", "main", "cluster_command", "options", "signals", "terminal_command"}


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
