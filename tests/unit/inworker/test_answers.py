"""A command that fails still answers its request. pydevd's debugger is a stand-in."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from raydap.inworker.answers import answer_commands
from raydap.inworker.time_limits import TimeLimits


class Debugger:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.writer = SimpleNamespace(add_command=self.sent.append)
        self.cmd_factory = SimpleNamespace()

    def post_method_as_internal_command(self, thread_id: str, method: Any, *args: Any, **kwargs: Any) -> None:
        method(self, *args, **kwargs)


@pytest.fixture(autouse=True)
def pydevd(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, dict[str, Any]] = {
        "_pydevd_bundle": {},
        "_pydevd_bundle.pydevd_comm_constants": {"CMD_RETURN": 502},
        "_pydevd_bundle.pydevd_net_command": {"NetCommand": lambda kind, seq, message, is_json: message},
    }
    for name, values in names.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit


REQUEST = SimpleNamespace(seq=7, command="evaluate", arguments=SimpleNamespace(frameId=3))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SystemExit(), "SystemExit (this does not end the worker)"),
        (SystemExit(3), "SystemExit: 3 (this does not end the worker)"),
        (GeneratorExit(), "GeneratorExit"),
        (ValueError("odd"), "ValueError: odd"),
    ],
)
def test_an_error_is_the_answer(error: BaseException, message: str) -> None:
    def fail(debugger: Any, request: Any, thread: str) -> None:
        raise error

    debugger = Debugger()
    answer_commands(debugger, TimeLimits(), wake=False)
    debugger.post_method_as_internal_command("1", fail, REQUEST, "1")
    assert debugger.sent == [
        {"type": "response", "request_seq": 7, "command": "evaluate", "success": False, "message": message}
    ]


def test_an_error_that_has_no_text_is_an_answer_too() -> None:
    def fail(debugger: Any, request: Any) -> None:
        raise Unprintable

    debugger = Debugger()
    answer_commands(debugger, TimeLimits(), wake=True)
    debugger.post_method_as_internal_command("1", fail, REQUEST)
    assert "Unprintable" in debugger.sent[0]["message"]


def test_a_command_without_a_request_fails_as_before() -> None:
    def fail(debugger: Any, number: int) -> None:
        raise SystemExit

    debugger = Debugger()
    answer_commands(debugger, TimeLimits(), wake=False)
    with pytest.raises(SystemExit):
        debugger.post_method_as_internal_command("1", fail, 7)
    assert debugger.sent == []
