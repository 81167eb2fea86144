from typing import Any, Literal, get_type_hints

import pytest

from raydap.protocol import generate, messages

OBJECTS = generate.parse(generate.load()).objects


@pytest.mark.parametrize("name", OBJECTS)
def test_a_type_has_the_keys_of_its_schema(name: str) -> None:
    this: generate.ObjectType | None = OBJECTS[name]
    keys: set[str] = set()
    required: set[str] = set()
    while this is not None:
        keys |= set(this.properties)
        required |= this.required
        this = OBJECTS[this.base] if this.base else None
    written = getattr(messages, name)
    # Resolving the hints also shows that every type that is mentioned exists.
    assert set(get_type_hints(written)) == keys
    assert written.__required_keys__ == required


def test_properties_have_python_types() -> None:
    frame = get_type_hints(messages.StackFrame)
    assert (frame["id"], frame["name"], frame["canRestart"]) == (int, str, bool)
    assert frame["source"] is messages.Source
    assert frame["moduleId"] == int | str
    assert frame["presentationHint"] == Literal["normal", "label", "subtle"]
    assert get_type_hints(messages.StackTraceResponseBody)["stackFrames"] == list[messages.StackFrame]
    assert get_type_hints(messages.RunInTerminalRequestArguments)["env"] == dict[str, str | None]
    assert get_type_hints(messages.Source)["adapterData"] is Any


def test_reasons_that_dap_leaves_open_are_plain_strings() -> None:
    assert get_type_hints(messages.StoppedEventBody)["reason"] is str
