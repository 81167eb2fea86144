import copy
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from raydap.core.translate.rewrite import Id, rewrite
from raydap.protocol.id_fields import RULES, Kind
from support import generate_messages

DEFINITIONS = generate_messages.parse(generate_messages.load()).objects


def plus_1000(kind: Kind, old: Id) -> Id:
    return old + 1000 if isinstance(old, int) else "worker/" + old


def never(kind: Kind, old: Id) -> Id:
    raise AssertionError(f"{old!r} is no {kind.value} id")


def test_a_stack_trace_answer() -> None:
    body: Any = {
        "stackFrames": [
            {
                "id": 0,
                "name": "f",
                "line": 7,
                "column": 1,
                "moduleId": 3,
                "source": {"sourceReference": 2, "path": "/a"},
            },
            {"id": 9, "name": "g", "line": 8, "column": 1, "moduleId": "m", "source": {"sourceReference": 0}},
        ],
        "totalFrames": 2,
    }
    rewrite(body, "StackTraceResponseBody", plus_1000)
    assert body == {
        "stackFrames": [
            {
                "id": 1000,
                "name": "f",
                "line": 7,
                "column": 1,
                "moduleId": 1003,
                "source": {"sourceReference": 1002, "path": "/a"},
            },
            {"id": 1009, "name": "g", "line": 8, "column": 1, "moduleId": "worker/m", "source": {"sourceReference": 0}},
        ],
        "totalFrames": 2,
    }


def test_translate_gets_the_kind_and_is_called_outside_in() -> None:
    asked: list[tuple[Kind, Id]] = []
    body = {"source": {"sourceReference": 3, "sources": [{"sourceReference": 4}]}, "id": 1}

    def translate(kind: Kind, old: Id) -> Id:
        asked.append((kind, old))
        return old

    rewrite(body, "Breakpoint", translate)
    assert asked == [(Kind.BREAKPOINT, 1), (Kind.SOURCE, 3), (Kind.SOURCE, 4)]


@pytest.mark.parametrize("name", ["Variable", "Scope", "EvaluateResponseBody", "OutputEventBody"])
def test_zero_is_no_reference_to_variables(name: str) -> None:
    rewrite({"variablesReference": 0}, name, never)


def test_zero_is_no_reference_to_a_source() -> None:
    rewrite({"sourceReference": 0, "sources": [{"sourceReference": 0}]}, "Source", never)


def test_zero_is_a_thread_and_a_breakpoint() -> None:
    body = {"threadId": 0, "hitBreakpointIds": [0, 1]}
    rewrite(body, "StoppedEventBody", plus_1000)
    assert body == {"threadId": 1000, "hitBreakpointIds": [1000, 1001]}


@pytest.mark.parametrize("wrong", [None, True, False, 1.0, "1", [1], {"id": 1}])
def test_a_value_of_a_wrong_type_is_left_alone(wrong: Any) -> None:
    bodies = [
        ("ThreadEventBody", {"threadId": wrong}),
        ("StoppedEventBody", {"hitBreakpointIds": [wrong]}),
        ("ThreadsResponseBody", {"threads": [wrong if not isinstance(wrong, dict) else [wrong]]}),
        ("SourceArguments", {"source": wrong}),
        ("Source", wrong),
    ]
    before = copy.deepcopy(bodies)
    for name, body in bodies:
        rewrite(body, name, never)
    assert bodies == before


@pytest.mark.parametrize("wrong", [None, True, 7, "ab", {"threads": []}])
def test_what_should_be_a_list_and_is_none_is_left_alone(wrong: Any) -> None:
    body = {"threads": wrong, "hitBreakpointIds": wrong}
    before = copy.deepcopy(body)
    rewrite(body, "ThreadsResponseBody", never)
    rewrite(body, "StoppedEventBody", never)
    assert body == before


def test_an_unknown_type_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        rewrite({}, "NoSuchType", plus_1000)


def test_what_translate_raises_passes_through() -> None:
    with pytest.raises(AssertionError, match="5 is no thread id"):
        rewrite({"threadId": 5}, "ThreadEventBody", never)


def test_sources_nested_beyond_the_recursion_limit_are_all_rewritten() -> None:
    top: dict[str, Any] = {"sourceReference": 1}
    innermost = top
    for _ in range(20_000):
        innermost["sources"] = [{"sourceReference": 1}]
        innermost = innermost["sources"][0]
    rewrite(top, "Source", plus_1000)
    assert innermost == {"sourceReference": 1001}


# The names of all integers in the schema that are ids, independent of the generated table.
ID_NAMES = {
    "id",
    "threadId",
    "threadIds",
    "frameId",
    "stackFrameId",
    "variablesReference",
    "sourceReference",
    "hitBreakpointIds",
    "moduleId",
    "targetId",
}


def sample(schema: Any, numbers: Iterator[int], depth: int) -> Any:
    """Return a value with every property of the schema, and a distinct number for every integer."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return sample_of(name, numbers, depth - 1) if name in DEFINITIONS and depth else None
    kinds = schema.get("type")
    if kinds == "array":
        return [sample(schema["items"], numbers, depth), sample(schema["items"], numbers, depth)]
    return next(numbers) if kinds == "integer" or kinds == ["integer", "string"] else None


def sample_of(name: str, numbers: Iterator[int], depth: int = 4) -> dict[str, Any]:
    return {key: sample(schema, numbers, depth) for key, schema in DEFINITIONS[name].properties.items()}


def integers(value: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """Yield the name and the value of every integer property."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from integers(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from integers(inner, key)
    elif isinstance(value, int):
        yield key, value


@pytest.mark.parametrize("name", RULES)
def test_every_id_of_the_schema_is_rewritten_and_no_other_integer(name: str) -> None:
    body = sample_of(name, count(1))
    expected = [(key, -number if key in ID_NAMES else number) for key, number in integers(body)]
    assert any(number < 0 for _, number in expected)
    rewrite(body, name, lambda kind, old: -int(old))
    assert list(integers(body)) == expected


@pytest.mark.parametrize("name", sorted(set(DEFINITIONS) - set(RULES)))
def test_a_type_without_rules_holds_no_ids(name: str) -> None:
    # Message.id is the number of an error, and the only `id` that is no id.
    numbers = set(integers(sample_of(name, count(1)))) if name not in ("Message", "ErrorResponseBody") else set()
    assert not {key for key, _ in numbers} & ID_NAMES
