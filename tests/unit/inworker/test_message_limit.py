"""Long messages are shortened and split. pydevd's writer and commands are stand-ins."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap.inworker import message_limit, replaced_functions
from raydap.inworker.message_limit import LIMIT, MessageLimit

ANSWER = {"type": "response", "request_seq": 7, "success": True, "command": "evaluate", "seq": 0}


class Command:
    """Stands in for pydevd's NetCommand."""

    def __init__(self, kind: int, seq: int, message: dict[str, Any], is_json: bool) -> None:
        assert is_json
        self.id = kind
        self.as_dict = message
        self._as_bytes = json.dumps(message).encode()


class Writer:
    def __init__(self) -> None:
        self.commands: list[Command] = []

    def add_command(self, command: Command) -> None:
        self.commands.append(command)


def sent(message: dict[str, Any]) -> tuple[MessageLimit, list[dict[str, Any]]]:
    """Send a message as pydevd does; return the limit and the messages that go out."""
    writer = Writer()
    limit = MessageLimit(SimpleNamespace(writer=writer))
    limit.override()
    writer.add_command(Command(1, 0, message, is_json=True))
    assert all(len(command._as_bytes) <= LIMIT for command in writer.commands)
    messages = [json.loads(command._as_bytes) for command in writer.commands]
    assert messages == [command.as_dict for command in writer.commands]
    return limit, messages


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", "\\", '"'])
def test_a_long_result_is_cut_and_the_whole_is_kept(character: str) -> None:
    result = character * LIMIT
    limit, (message,) = sent({**ANSWER, "body": {"result": result, "variablesReference": 3}})
    assert message["request_seq"] == 7
    assert message["body"]["variablesReference"] == 3
    assert message["body"]["result"].startswith(character * 100)
    assert message["body"]["result"].endswith(f"... (cut by raydap: {LIMIT} characters in all)")
    number = message["body"]["raydapResult"]
    assert limit.part(number, 3, 5) == character * 5
    assert limit.part(number, LIMIT - 5, 100) == character * 5
    assert limit.result == ""
    with pytest.raises(LookupError):
        limit.part(number - 1, 0, 100)


def test_what_is_much_too_long_is_not_kept() -> None:
    limit, (message,) = sent({**ANSWER, "body": {"result": "x" * (message_limit.KEPT + 1), "variablesReference": 0}})
    assert "raydapResult" not in message["body"]
    assert limit.result == ""


def test_many_strings_are_cut_until_all_fit() -> None:
    variables = [{"name": str(number), "value": "v" * 60_000, "variablesReference": number} for number in range(300)]
    _, (message,) = sent({**ANSWER, "command": "variables", "body": {"variables": variables}})
    shown = message["body"]["variables"]
    assert [each["variablesReference"] for each in shown] == list(range(300))
    assert {each["value"] for each in shown} == {"v" * 8_192 + "... (cut by raydap: 60000 characters in all)"}
    assert "raydapResult" not in message["body"]


def test_an_answer_with_too_many_parts_is_a_failure() -> None:
    # Names of keys are never cut. Long names fill the message with fewer parts than pydevd's own answers would need.
    frames = [{"id": number, "name": "work", "x" * 1000: 0} for number in range(LIMIT // 1000)]
    _, (message,) = sent({**ANSWER, "command": "stackTrace", "body": {"stackFrames": frames}})
    assert message["success"] is False
    assert (message["request_seq"], message["command"], message["body"]) == (7, "stackTrace", {})
    assert message["message"].startswith("The response is too long to show: ")


def test_a_failure_stays_one() -> None:
    limit, (message,) = sent({**ANSWER, "success": False, "message": "x" * LIMIT, "body": {"result": "x" * LIMIT}})
    assert message["success"] is False
    assert message["message"].endswith("characters in all)")
    assert limit.result == ""


@given(st.lists(st.sampled_from(["a\n", "line\n", "\n", "é" * 7, "end"]), min_size=1))
def test_output_is_split_and_nothing_is_lost(parts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_limit, "_OUTPUT", 8)
        split = message_limit._lines("".join(parts))
    assert "".join(split) == "".join(parts)
    assert all(0 < len(part) <= 8 for part in split)


def test_long_output_becomes_several_events() -> None:
    text = "a line\n" * (LIMIT // 4)
    event = {"type": "event", "event": "output", "seq": 2, "body": {"category": "stdout", "output": text}}
    _, messages = sent(event)
    assert len(messages) > 2
    assert {message["body"]["category"] for message in messages} == {"stdout"}
    assert all(message["body"]["output"].endswith("line\n") for message in messages)
    assert "".join(message["body"]["output"] for message in messages) == text


def test_other_messages_stay_as_they_are() -> None:
    message = {**ANSWER, "body": {"result": "x" * 100_000}}
    assert sent(message)[1] == [message]
    writer = Writer()
    limit = MessageLimit(SimpleNamespace(writer=writer))
    limit.override()
    command: Any = type("NullCommand", (), {"as_dict": None})()
    writer.add_command(command)
    replaced_functions.restore(limit.debugger, replaced_functions.DETACHING)
    assert writer.commands == [command]
    assert "add_command" not in vars(writer)
