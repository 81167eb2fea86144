"""Keeps every message of a worker short enough for its debugger; runs there.

debugpy's adapter reads no message of more than 16 MiB (messaging.py, MAX_BODY_SIZE). Its thread that reads ends at the
first one: no later answer gets through, and nobody can resume the worker any more. So longer messages are shortened
where all of them pass, at the writer's `add_command`. Output is not shortened but split.
"""

import json
from typing import Any

LIMIT = 8 * 1024 * 1024
"""The longest message in bytes of JSON."""

KEPT = 4 * LIMIT
"""Characters of the longest result that is kept."""

_OUTPUT = LIMIT // 16
"""Characters in a part of a long output. JSON has at most 12 bytes for one."""

_LENGTHS = (_OUTPUT, 65_536, 8_192, 1_024, 128)
"""The lengths in characters to which strings are cut, until the message is short enough."""


class MessageLimit:
    """The limit of one writer of pydevd, whose method is overridden.

    The newest result of an evaluate that was cut is kept, so that the core can fetch the whole: `raydapResult` in the
    answer's body is its number.
    """

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self.result = ""
        self.number = 0

    def override(self) -> None:
        self.writer.add_command = self._add_command

    def restore(self) -> None:
        vars(self.writer).pop("add_command", None)

    def part(self, number: int, start: int, count: int) -> str:
        """A part of the result that was cut; the last part ends it. Raises LookupError if another one was cut since."""
        if number != self.number:
            raise LookupError("another long result came since")
        text = self.result[start : start + count]
        if start + count >= len(self.result):
            self.result = ""
        return text

    def _add_command(self, command: Any) -> None:
        """Takes the place of pydevd's method, through which all messages go."""
        commands = [command]
        message = command.as_dict
        size = len(getattr(command, "_as_bytes", b""))
        if message is not None and size > LIMIT:
            if message.get("event") == "output":
                commands = [
                    type(command)(command.id, 0, {**message, "body": {**message["body"], "output": part}}, is_json=True)
                    for part in _lines(message["body"]["output"])
                ]
            else:
                command.as_dict = self._shorten(message, size)
                command._as_bytes = _encoded(command.as_dict)
        for each in commands:
            type(self.writer).add_command(self.writer, each)

    def _shorten(self, message: dict[str, Any], size: int) -> dict[str, Any]:
        for length in _LENGTHS:
            short: dict[str, Any] = _cut(message, length)
            if len(_encoded(short)) <= LIMIT:
                result = message.get("body", {}).get("result")
                if message.get("success") and isinstance(result, str) and length < len(result) <= KEPT:
                    self.result = result
                    self.number += 1
                    short["body"]["raydapResult"] = self.number
                return short
        # It has too many parts, not too long ones.
        why = "The answer is too long to be shown: " + str(size) + " bytes."
        return {**_cut({**message, "body": {}}, length), "success": False, "message": why}


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, default=str).encode()


def _cut(value: Any, length: int) -> Any:
    """A copy in which all longer strings are cut."""
    if isinstance(value, str) and len(value) > length:
        return value[:length] + "... (cut by raydap: " + str(len(value)) + " characters in all)"
    if isinstance(value, dict):
        return {name: _cut(item, length) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(item, length) for item in value]
    return value


def _lines(text: str) -> list[str]:
    """The parts of a long output. They end with a line if there is one that ends."""
    parts = []
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _OUTPUT) + 1 or start + _OUTPUT
        parts.append(text[start:end])
        start = end
    return parts
