"""Arguments of other Python debuggers, and keys that editors add, in attach and launch."""

from typing import Any

import pytest

from raydap.core.settings import AttachSettings, LaunchSettings, parse
from raydap.errors import Code, ProblemError


def refusal(kind: type[AttachSettings], arguments: Any) -> str:
    with pytest.raises(ProblemError) as refused:
        parse(kind, arguments)
    assert refused.value.problem.code is Code.BAD_ARGUMENT
    return refused.value.problem.text


@pytest.mark.parametrize(
    "added",
    [
        {"cwd": "/work", "subProcess": True, "request": "attach"},  # Zed
        {"python": "/usr/bin/python3", "envFile": "/work/.env", "console": "integratedTerminal"},  # VS Code
        {"args": [], "env": {}, "program": "", "module": False, "submit": False},
        {"pathMappings": False, "workers": False, "job": False, "connect": False},  # dape has no other "not set"
        {"clientOS": "windows", "consoleTitle": "train", "consoleName": "train"},
    ],
)
def test_what_editors_add_to_attach_changes_nothing(added: dict[str, Any]) -> None:
    assert parse(AttachSettings, added) == AttachSettings()


@pytest.mark.parametrize(
    ("connect", "target"),
    [
        ({"host": "10.0.0.7", "port": 5678}, "10.0.0.7:5678"),
        ({"port": 5678}, "127.0.0.1:5678"),
        ({"host": "localhost", "port": "5678"}, "localhost:5678"),
        ({"host": "::1", "port": 5678}, "[::1]:5678"),
        ({"host": "[::1]", "port": 5678}, "[::1]:5678"),
    ],
)
def test_connect_names_a_worker(connect: dict[str, Any], target: str) -> None:
    assert parse(AttachSettings, {"connect": connect}).workers == (target,)


@pytest.mark.parametrize("connect", [5678, {"host": "h"}, {"host": 7, "port": 1}, {"port": 1.5}, {"port": True}])
def test_connect_without_a_port_is_refused(connect: Any) -> None:
    assert refusal(AttachSettings, {"connect": connect}).startswith('The argument "connect" must be an object')


@pytest.mark.parametrize("other", [{"workers": ["h:1"]}, {"dashboard": "auto"}])
def test_connect_is_not_combined_with_other_addresses(other: dict[str, Any]) -> None:
    assert "leave one of them out" in refusal(AttachSettings, {"connect": {"port": 1}, **other})


@pytest.mark.parametrize(
    "given", [{"program": "a.py"}, {"module": "a"}, {"args": ["-x"]}, {"env": {"A": "1"}}, {"submit": True}]
)
def test_attach_refuses_what_starts_a_program(given: dict[str, Any]) -> None:
    (name,) = given
    text = refusal(AttachSettings, given)
    assert text.startswith(f'The argument "{name}" is for launch')
    assert '"request": "launch"' in text


def test_what_editors_add_to_launch_changes_nothing() -> None:
    added = {"consoleTitle": "train", "console": "internalConsole", "clientOS": "windows", "stopOnEntry": False}
    assert parse(LaunchSettings, {"program": "a.py", "mode": "debug", **added}) == LaunchSettings(program="a.py")


def test_another_mode_may_be_a_misspelt_filter() -> None:
    with pytest.raises(ProblemError, match="did you mean"):
        parse(AttachSettings, {"mode": "10.*"})


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("connect", {"port": 1}, "use `attach`"),
        ("code", "import ray", "write the code into a file"),
    ],
)
def test_what_launch_refuses_names_another_way(name: str, value: Any, advice: str) -> None:
    text = refusal(LaunchSettings, {"program": "a.py", name: value})
    assert text.startswith(f'The argument "{name}" is not supported: ')
    assert advice in text


def test_a_list_as_python_is_the_interpreter_and_its_options() -> None:
    wanted = LaunchSettings(program="a.py", python="py", python_args=("-X", "dev"))
    assert parse(LaunchSettings, {"program": "a.py", "python": ["py", "-X", "dev"]}) == wanted
    assert parse(LaunchSettings, {"program": "a.py", "python": ["py", "-X"], "pythonArgs": ["dev"]}) == wanted
    text = refusal(LaunchSettings, {"program": "a.py", "python": ["py", "-X", "dev"], "submit": True})
    assert text.startswith('The argument "pythonArgs"')


def test_a_string_of_arguments_is_split_like_a_line_of_a_shell() -> None:
    settings = parse(LaunchSettings, {"program": "a.py", "args": r"--name 'two words' a\ b $HOME"})
    assert settings.args == ("--name", "two words", "a b", "$HOME")
    assert parse(LaunchSettings, {"program": "a.py", "args": ""}).args == ()
    text = refusal(LaunchSettings, {"program": "a.py", "args": "--name 'two"})
    assert text == 'The argument "args" has a quote without its end.'


def test_numbers_in_the_environment_become_text() -> None:
    settings = parse(LaunchSettings, {"program": "a.py", "env": {"RANK": 0, "RATE": 0.5, "A": "x", "B": None}})
    assert settings.env == {"RANK": "0", "RATE": "0.5", "A": "x", "B": None}


@pytest.mark.parametrize(("value", "end"), [(True, ", not true."), (False, ", not false."), (["1"], "."), ({}, ".")])
def test_a_wrong_variable_is_named(value: Any, end: str) -> None:
    text = refusal(LaunchSettings, {"program": "a.py", "env": {"A": "1", "RANK": value}})
    assert text == f'The argument "env.RANK" must be a string, a number or null{end}'
