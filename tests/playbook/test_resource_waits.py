"""raydap/waits reports why tasks and actors have not started, and which resources they wait for."""

from typing import Any

from raydap.analysis.ray_state import RayActor, RayGroup, RayState, RayTask
from support.waiting_workers import Hung, objects, running, stacks, thread


def test_tasks_that_have_not_begun(hung: Hung) -> None:
    hung.add("d", "driver train.py", thread("main", 41, wait=objects("g", "s", "x", "q", "o", "r", "y")))
    actors = (RayActor("a1", "Big", "PENDING_CREATION", "01000000", resources={"GPU": 2}),)

    def pending(task: str, state: str, **more: Any) -> RayTask:
        return RayTask(task, task * 3, state, job="01000000", **more)

    hung.begin(
        RayState(
            (
                pending("g", "PENDING_NODE_ASSIGNMENT", resources={"GPU": 8, "CPU": 1}),
                pending("s", "PENDING_NODE_ASSIGNMENT", resources={"CPU": 1}),
                pending("x", "PENDING_NODE_ASSIGNMENT", actor="a1"),
                RayTask(
                    "f" * 16 + "a1", "Big.__init__", "PENDING_NODE_ASSIGNMENT", "01000000", "a1", creates_actor=True
                ),
                pending("q", "PENDING_NODE_ASSIGNMENT", actor="dead"),
                pending("o", "PENDING_OBJ_STORE_MEM_AVAIL"),
                pending("r", "PENDING_ARGS_AVAIL", parent="p", created=2),
                pending("y", "SOMETHING_NEW", parent="p", created=1),
            ),
            actors,
            nodes=({"CPU": 4, "GPU": 1},),
        )
    )
    assert hung.text() == [
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:41)",
        "├─ ggg: pending: no node has {GPU: 8}",
        "├─ ooo: pending: the object store of its node is full",
        "├─ qqq: pending: its actor is dead",
        "├─ rrr: pending: its arguments are not ready",
        "│  └─ perhaps for yyy: pending: SOMETHING_NEW",
        "├─ sss: pending: a process for it is starting, or no node has enough free resources",
        "├─ xxx: pending: its actor has not been created yet",
        "│  └─ Big.__init__: pending: no node has {GPU: 2}",
        "└─ yyy: pending: SOMETHING_NEW",
    ]


def test_cpus_that_are_all_kept_by_actors_that_wait_for_tasks(hung: Hung) -> None:
    hung.add("d", "driver train.py", thread("main", 41, wait=objects("t1", "t2")))
    rows = [(number, f"w{number}") for number in (1, 2)]
    for number, key in rows:
        hung.add(key, "W.run", thread("run", 5, wait=objects(f"f{number}")))
    tasks = [running(f"t{number}", "W.run", key, f"a{number}") for number, key in rows]
    tasks += [
        RayTask(f"f{number}", "f", "PENDING_NODE_ASSIGNMENT", "01000000", resources={"CPU": 1}) for number, _ in rows
    ]
    actors = [
        RayActor(f"a{number}", "W", "ALIVE", "01000000", pid=101 + number, resources={"CPU": 1}) for number, _ in rows
    ]
    state = RayState(tuple(tasks), tuple(actors), nodes=({"CPU": 2},), used={"CPU": 2})
    hung.begin(state)
    answer = hung.ask()
    (deadlock,) = answer["deadlocks"]
    assert deadlock["text"].splitlines()[2:5] == [
        "  -> f: pending: no {CPU: 1} is left",
        "  -> CPU: 2 of 2 are in use",
        "  -> in use by W 0 (pid 102 on 10.0.0.1): keeps {CPU: 1} until it ends",
    ]
    assert "├─" not in answer["text"], "the two are one line"
    # A detached actor may end at any time, as may an actor whose driver is not blocked.
    detached = RayActor("a3", "Other", "ALIVE", "01000000", pid=9, resources={"CPU": 1}, is_detached=True)
    hung.play.ray_states = [RayState(state.tasks, (*state.actors, detached), nodes=state.nodes, used=state.used)]
    assert hung.ask()["deadlocks"] == []
    hung.workers["d"].blocked = stacks(thread("main", 41, "time.sleep"))
    hung.play.ray_states = [state]
    assert hung.ask()["deadlocks"] == []


def test_placement_groups(hung: Hung) -> None:
    hung.add("d", "driver train.py", thread("main", 41, wait=objects(puts=1)))
    hung.add("w1", "f", thread("f", 5, wait=objects("t")))
    hung.begin(
        RayState(
            (
                running("f", "f", "w1"),
                RayTask("t", "t", "PENDING_NODE_ASSIGNMENT", "01000000", resources={"GPU": 1}, group="g1"),
            ),
            groups=(RayGroup("g1", "PENDING", "01000000", ({"GPU": 1}, {"GPU": 1})),),
            nodes=({"CPU": 2, "GPU": 1},),
        )
    )
    assert hung.text() == [
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:41), for an object that no task makes",
        "└─ a placement group: all nodes together have no {GPU: 2}",
        "f (pid 102 on 10.0.0.1): blocked in ray.get (train.py:5)",
        "└─ t: pending: its placement group (2 x {GPU: 1}) has no place yet",
        "   └─ a placement group: all nodes together have no {GPU: 2}",
    ]


def test_a_placement_group_that_is_full(hung: Hung) -> None:
    hung.add("d", "driver train.py", thread("main", 41, wait=objects("t")))
    hung.add("w1", "f", thread("f", 5, "sum", activity="running"))
    inside: dict[str, Any] = {"resources": {"CPU": 1}, "group": "g1"}
    waiting = RayTask("t", "t", "PENDING_NODE_ASSIGNMENT", "01000000", **inside)
    group = RayGroup("g1", "CREATED", "01000000", ({"CPU": 1},))
    state = RayState((running("f", "f", "w1", **inside), waiting), groups=(group,), nodes=({"CPU": 2},))
    hung.begin(state)
    assert hung.text() == [
        "driver train.py (pid 101 on 10.0.0.1): blocked in ray.get (train.py:41)",
        "└─ t: pending: its placement group has no {CPU: 1} left",
        "   └─ CPU: all of it in the placement group is in use",
        "      └─ in use by f (pid 102 on 10.0.0.1): running f (train.py:5)",
    ]
    hung.play.ray_states = [RayState((waiting,), groups=(group,), nodes=state.nodes)]
    assert "no bundle of its placement group has enough free" in hung.ask()["text"]
