"""The size limit of the messages that a worker sends; runs in the worker.

debugpy's adapter reads no message of more than 16 MiB (messaging.py, MAX_BODY_SIZE). The first longer one ends the
adapter's reader thread: no later answer reaches the client, and no client can resume the worker. All messages pass the
writer's `add_command`, so that method is overridden: it shortens messages that are too long. Output is not shortened
but split.

The design is in docs/design/message-limit.md.
"""

import json
from typing import Any

from .replaced_functions import install

LIMIT = 8 * 1024 * 1024
"""The longest message in bytes of JSON."""

KEPT = 4 * LIMIT
"""The longest result of an evaluate that is kept whole, in characters."""

_OUTPUT = LIMIT // 16
"""Characters in one part of a long output. JSON has at most 12 bytes for a character."""

_LENGTHS = (_OUTPUT, 65_536, 8_192, 1_024, 128)
"""The lengths in characters to which strings are cut, tried in this order until the message is short enough."""


class MessageLimit:
    """The size limit for the messages of one debugger object of pydevd, whose writer's `add_command` is overridden.

    The newest result of an evaluate that was cut is kept, so that the core can fetch the whole text. The response's
    body then has the number of that result as `raydapResult`.
    """

    def __init__(self, debugger: Any) -> None:
        self.debugger = debugger
        self.result = ""
        """The newest result that was cut; "" if none is kept."""
        self.number = 0
        """The number of results that were cut so far, by which the newest is requested."""

    def override(self) -> None:
        """Replace the writer's `add_command`."""
        install("debugger:writer.add_command", self._add_command, self.debugger)

    def part(self, number: int, start: int, count: int) -> str:
        """Return `count` characters of the kept result from `start` on.

        Reading the last part discards the result. Raises LookupError if another result was cut since.
        """
        if number != self.number:
            raise LookupError("another long result has replaced it")
        text = self.result[start : start + count]
        if start + count >= len(self.result):
            self.result = ""
        return text

    def _add_command(self, cmd: Any) -> None:
        """Send a message, shortened or split if it is too long; overrides pydevd's `add_command`."""
        writer, command, commands = self.debugger.writer, cmd, [cmd]
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
            type(writer).add_command(writer, each)

    def _shorten(self, message: dict[str, Any], size: int) -> dict[str, Any]:
        """Return a copy of the message that is short enough, with its long strings cut.

        If the result of an evaluate is cut, keep the whole one. If cutting strings does not suffice, return a failed
        response. `size` is the length of the message in bytes.
        """
        for length in _LENGTHS:
            short: dict[str, Any] = _cut(message, length)
            if len(_encoded(short)) <= LIMIT:
                result = message.get("body", {}).get("result")
                if message.get("success") and isinstance(result, str) and length < len(result) <= KEPT:
                    self.result = result
                    self.number += 1
                    short["body"]["raydapResult"] = self.number
                return short
        # Its strings are short, but there are too many of them.
        why = "The response is too long to show: " + str(size) + " bytes."
        return {**_cut({**message, "body": {}}, length), "success": False, "message": why}


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps(message, default=str).encode()


def _cut(value: Any, length: int) -> Any:
    """Return a copy in which all strings longer than `length` characters are cut."""
    if isinstance(value, str) and len(value) > length:
        return value[:length] + "... (cut by raydap: " + str(len(value)) + " characters in all)"
    if isinstance(value, dict):
        return {name: _cut(item, length) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(item, length) for item in value]
    return value


def _lines(text: str) -> list[str]:
    """Split a long output into parts that end at a line break where possible."""
    parts = []
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _OUTPUT) + 1 or start + _OUTPUT
        parts.append(text[start:end])
        start = end
    return parts
