"""Validation of the bridge's messages against the DAP schema that ships with debugpy.

`validate(message)` takes one decoded message as a client receives it, for example an entry of `Client.received` of
docs/examples/dap_client.py, and raises AssertionError with the message and what is wrong with it.
"""

import json
from functools import cache, lru_cache
from typing import Any

import jsonschema
import msgspec

from raydap.protocol.raydap_messages import EVENTS, REQUESTS
from support import generate_messages

DEFINITIONS = generate_messages.load()

LAST_ID = 2**31 - 1
"""The largest DAP id: 32 bits (spec: Variable.variablesReference). The JSON schema does not contain this limit."""


def validate(message: dict[str, Any], command: str | None = None) -> None:
    """Raise AssertionError unless the message conforms to the schema.

    `command` is the command of the request that a response answers.
    """
    name = definition(message)
    if command is not None:
        assert message.get("command") == command, f"the answer to {command} says {message.get('command')!r}"
    # The cache ignores sequence numbers: they differ between equal messages, and any integer is valid.
    numbers = {key: 0 for key in ("seq", "request_seq") if type(message.get(key)) is int}
    complaints = _complaints(name, json.dumps({**message, **numbers}))
    assert not complaints, f"{message} is no {name}:\n" + "\n".join(complaints)


@lru_cache(maxsize=1000)
def _complaints(name: str, text: str) -> list[str]:
    """Return what is wrong with a message, given as JSON.

    The results are cached: validation is slow, and most tests send the same messages.
    """
    message = json.loads(text)
    errors = sorted(_validator(name).iter_errors(message), key=lambda error: list(map(str, error.absolute_path)))
    complaints = [f"{error.json_path}: {error.message}" for error in errors]
    complaints += _wrong_own_body(message)
    return complaints + [
        f"{path}: {value} is beyond 32 bits" for path, value in _too_large(message.get("body"), "$.body")
    ]


def _wrong_own_body(message: dict[str, Any]) -> list[str]:
    """Return what is wrong with the body of raydap's own responses and events, according to their declared types."""
    name = str(message.get("event") or message.get("command"))
    if message.get("success") is False or name not in {*REQUESTS, *EVENTS}:
        return []
    kind = EVENTS[name] if name in EVENTS else REQUESTS[name][1]
    body = message.get("body")
    if kind is None:
        return [] if body is None else ["$.body: there should be none"]
    try:
        declared = msgspec.json.decode(msgspec.json.encode(msgspec.convert(body, kind)))
    except msgspec.ValidationError as error:
        return [f"$.body: {error}"]
    return [] if declared == body else [f"$.body: has fields that {kind.__name__} does not declare"]


def definition(message: dict[str, Any]) -> str:
    """Return the name of the schema's definition for a message to a client. Raises AssertionError if there is none."""
    kind = message.get("type")
    if (
        str(message.get("event") or message.get("command")).startswith("raydap/")
        and message.get("success") is not False
    ):
        # The schema has no definitions of raydap's own messages (docs/requests.md), only the general ones.
        return {"event": "Event", "response": "Response"}[str(kind)]
    if kind == "event":
        name = _capital(message.get("event")) + "Event"
    elif kind == "request":
        name = _capital(message.get("command")) + "Request"
    elif message.get("success") is False:
        return "ErrorResponse"
    else:
        name = _capital(message.get("command")) + "Response"
    assert name in DEFINITIONS, f"{message} is unknown to the schema"
    return name


def _capital(word: object) -> str:
    assert isinstance(word, str), f"{word!r} is no name"
    return word[:1].upper() + word[1:]


@cache
def _validator(name: str) -> jsonschema.Draft7Validator:
    # Each definition is an allOf of its base and its own part, so unknown fields are allowed, as in the spec.
    return jsonschema.Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": DEFINITIONS})


def _too_large(value: Any, path: str) -> list[tuple[str, int]]:
    """Return the ids above LAST_ID, with their paths. Other numbers, such as a module's size, have no limit."""
    if isinstance(value, list):
        return [found for place, item in enumerate(value) for found in _too_large(item, f"{path}[{place}]")]
    if not isinstance(value, dict):
        return []
    found = []
    for key, item in value.items():
        if type(item) is int and generate_messages.LOOKS_LIKE_ID.search(key) and not 0 <= item <= LAST_ID:
            found.append((f"{path}.{key}", item))
        found += _too_large(item, f"{path}.{key}")
    return found
