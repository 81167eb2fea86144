"""docs/requests.md agrees with the types that are declared in raydap_messages.py."""

import re
from pathlib import Path
from typing import get_args

import pytest

from raydap.protocol.generate_typescript import fields
from raydap.protocol.message_base import Message
from raydap.protocol.raydap_messages import (
    EVENTS,
    REQUESTS,
    BreakpointList,
    KeptSet,
    OutputData,
    ProblemData,
    Server,
    SetBreakpoint,
    SteppedGroup,
    SteppedThreads,
    StoppedThread,
    WorkerEntry,
    WorkerState,
)
from raydap.protocol.stack_messages import (
    CodeLocation,
    MergedStacks,
    MissingMembers,
    Places,
    StackFrame,
    StackNode,
    StackVariable,
    ThreadStack,
    WorkerPlace,
    WorkerStack,
)
from raydap.protocol.value_messages import (
    ArraySummary,
    Change,
    Comparison,
    ComparisonGroup,
    Evaluation,
    EvaluationGroup,
    Evaluations,
    Histogram,
    Share,
    Statistics,
)
from raydap.protocol.wait_messages import CollectiveWait, Deadlock, WaitEdge, WaitGraph, WaitNode

PAGE = (Path(__file__).parents[3] / "docs" / "requests.md").read_text(encoding="utf-8")


def documented(name: str) -> dict[str, str]:
    """Return the fields of an interface on the page, without their comments."""
    found = re.search(rf"^interface {name} {{\n(.*?)^}}", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return dict(re.findall(r"^  (\w+\??): ([^;]+);", found[1], re.MULTILINE))


@pytest.mark.parametrize(
    "struct",
    [
        *(WorkerEntry, StoppedThread, WorkerStack, ThreadStack, StackFrame, StackVariable, Evaluation, Server),
        *(BreakpointList, SetBreakpoint, OutputData, ProblemData, KeptSet, Evaluations, EvaluationGroup, Statistics),
        *(MergedStacks, StackNode, MissingMembers, CodeLocation, Places, WorkerPlace),
        *(SteppedThreads, SteppedGroup),
        *(WaitGraph, WaitNode, WaitEdge, Deadlock, CollectiveWait),
        *(Comparison, ComparisonGroup, ArraySummary, Histogram, Share, Change),
    ],
)
def test_an_interface_has_the_fields_of_its_struct(struct: type[Message]) -> None:
    types = {name: type_.removeprefix("readonly ") for name, type_ in fields(struct).items()}
    assert documented(struct.__name__) == types


def test_the_states_are_all_named() -> None:
    (states,) = re.findall(r"^type WorkerState = (.*);$", PAGE, re.MULTILINE)
    declared = get_args(WorkerState)
    assert states.split(" | ") == [f"'{state}'" for state in declared]
    (table,) = re.findall(r"^\| state \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == declared


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_on_the_page_with_its_arguments(name: str) -> None:
    arguments, _ = REQUESTS[name]
    if not fields(arguments):
        assert f"`{name}`, without arguments," in PAGE
        return
    (row,) = re.findall(rf"^\| `{name}` \| ([^|]*) \|", PAGE, re.MULTILINE)
    # The values of a choice are among the names, too.
    named = re.findall(r"`(\w+)`", row)
    assert [name for name in named if name not in ("next", "stepIn", "stepOut", "folded", "svg")] == [
        field.rstrip("?") for field in fields(arguments)
    ]


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE
