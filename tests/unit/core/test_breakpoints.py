from typing import Any

import pytest

from raydap.core.model.breakpoints import WAITING, Group, RunBreakpoints
from raydap.core.model.handles import Handles
from raydap.errors import ProblemError
from raydap.protocol.types import WorkerKey

W1, W2 = WorkerKey("w1"), WorkerKey("w2")
SOURCE = {"path": "/a.py"}


@pytest.fixture
def breakpoints() -> RunBreakpoints:
    return RunBreakpoints(Handles())


def lines(breakpoints: RunBreakpoints, *numbers: int) -> Group:
    specs = [{"line": number} for number in numbers]
    return breakpoints.set("setBreakpoints", {"source": SOURCE, "breakpoints": specs})


def test_an_unanswered_breakpoint_says_that_it_waits(breakpoints: RunBreakpoints) -> None:
    (breakpoint,) = lines(breakpoints, 3).breakpoints
    view = breakpoint.view()
    assert view == {"id": breakpoint.id, "verified": False, "line": 3, "source": SOURCE, "message": WAITING}


def test_the_first_worker_that_verifies_it_decides_the_line(breakpoints: RunBreakpoints) -> None:
    group = lines(breakpoints, 3)
    (breakpoint,) = group.breakpoints
    assert breakpoints.answered(W1, group, [{"id": 0, "verified": True, "line": 4}]) == [breakpoint]
    assert breakpoints.answered(W2, group, [{"id": 0, "verified": True, "line": 9}]) == []
    assert breakpoint.view()["line"] == 4
    assert breakpoints.forget(W1) == [breakpoint]
    assert breakpoint.view()["line"] == 9
    assert breakpoints.forget(W1) == []


def test_ids_of_workers_are_theirs_alone_and_may_be_0(breakpoints: RunBreakpoints) -> None:
    group = lines(breakpoints, 3, 4)
    first, second = group.breakpoints
    breakpoints.answered(W1, group, [{"id": 0}, {"id": 1}])
    breakpoints.answered(W2, group, [{"id": 1}, {"id": 0}])
    assert breakpoints.hit(W1, [0, 1]) == [first, second]
    assert breakpoints.hit(W2, [0]) == [second]
    nothings: list[Any] = [None, 0, [False], ["0"], [7], {}]
    for nothing in nothings:
        assert breakpoints.hit(W1, nothing) == []


def test_an_event_changes_what_it_speaks_of_and_nothing_else(breakpoints: RunBreakpoints) -> None:
    group = lines(breakpoints, 3, 4)
    first, second = group.breakpoints
    breakpoints.answered(W1, group, [{"id": 0, "verified": False}, {"id": 1, "verified": False}])
    assert breakpoints.moved(W1, {"id": 1, "verified": True, "line": 5}) == [second]
    assert breakpoints.moved(W1, {"id": 1, "verified": True}) == []
    assert breakpoints.moved(W2, {"id": 0, "verified": True}) == []
    assert first.view()["verified"] is False
    assert second.view()["line"] == 5


def test_equal_breakpoints_keep_their_ids_however_often_they_are_set(breakpoints: RunBreakpoints) -> None:
    before = [breakpoint.id for breakpoint in lines(breakpoints, 3, 3, 4).breakpoints]
    assert len(set(before)) == 3
    after = [breakpoint.id for breakpoint in lines(breakpoints, 4, 3).breakpoints]
    assert after[0] == before[2]
    assert after[1] in before[:2]


def test_only_groups_with_breakpoints_are_sent_to_workers(breakpoints: RunBreakpoints) -> None:
    lines(breakpoints, 3)
    breakpoints.set("setFunctionBreakpoints", {"breakpoints": [{"name": "f"}]})
    assert [group.command for group in breakpoints.groups()] == ["setBreakpoints", "setFunctionBreakpoints"]
    lines(breakpoints)
    assert [group.command for group in breakpoints.groups()] == ["setFunctionBreakpoints"]
    breakpoints.clear()
    assert list(breakpoints.groups()) == []
    assert breakpoints.exceptions == {"filters": ["uncaught"]}


@pytest.mark.parametrize("arguments", [{}, {"breakpoints": None}, {"breakpoints": []}])
def test_no_breakpoints_are_sent_as_an_empty_array(breakpoints: RunBreakpoints, arguments: dict[str, Any]) -> None:
    assert breakpoints.set("setFunctionBreakpoints", arguments).arguments == {"breakpoints": []}


def test_an_answer_to_breakpoints_that_were_replaced_changes_nothing_shown(breakpoints: RunBreakpoints) -> None:
    old = lines(breakpoints, 3)
    lines(breakpoints, 4)
    assert breakpoints.answered(W1, old, [{"id": 0, "verified": True}]) == []


@pytest.mark.parametrize("answers", [None, 7, {}, [], [None], ["x"]])
def test_an_answer_that_is_none_changes_nothing(breakpoints: RunBreakpoints, answers: Any) -> None:
    assert breakpoints.answered(W1, lines(breakpoints, 3), answers) == []


def test_conditions_of_filters_stay_here_and_unknown_filters_are_refused(breakpoints: RunBreakpoints) -> None:
    breakpoints.set_exceptions({"filters": [], "filterOptions": [{"filterId": "raised", "condition": "x"}]})
    assert breakpoints.exceptions == {"filters": ["raised"]}
    assert breakpoints.conditions == {"raised": "x"}
    for filters, options in ((["all"], []), ([], [{"filterId": "all"}])):
        with pytest.raises(ProblemError, match="uncaught"):
            breakpoints.set_exceptions({"filters": filters, "filterOptions": options})
    assert breakpoints.exceptions == {"filters": ["raised"]}
    assert breakpoints.conditions == {"raised": "x"}
