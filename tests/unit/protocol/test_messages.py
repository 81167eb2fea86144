from typing import Any, Literal, get_type_hints

import pytest

from raydap.protocol import messages
from support import generate_messages

OBJECTS = generate_messages.parse(generate_messages.load()).objects


@pytest.mark.parametrize("name", [*generate_messages.WRITTEN, "Source", "ExceptionBreakpointsFilter"])
def test_a_type_has_the_keys_of_its_schema(name: str) -> None:
    this: generate_messages.ObjectType | None = OBJECTS[name]
    keys: set[str] = set()
    required: set[str] = set()
    while this is not None:
        keys |= set(this.properties)
        required |= this.required
        this = OBJECTS[this.base] if this.base else None
    written = getattr(messages, name)
    # Resolving the hints also checks that every referenced type exists.
    assert set(get_type_hints(written)) == keys
    assert written.__required_keys__ == required


def test_properties_have_python_types() -> None:
    breakpoint = get_type_hints(messages.Breakpoint)
    assert (breakpoint["id"], breakpoint["message"], breakpoint["verified"]) == (int, str, bool)
    assert breakpoint["source"] is messages.Source
    assert (
        get_type_hints(messages.ProcessEventBody)["startMethod"]
        == Literal["launch", "attach", "attachForSuspendedLaunch"]
    )
    source = get_type_hints(messages.Source)
    assert source["sources"] == list[messages.Source]
    assert source["adapterData"] is Any


def test_types_that_the_bridge_does_not_make_are_left_out() -> None:
    assert not hasattr(messages, "StackTraceResponseBody")
