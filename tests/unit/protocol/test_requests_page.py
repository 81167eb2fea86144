"""docs/requests.md, and the types that it refers to, agree with those that are declared in raydap_messages.py."""

import re
from pathlib import Path
from typing import get_args

import pytest

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
    ArrayHistogram,
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
from support.generate_typescript import fields

PAGE = (Path(__file__).parents[3] / "docs" / "requests.md").read_text(encoding="utf-8")
TYPES = (Path(__file__).parents[3] / "vscode-ext" / "src" / "protocol" / "messages.ts").read_text(encoding="utf-8")
"""The file to which the page links for the fields of each type."""


def documented(name: str) -> dict[str, str]:
    """Return the fields of a type that the page links to, without their comments."""
    found = re.search(rf"^export interface {name} {{\n(.*?)^}}", TYPES, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return dict(re.findall(r"^  readonly (\w+\??): ([^;]+);", found[1], re.MULTILINE))


def test_the_page_links_to_the_types() -> None:
    assert "[messages.ts](../vscode-ext/src/protocol/messages.ts)" in PAGE


@pytest.mark.parametrize(
    "struct",
    [
        *(WorkerEntry, StoppedThread, WorkerStack, ThreadStack, StackFrame, StackVariable, Evaluation, Server),
        *(BreakpointList, SetBreakpoint, OutputData, ProblemData, KeptSet, Evaluations, EvaluationGroup, Statistics),
        *(MergedStacks, StackNode, MissingMembers, CodeLocation, Places, WorkerPlace),
        *(SteppedThreads, SteppedGroup),
        *(WaitGraph, WaitNode, WaitEdge, Deadlock, CollectiveWait),
        *(Comparison, ComparisonGroup, ArraySummary, ArrayHistogram, Histogram, Share, Change),
    ],
)
def test_an_interface_has_the_fields_of_its_struct(struct: type[Message]) -> None:
    assert documented(struct.__name__) == fields(struct)


def test_the_states_are_all_named() -> None:
    (states,) = re.findall(r"^export type WorkerState = (.*);$", TYPES, re.MULTILINE)
    declared = get_args(WorkerState)
    assert states.split(" | ") == [f"'{state}'" for state in declared]
    (table,) = re.findall(r"^\| state \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == declared


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_on_the_page_with_its_arguments(name: str) -> None:
    arguments, answer = REQUESTS[name]
    assert answer is None or f"`{answer.__name__}`" in PAGE
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
