"""`raydap skill`: instructions for coding agents that name only what exists."""

import re
import shlex
from importlib import resources
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from raydap.cli.main import COMMANDS, main

TEXT = resources.files("raydap.cli").joinpath("skill.md").read_text(encoding="utf-8")
TAUGHT = ("ps", "stacks", "hang", "eval", "compare", "doctor", "report", "debug")


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None, name
    return found


def options(name: str) -> set[str]:
    return {each for parameter in command(name).params for each in parameter.opts if each.startswith("-")}


def invocations() -> list[list[str]]:
    """Return the words of each command line of raydap in the text."""
    spans = re.findall(r"`(raydap [^`\n]+)`", TEXT) + re.findall(r"^\s*\$ .*?(raydap .+)$", TEXT, re.MULTILINE)
    return [shlex.split(each.partition(" < ")[0])[1:] for each in spans]


def test_it_is_short_and_prints_as_it_is() -> None:
    assert len(TEXT.encode()) <= 5 * 1024
    ended = CliRunner().invoke(main, ["skill"])
    assert (ended.exit_code, ended.output) == (0, TEXT)


def test_its_front_matter_has_a_name_and_a_description() -> None:
    front = re.match(r"---\nname: ([a-z0-9-]{1,64})\ndescription: (.{1,1024})\n---\n\n# ", TEXT)
    assert front is not None
    assert front[1] == "raydap"
    # A colon followed by a space would need quotes in YAML.
    assert ": " not in front[2]


def test_it_teaches_these_commands() -> None:
    assert {words[0] for words in invocations()} >= set(TAUGHT)


@pytest.mark.parametrize("words", invocations(), ids=" ".join)
def test_each_command_line_is_accepted(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert words[0] in COMMANDS
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "PROGRAM.py"):
        Path(name).touch()
    words = ["train.py:42" if word == "FILE:LINE" else word for word in words]
    found = command(words[0])
    # Parsing raises UsageError for unknown options, and for too many arguments.
    with click.Context(found, info_name=words[0]) as context:
        found.parse_args(context, words[1:])


def test_each_option_that_it_names_is_one_of_the_command() -> None:
    for name, option in re.findall(r"`(\w+) (--?[a-z-]+)`", TEXT):
        assert option in options(name), f"{name} {option}"
    taught = set().union(*map(options, TAUGHT))
    assert set(re.findall(r"`(--?[a-z-]+)[` ]", TEXT)) <= taught
