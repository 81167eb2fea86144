"""Reads Ray's lists of tasks, actors, placement groups and resources: the unfinished work, and what it needs."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from raydap.analysis.ray_state import RayActor, RayGroup, RayState, RayTask, Resources
from raydap.cluster.dashboard.dashboard_client import Dashboard
from raydap.cluster.dashboard.ray_facts import Row
from raydap.errors import ProblemError
from raydap.protocol.types import WorkerKey

log = logging.getLogger("raydap")


async def read(dashboard: Dashboard | None) -> RayState:
    """Return Ray's unfinished work, or a `problem` that explains why it is not known.

    Malformed values of a row are left out.
    """
    if dashboard is None:
        return RayState(problem="raydap is not connected to its dashboard.")
    try:
        tasks, actors, groups, nodes, used = await asyncio.gather(
            dashboard.unfinished_tasks(),
            dashboard.actors(),
            dashboard.placement_groups(),
            dashboard.node_resources(),
            dashboard.used_resources(),
        )
    except ProblemError as error:
        return RayState(problem=error.problem.text)
    except Exception as error:
        log.exception("reading Ray's unfinished tasks failed")
        return RayState(problem=f"{error!r}; see raydap's log for details.")
    return RayState(
        tasks=tuple({task.id: task for task in map(_task, tasks)}.values()),
        actors=tuple(map(_actor, actors)),
        groups=tuple(map(_group, groups)),
        nodes=tuple(map(_amounts, nodes)),
        used={name: pair[0] for name, pair in used.items() if _is_pair(pair)},
    )


def _task(row: Row) -> RayTask:
    """Return a row of TaskState (ray/util/state/common.py) as a RayTask."""
    name = ".".join(_text(row, "func_or_class_name").split(".")[-2 if _text(row, "actor_id") else -1 :])
    return RayTask(
        id=_text(row, "task_id"),
        name=name or _text(row, "name"),
        state=_text(row, "state"),
        job=_text(row, "job_id"),
        actor=_text(row, "actor_id"),
        parent=_text(row, "parent_task_id"),
        worker=WorkerKey(_text(row, "worker_id")),
        resources=_amounts(row.get("required_resources")),
        group=_text(row, "placement_group_id"),
        created=_number(row, "creation_time_ms"),
        creates_actor=row.get("type") == "ACTOR_CREATION_TASK",
    )


def _actor(row: Row) -> RayActor:
    return RayActor(
        id=_text(row, "actor_id"),
        name=_text(row, "class_name").rpartition(".")[2],
        state=_text(row, "state"),
        job=_text(row, "job_id"),
        node_id=_text(row, "node_id"),
        pid=_number(row, "pid"),
        resources=_amounts(row.get("required_resources")),
        group=_text(row, "placement_group_id"),
        is_detached=row.get("is_detached") is True,
    )


def _group(row: Row) -> RayGroup:
    bundles = row.get("bundles")
    rows: Iterable[Any] = bundles if isinstance(bundles, list) else ()
    return RayGroup(
        id=_text(row, "placement_group_id"),
        state=_text(row, "state"),
        job=_text(row, "creator_job_id"),
        bundles=tuple(_amounts(each.get("unit_resources")) for each in rows if isinstance(each, dict)),
    )


def _text(row: Row, key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _number(row: Row, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0


def _amounts(value: Any) -> Resources:
    """Return the amount of each resource.

    For CPU in a placement group, Ray writes `CPU_group_ID`, and also `CPU_group_0_ID` for a bundle of the group.
    """
    found: dict[str, float] = {}
    for key, amount in value.items() if isinstance(value, dict) else ():
        name = str(key).partition("_group_")[0]
        if isinstance(amount, int | float) and (name == key or name != "bundle"):
            found[name] = max(float(amount), found.get(name, 0.0))
    return found


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], int | float)
