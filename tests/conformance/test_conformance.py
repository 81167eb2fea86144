"""The check against DAP's schema, applied by support.playbook to all messages of playbook, property, golden tests."""

from typing import Any

import pytest

from raydap.core.requests.capabilities import CAPABILITIES
from raydap.protocol.id_fields import COMMANDS, EVENT_NAMES
from support.conformance import definition, validate

STOPPED: dict[str, Any] = {"seq": 1, "type": "event", "event": "stopped", "body": {"reason": "step", "threadId": 1000}}


def test_good_messages_pass() -> None:
    validate(STOPPED)
    answer = {"seq": 2, "type": "response", "request_seq": 1, "success": True, "command": "initialize"}
    validate({**answer, "body": CAPABILITIES}, "initialize")
    error = {"error": {"id": 1002, "format": "No.", "showUser": True}}
    validate({**answer, "success": False, "command": "restart", "message": "No.", "body": error}, "restart")


@pytest.mark.parametrize(
    "message",
    [
        {**STOPPED, "body": {"threadId": 1000}},
        {**STOPPED, "body": {"reason": "step", "threadId": "1000"}},
        {**STOPPED, "body": {"reason": "step", "threadId": 2**31}},
        {**STOPPED, "event": "debugpySockets"},
        {**STOPPED, "seq": None},
        {"type": "event", "event": "stopped", "body": {"reason": "step"}},
        {"seq": 1, "type": "response", "request_seq": 1, "success": True, "command": "threads", "body": {"threads": 1}},
        {"seq": 1, "type": "response", "request_seq": 1, "success": False, "command": "threads"},
        {"seq": 1, "type": "response", "success": True, "command": "next"},
        {"seq": 1, "type": "letter"},
    ],
)
def test_bad_messages_do_not(message: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        validate(message)


def test_an_answer_to_another_request_does_not() -> None:
    answer = {"seq": 2, "type": "response", "request_seq": 1, "success": True, "command": "next"}
    validate(answer, "next")
    with pytest.raises(AssertionError, match="stepIn"):
        validate(answer, "stepIn")


def test_every_command_and_event_of_the_protocol_has_a_definition() -> None:
    for command in COMMANDS:
        definition({"type": "response", "success": True, "command": command})
    for event in EVENT_NAMES:
        definition({"type": "event", "event": event})
