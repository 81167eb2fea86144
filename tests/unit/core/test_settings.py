from pathlib import Path
from typing import Any

import msgspec
import pytest

from raydap.core.arguments import decode
from raydap.core.editor_arguments import REFUSED
from raydap.core.settings import AttachSettings, HubSettings, LaunchSettings, PathMapping, complete, parse
from raydap.errors import Code, ProblemError


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
        "join": True,
        "sessions": "perWorker",
        "autoAttach": False,
        "redirectOutput": True,
        "showReturnValue": True,
        "subProcess": False,
        "reach": "paused",
        "breakOnSystemExitZero": False,
        "variablePresentation": {"special": "hide"},
    }
    settings = parse(AttachSettings, given)
    assert settings.path_mappings == (PathMapping("/home/me", "."),)
    assert {key: value for key, value in msgspec.to_builtins(settings).items() if key != "workers"} == {
        **given,
        "pathMappings": ({"localRoot": "/home/me", "remoteRoot": "."},),
    }
    assert parse(AttachSettings, {"workers": ["127.0.0.1:5678", "[::1]:1"]}).workers == ("127.0.0.1:5678", "[::1]:1")
    assert parse(AttachSettings, {"reach": "any"}).reach == "any"


def test_every_argument_of_launch() -> None:
    environment = {"A": "1", "B": None}
    given = {"module": "train", "args": ["-x"], "cwd": "/", "env": environment, "python": "py", "submit": True}
    given |= {"envFile": "a.env", "console": "externalTerminal"}
    wanted = LaunchSettings(module="train", args=("-x",), cwd="/", env=environment, python="py", submit=True)
    wanted = msgspec.structs.replace(wanted, env_file="a.env", console="externalTerminal")
    assert parse(LaunchSettings, given) == wanted


DOCS = Path(__file__).parents[3] / "docs"

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
    (AttachSettings, "join", "yes"),
    (AttachSettings, "autoAttach", "no"),
    (AttachSettings, "redirectOutput", "yes"),
    (AttachSettings, "showReturnValue", 1),
    (AttachSettings, "subProcess", "no"),
    (AttachSettings, "reach", "everywhere"),
    (AttachSettings, "breakOnSystemExitZero", []),
    (AttachSettings, "variablePresentation", "group"),
    (AttachSettings, "maxWorkers", 0),
    (AttachSettings, "maxWorkers", -1),
    (AttachSettings, "maxWorkers", 1.5),
    (AttachSettings, "maxWorkers", "2"),
    (LaunchSettings, "program", ["a.py"]),
    (LaunchSettings, "module", 1),
    (LaunchSettings, "args", "a 'b"),
    (LaunchSettings, "args", [1]),
    (LaunchSettings, "cwd", []),
    (LaunchSettings, "env", ["A=1"]),
    (LaunchSettings, "env", {"A": True}),
    (LaunchSettings, "env", {"A": ["1"]}),
    (LaunchSettings, "envFile", 1),
    (LaunchSettings, "python", []),
    (LaunchSettings, "python", [1]),
    (LaunchSettings, "python", {}),
    (LaunchSettings, "pythonArgs", "-X dev"),
    (LaunchSettings, "console", "terminal"),
    (LaunchSettings, "submit", "yes"),
    (LaunchSettings, "stopOnEntry", "yes"),
]


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_an_argument_of_a_wrong_kind_is_named(kind: type[AttachSettings], name: str, value: Any) -> None:
    needed = {"program": "a.py"} if kind is LaunchSettings and name != "module" else {}
    code, text = refusal(kind, {**needed, name: value})
    assert code is Code.BAD_ARGUMENT
    assert text.startswith(f'The argument "{name}')
    assert text.endswith(".")


@pytest.mark.parametrize("name", REFUSED)
def test_what_debugpy_knows_and_raydap_cannot_do_is_refused_by_name(name: str) -> None:
    code, text = refusal(AttachSettings, {name: True})
    assert code is Code.BAD_ARGUMENT
    assert text.startswith(f'The argument "{name}" is not supported: ')
    assert parse(AttachSettings, {name: False}) == AttachSettings()  # Editors fill in empty values.
    assert f"`{name}`" in (DOCS / "usage" / "arguments.md").read_text(encoding="utf-8")


def test_debugpys_own_options_are_passed_on_if_they_are_given() -> None:
    options = {"redirectOutput": True, "showReturnValue": False, "variablePresentation": {"special": "hide"}}
    assert parse(AttachSettings, options).debugpy_options() == options
    assert AttachSettings().debugpy_options() == {}


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
    [
        *(("maxworkers", "maxWorkers"), ("max_workers", "maxWorkers"), ("just-my-code", "justMyCode"), ("Job", "job")),
        *(("dashbord", "dashboard"), ("actr", "actor"), ("pathMapping", "pathMappings"), ("MaxWorker", "maxWorkers")),
    ],
)
def test_a_misspelt_argument_is_named_with_what_is_meant(name: str, meant: str) -> None:
    code, text = refusal(AttachSettings, {name: 1})
    assert code is Code.UNKNOWN_ARGUMENT
    assert f'"{name}"' in text
    assert f'did you mean "{meant}"?' in text


def test_an_unknown_argument_is_named() -> None:
    code, text = refusal(AttachSettings, {"colour": "red"})
    assert code is Code.UNKNOWN_ARGUMENT
    assert '"colour"' in text
    assert "did you mean" not in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sessions": "both"}, 'The argument "sessions" must be "merged" or "perWorker", not "both".'),
        ({"maxWorkers": "many"}, 'The argument "maxWorkers" must be a whole number, not "many".'),
        ({"justMyCode": "no"}, 'The argument "justMyCode" must be true or false, not "no".'),
        ({"job": 1}, 'The argument "job" must be a string, not 1.'),
        ({"workers": "h:1"}, 'The argument "workers" must be an array of strings, not "h:1".'),
        ({"workers": [{"host": "h" * 40}]}, 'The argument "workers[0]" must be a string.'),
        ({"pathMappings": {}}, 'The argument "pathMappings" must be an array of objects.'),
        ({"pathMappings": [{"localRoot": "/"}]}, 'The argument "pathMappings[0].remoteRoot" is missing.'),
        (
            {"pathMappings": [{"localRoot": "/", "remoteRoot": "/", "root": "/"}]},
            'The argument "pathMappings[0]" has an unknown field "root".',
        ),
        ({"variablePresentation": {"special": 1}}, 'The argument "variablePresentation[...]" must be a string.'),
    ],
)
def test_a_mistake_is_described_in_terms_of_json(arguments: dict[str, Any], text: str) -> None:
    assert refusal(AttachSettings, arguments) == (Code.BAD_ARGUMENT, text)


def test_the_answer_to_an_unknown_argument_lists_all_known_ones() -> None:
    """An installed raydap has no manual beside it, so the message refers to no page."""
    _, text = refusal(AttachSettings, {"colour": "red"})
    listed = text.partition("known arguments: ")[2].removesuffix(".").split(", ")
    assert listed == [field.encode_name for field in msgspec.structs.fields(AttachSettings)]


def test_a_request_without_arguments_says_so() -> None:
    class Nothing(msgspec.Struct):
        pass

    with pytest.raises(ProblemError, match=r'^Unknown argument "threads"; known arguments: none\. \[raydap 1005\]$'):
        decode(Nothing, {"threads": []})


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
    hub = HubSettings(AttachSettings(dashboard="http://head:8265", task="step"))
    assert complete(hub, AttachSettings(node="10.*")) == AttachSettings(
        dashboard="http://head:8265", task="step", node="10.*"
    )
    assert complete(hub, LaunchSettings(program="a.py")).dashboard == "http://head:8265"
    assert complete(hub, AttachSettings(task="step")).task == "step"
    with pytest.raises(ProblemError) as refused:
        complete(hub, AttachSettings(task="other"))
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
