from typing import Any

import msgspec
import pytest

from raydap.core.errors import Code, ProblemError
from raydap.core.settings import AttachSettings, Hosting, LaunchSettings, PathMapping, parse, under


def refusal(kind: type[AttachSettings], arguments: Any) -> tuple[Code, str]:
    with pytest.raises(ProblemError) as refused:
        parse(kind, arguments)
    return refused.value.problem.code, refused.value.problem.text


def test_everything_can_be_left_out_of_attach() -> None:
    assert parse(AttachSettings, None) == parse(AttachSettings, {}) == AttachSettings()
    assert parse(AttachSettings, {"job": None, "maxWorkers": None}) == AttachSettings()


def test_every_argument_of_attach() -> None:
    given = {
        "dashboard": "http://127.0.0.1:8265",
        "job": "01*",
        "actor": "Trainer",
        "task": "step",
        "node": "10.*",
        "justMyCode": False,
        "pathMappings": [{"localRoot": "/home/me", "remoteRoot": "."}],
        "tuneWorkers": False,
        "workspaceFolder": "/home/me",
        "maxWorkers": 3,
        "role": "observer",
        "sessions": "perWorker",
        "autoAttach": False,
    }
    settings = parse(AttachSettings, given)
    assert settings.path_mappings == (PathMapping("/home/me", "."),)
    assert {key: value for key, value in msgspec.to_builtins(settings).items() if key != "workers"} == {
        **given,
        "pathMappings": ({"localRoot": "/home/me", "remoteRoot": "."},),
    }
    assert parse(AttachSettings, {"workers": ["127.0.0.1:5678", "[::1]:1"]}).workers == ("127.0.0.1:5678", "[::1]:1")


def test_every_argument_of_launch() -> None:
    environment = {"A": "1", "B": None}
    given = {"module": "train", "args": ["-x"], "cwd": "/", "env": environment, "python": "py", "submit": True}
    wanted = LaunchSettings(module="train", args=("-x",), cwd="/", env=environment, python="py", submit=True)
    assert parse(LaunchSettings, given) == wanted


WRONG: list[tuple[type[AttachSettings], str, Any]] = [
    (AttachSettings, "dashboard", 8265),
    (AttachSettings, "workers", "127.0.0.1:5678"),
    (AttachSettings, "workers", []),
    (AttachSettings, "workers", ["5678"]),
    (AttachSettings, "workers", [":5678"]),
    (AttachSettings, "workers", ["host:0"]),
    (AttachSettings, "workers", ["host:65536"]),
    (AttachSettings, "workers", ["host:http"]),
    (AttachSettings, "workers", [5678]),
    (AttachSettings, "job", 1),
    (AttachSettings, "actor", ["A"]),
    (AttachSettings, "task", {}),
    (AttachSettings, "node", True),
    (AttachSettings, "justMyCode", "false"),
    (AttachSettings, "pathMappings", {"localRoot": "/", "remoteRoot": "/"}),
    (AttachSettings, "pathMappings", [{"localRoot": "/"}]),
    (AttachSettings, "pathMappings", [{"localRoot": "/", "remoteRoot": "/", "root": "/"}]),
    (AttachSettings, "tuneWorkers", 1),
    (AttachSettings, "workspaceFolder", 7),
    (AttachSettings, "sessions", "perThread"),
    (AttachSettings, "role", "spectator"),
    (AttachSettings, "autoAttach", "no"),
    (AttachSettings, "maxWorkers", 0),
    (AttachSettings, "maxWorkers", -1),
    (AttachSettings, "maxWorkers", 1.5),
    (AttachSettings, "maxWorkers", "2"),
    (LaunchSettings, "program", ["a.py"]),
    (LaunchSettings, "module", 1),
    (LaunchSettings, "args", "a b"),
    (LaunchSettings, "args", [1]),
    (LaunchSettings, "cwd", []),
    (LaunchSettings, "env", ["A=1"]),
    (LaunchSettings, "env", {"A": 1}),
    (LaunchSettings, "python", ["python"]),
    (LaunchSettings, "submit", "yes"),
]


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_an_argument_of_a_wrong_kind_is_named(kind: type[AttachSettings], name: str, value: Any) -> None:
    needed = {"program": "a.py"} if kind is LaunchSettings and name != "module" else {}
    code, text = refusal(kind, {**needed, name: value})
    assert code is Code.BAD_ARGUMENT
    assert text.startswith(f'The argument "{name}')
    assert text.endswith(".")


def test_every_argument_is_wrong_once_above() -> None:
    names = {field.encode_name for field in msgspec.structs.fields(LaunchSettings)}
    assert {name for _, name, _ in WRONG} == names


@pytest.mark.parametrize("arguments", [{}, {"program": "a.py", "module": "a"}])
def test_exactly_one_program_is_launched(arguments: dict[str, Any]) -> None:
    code, text = refusal(LaunchSettings, arguments)
    assert code is Code.BAD_ARGUMENT
    assert "exactly one" in text


def test_targets_and_a_dashboard_exclude_each_other() -> None:
    code, text = refusal(AttachSettings, {"workers": ["h:1"], "dashboard": "http://h"})
    assert code is Code.BAD_ARGUMENT
    assert '"workers"' in text
    assert "dashboard" in text


@pytest.mark.parametrize(
    ("name", "meant"),
    [("maxworkers", "maxWorkers"), ("max_workers", "maxWorkers"), ("just-my-code", "justMyCode"), ("Job", "job")],
)
def test_a_misspelt_argument_is_named_with_what_is_meant(name: str, meant: str) -> None:
    code, text = refusal(AttachSettings, {name: 1})
    assert code is Code.UNKNOWN_ARGUMENT
    assert f'"{name}"' in text
    assert f'did you mean "{meant}"?' in text


def test_an_argument_nobody_knows_is_named() -> None:
    code, text = refusal(AttachSettings, {"program": "a.py"})
    assert code is Code.UNKNOWN_ARGUMENT
    assert '"program"' in text
    assert "did you mean" not in text


def test_what_editors_add_is_dropped() -> None:
    editors = {
        "name": "Ray",
        "type": "raydap",
        "request": "attach",
        "__sessionId": "1",
        "debugServer": 4711,
        "noDebug": 0,
    }
    assert parse(AttachSettings, {**editors, "job": "01"}) == AttachSettings(job="01")


@pytest.mark.parametrize("arguments", [[], "x", 7, True, 1.5])
def test_arguments_that_are_no_object(arguments: Any) -> None:
    code, text = refusal(AttachSettings, arguments)
    assert code is Code.BAD_ARGUMENT
    assert "must be an object" in text


def test_what_a_hub_was_started_with_completes_what_a_client_says() -> None:
    hub = Hosting(AttachSettings(dashboard="http://head:8265", task="step"))
    assert under(hub, AttachSettings(node="10.*")) == AttachSettings(
        dashboard="http://head:8265", task="step", node="10.*"
    )
    assert under(hub, LaunchSettings(program="a.py")).dashboard == "http://head:8265"
    assert under(hub, AttachSettings(task="step")).task == "step"
    with pytest.raises(ProblemError) as refused:
        under(hub, AttachSettings(task="other"))
    assert refused.value.problem.code is Code.OTHER_SESSION
    assert '"task"' in refused.value.problem.text


@pytest.mark.parametrize(
    "arguments",
    [
        {"sessions": "per\udc80Worker"},
        {"pathMappings": [{"localRoot": "/a", "remoteRoot": "/b", "\udc80": 1}]},
        {"workers": ["a:" + "9" * 4400]},
        {"workers": ["a:\u0661"]},
    ],
    ids=["choice", "name", "long port", "foreign digits"],
)
def test_arguments_that_are_hard_to_convert_are_refused(arguments: Any) -> None:
    code, _ = refusal(AttachSettings, arguments)
    assert code is Code.BAD_ARGUMENT
