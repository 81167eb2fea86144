"""The cost of each unfinished task does not grow with their number. The tests count lines of Python."""

import sys
from types import FrameType
from typing import Any

import pytest

from raydap.analysis.ray_state import RayGroup, RayState, RayTask
from raydap.analysis.waits import building, thread_nodes
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.types import WorkerKey

DRIVER = WorkerEntry(
    key="d", name="driver", title="driver", label="driver", where="", state="running", age=0.0, type="driver", pid=1,
    node="n", node_id="n", job="01", submission="", actor="", actor_name="", task="",
    agent=True, threads=(), problem="",
)  # fmt: skip


def lines(count: int, groups: int) -> int:
    """Return the lines of Python for `count` tasks, of which eight run in each placement group.

    With `groups` 0 they run on the nodes.
    """
    of = [f"g{number}" for number in range(groups)] or [""]
    tasks = tuple(
        RayTask(
            f"{number:048x}", "work", "RUNNING" if number < 8 * len(of) else "PENDING_NODE_ASSIGNMENT", "01",
            parent="f" * 40 + "01", worker=WorkerKey("w" if number < 8 else ""), resources={"CPU": 1.0},
            group=of[number % len(of)], created=number,
        )
        for number in range(count)
    )  # fmt: skip
    placement = tuple(RayGroup(name, "CREATED", "01", ({"CPU": 8.0},)) for name in of if name)
    state = RayState(tasks, (), placement, ({"CPU": 8.0 * len(of)},), {"CPU": 8.0 * len(of)})
    processes = {WorkerKey("d"): thread_nodes.process(DRIVER, ())}
    counted = 0

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal counted
        counted += what == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        building.build(processes, state, None)
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("groups", [0, 1, 10])
def test_twice_as_many_tasks_cost_twice_as_much(groups: int) -> None:
    assert lines(400, groups) < 2.3 * lines(200, groups)


def test_ten_times_as_many_placement_groups_do_not_cost_twice_as_much() -> None:
    assert lines(400, 20) < 2 * lines(400, 2)
