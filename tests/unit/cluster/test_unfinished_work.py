"""Unfinished tasks in Ray's lists, and the resources that they need."""

import asyncio
from typing import Any

from raydap.analysis.ray_state import RayActor, RayGroup, RayState, RayTask
from raydap.cluster.dashboard import unfinished_work
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.rest import Rest
from raydap.protocol.types import WorkerKey
from unit.cluster.fake_dashboard import FakeDashboard, listing, text

TASK = {
    "task_id": "t1",
    "func_or_class_name": "train.Trainer.step",
    "name": "step",
    "state": "RUNNING",
    "type": "ACTOR_TASK",
    "job_id": "01",
    "actor_id": "a1",
    "parent_task_id": "p",
    "worker_id": "w1",
    "required_resources": {"CPU_group_0_ab": 1.0, "CPU_group_ab": 1.0, "bundle_group_ab": 0.001, "odd": "much"},
    "placement_group_id": None,
    "creation_time_ms": 7,
}


def read(**answers: Any) -> tuple[RayState, list[str]]:
    """Read Ray's state from these answers; return it and the paths that were requested."""

    async def run() -> tuple[RayState, list[str]]:
        fake = FakeDashboard()
        fake.answers.update({f"/api/v0/{name}": answer for name, answer in answers.items()})
        fake.answers.setdefault("/api/v0/placement_groups", listing([]))
        if "cluster_status" in answers:
            fake.answers["/api/cluster_status"] = answers["cluster_status"]
        async with fake.running():
            rest = Rest(fake.url, {})
            try:
                found = await unfinished_work.read(Dashboard(rest))
            finally:
                await rest.close()
            return found, [request.path_qs for request in fake.requests]

    return asyncio.run(run())


def test_the_lists_are_read() -> None:
    usage = {"CPU": [2.5, 8.0], "odd": "x", "myThing": [1.0, 1.0]}
    status = {"data": {"clusterStatus": {"loadMetricsReport": {"usage": usage}}}}
    actor = {
        "actor_id": "a1",
        "class_name": "train.Trainer",
        "state": "ALIVE",
        "job_id": "01",
        "node_id": "n",
        "pid": 5,
    }
    group = {"placement_group_id": "g", "state": "PENDING", "creator_job_id": "01"}
    found, asked = read(
        tasks=listing([TASK, TASK, {}]),
        actors=listing([{**actor, "required_resources": {"GPU": 1}, "is_detached": True}]),
        placement_groups=listing([{**group, "bundles": [{"unit_resources": {"GPU": 1}}, "odd"]}]),
        nodes=listing([{"node_id": "n", "resources_total": {"CPU": 8.0}}, {"node_id": "m"}]),
        cluster_status=status,
    )
    assert found.tasks == (
        RayTask("t1", "Trainer.step", "RUNNING", "01", "a1", "p", WorkerKey("w1"), {"CPU": 1.0}, "", 7),
        RayTask("", "", ""),
    )
    assert found.actors == (RayActor("a1", "Trainer", "ALIVE", "01", "n", 5, {"GPU": 1.0}, "", True),)
    assert found.groups == (RayGroup("g", "PENDING", "01", ({"GPU": 1.0},)),)
    assert (found.nodes, found.used) == (({"CPU": 8.0},), {"CPU": 2.5, "myThing": 1.0})
    assert found.problem == ""
    assert len(asked) == 6
    pending = next(path for path in asked if "FINISHED" in path)
    assert pending.count("filter_predicates=!%3D") == 3


def test_a_dashboard_without_some_of_them() -> None:
    found, _ = read(tasks=listing([TASK]))
    assert (len(found.tasks), found.used, found.problem) == (1, {}, "")
    found, _ = read(tasks=text(500, "no JSON"))
    assert (found.tasks, found.problem != "") == ((), True)


def test_no_dashboard() -> None:
    assert "not connected to its dashboard" in asyncio.run(unfinished_work.read(None)).problem
