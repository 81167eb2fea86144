"""Nodes of tasks, with the reason for each task that has not begun."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping

from raydap.analysis.ray_state import RayActor, RayState, RayTask
from raydap.analysis.sets import folding
from raydap.analysis.waits.resource_waits import ResourceWaits
from raydap.analysis.waits.thread_nodes import GraphProcess, GraphThread
from raydap.analysis.waits.wait_graph import GraphNode
from raydap.protocol.types import WorkerKey

_SIBLINGS = 5
"""The largest number of tasks that may be the makers of a task's arguments. With more of them, the guess is of no
use."""

_DRIVER_TASK, _CREATION_TASK = "f" * 40, "f" * 16
"""The beginnings of two kinds of ids (ray/src/ray/common/id.cc). The id of a driver's own task ends with its job's id;
the id of the task that makes an actor ends with the actor's id."""

_OTHER_STATES = {
    "PENDING_ARGS_FETCH": "pending: its arguments are being fetched to its node",
    "GETTING_AND_PINNING_ARGS": "pending: its arguments are being fetched to its node",
    "PENDING_ACTOR_TASK_ARGS_FETCH": "pending: its arguments are being fetched to the actor's node",
    "PENDING_OBJ_STORE_MEM_AVAIL": "pending: the object store of its node is full",
    "SUBMITTED_TO_WORKER": "pending: it is being sent to a worker",
}
"""Texts for states of tasks (ray/src/ray/protobuf/common.proto, TaskStatus)."""


class TaskNodes:
    """The nodes of unfinished tasks.

    `processes` are all that are known, with their tasks (thread_nodes.assign).
    """

    def __init__(self, state: RayState, processes: Mapping[WorkerKey, GraphProcess]) -> None:
        self._processes = processes
        self._resources = ResourceWaits(state, processes)
        self._tasks = {task.id: task for task in state.tasks}
        self._actors = {actor.id: actor for actor in state.actors}
        self._nodes: dict[str, GraphNode] = {}
        self._open: list[tuple[GraphNode, RayTask]] = []
        self._children: dict[str, list[RayTask]] = {}
        self._running: dict[str, list[RayTask]] = {}
        self._queued: Counter[str] = Counter()
        # Oldest first, so that tasks older than a given one are found without checking all of them.
        for task in sorted(state.tasks, key=lambda task: task.created):
            self._children.setdefault(task.parent, []).append(task)
            if task.actor and not task.creates_actor:
                if task.runs:
                    self._running.setdefault(task.actor, []).append(task)
                else:
                    self._queued[task.actor] += 1

    def of(self, ids: Iterable[str]) -> list[GraphNode]:
        """Return the nodes of the unfinished tasks among these ids.

        The node of a task that runs in a known thread is the node of that thread.
        """
        found = [self._of(self._tasks[each]) for each in ids if each in self._tasks]
        while self._open:
            self._explain(*self._open.pop())
        return found

    def all(self) -> list[GraphNode]:
        """Return the nodes of all unfinished tasks of running drivers.

        For a while, Ray also lists the tasks of drivers that have ended.
        """
        entries = [each.member for each in self._processes.values()]
        jobs = {entry.job for entry in entries if entry.type == "driver"}
        return self.of(task.id for task in self._tasks.values() if task.job in jobs)

    def of_groups(self, job: str) -> list[GraphNode]:
        """Return the nodes of a job's placement groups that have no place yet."""
        return self._resources.of_waiting_groups(job)

    def children(self, thread: GraphThread, process: GraphProcess) -> list[GraphNode]:
        """Return the nodes of the unfinished tasks that a thread may have submitted.

        These are the children of the thread's own tasks, or of the driver's. If an actor runs several methods at once,
        Ray reports the actor as the parent, not the method.
        """
        entry = process.member
        parents = {task.id for task in thread.tasks} | {
            _CREATION_TASK + task.actor for task in thread.tasks if task.actor
        }
        if entry.type == "driver":
            parents.add(_DRIVER_TASK + entry.job)
        return self.of(task.id for parent in sorted(parents) for task in self._children.get(parent, ()))

    def _of(self, task: RayTask) -> GraphNode:
        threads = self._threads(task)
        if len(threads) == 1:
            return threads[0].node
        if task.id not in self._nodes:
            node = GraphNode(("task", task.id), task.name, "pending", "", task=task.id)
            self._nodes[task.id] = node
            self._open.append((node, task))
        return self._nodes[task.id]

    def _threads(self, task: RayTask) -> list[GraphThread]:
        process = self._processes.get(task.worker) if task.runs else None
        threads = None if process is None else process.threads
        return [each for each in threads or () if any(own is task for own in each.tasks)]

    def _explain(self, node: GraphNode, task: RayTask) -> None:
        actor = self._actors.get(task.actor)
        if task.runs:
            self._explain_running(node, task)
        elif task.state == "PENDING_ARGS_AVAIL":
            node.text = "pending: its arguments are not ready"
            makers = self._may_make_arguments(task)
            if makers:
                node.waits_for(map(self._of, makers), "arguments", needed=1, certain=False)
        elif task.actor and not task.creates_actor and task.state == "PENDING_NODE_ASSIGNMENT":
            self._explain_unmade_actor(node, task, actor)
        elif task.state == "PENDING_NODE_ASSIGNMENT":
            wanted, group = task.resources, task.group
            if task.creates_actor and actor is not None:
                wanted, group = actor.resources or wanted, actor.group or group
            self._resources.explain(node, wanted, group, "the actor" if task.creates_actor else "it")
        elif task.actor and not task.creates_actor and "ARGS" not in task.state:
            self._explain_queued(node, task)
        else:
            node.text = _OTHER_STATES.get(task.state, f"pending: {task.state}")

    def _explain_running(self, node: GraphNode, task: RayTask) -> None:
        """Set the text and the edges of a running task whose thread is not known."""
        process = self._processes.get(task.worker)
        threads = self._threads(task)
        node.state, node.member = "unknown", None if process is None else process.member
        if threads:
            node.text = f"runs in one of {len(threads)} threads"
            node.waits_for([each.node for each in threads], "thread", needed=1, certain=False)
        elif process is None:
            reason = "raydap has not found its worker" if task.worker else "Ray has not reported its worker yet"
            node.text = f"runs, but {reason}"
        elif process.threads is None:
            node.text = "runs, but its stack cannot be read"
        elif loops := [each.node for each in process.threads if each.is_loop]:
            node.text = "has begun, but its event loop is busy"
            node.waits_for(loops, "event loop")
        else:
            node.text = "runs, but in no known thread; it may be a coroutine"
            begun = self._children.get(_CREATION_TASK + task.actor, ()) if task.actor else ()
            node.waits_for(map(self._of, begun), "task", needed=1, certain=False)

    def _explain_unmade_actor(self, node: GraphNode, task: RayTask, actor: RayActor | None) -> None:
        if actor is None:
            node.text = "pending: its actor is dead"
        elif actor.state == "ALIVE":
            node.text = "pending: it is being sent to its actor"
        else:
            what = "restarted" if actor.state == "RESTARTING" else "created"
            node.text = f"pending: its actor has not been {what} yet"
            making = self._tasks.get(_CREATION_TASK + actor.id)
            if making is not None:
                node.waits_for([self._of(making)], "actor")

    def _explain_queued(self, node: GraphNode, task: RayTask) -> None:
        running = self._running.get(task.actor, [])
        process = self._processes.get(task.worker)
        queued = self._queued[task.actor]
        others = "" if queued == 1 else f", {queued} calls wait"
        name = task.name.rpartition(".")[0] if process is None else folding.group_name([process.member])
        methods = ", ".join(sorted({each.name.rpartition(".")[2] for each in running})[:3])
        if running:
            node.text = f"queued: {name} is busy with {methods}{others}"
            node.waits_for(map(self._of, running), "actor", needed=1)
        else:
            node.text = f"queued: {name} has not started it{others}"

    def _may_make_arguments(self, task: RayTask) -> list[RayTask]:
        """Return the tasks that may make the arguments of a task; none if there are too many.

        Ray does not report whose results a task takes. Usually its caller has submitted these tasks before.
        """
        siblings = (each for each in self._children.get(task.parent, ()) if not each.creates_actor and each is not task)
        older = list(itertools.islice((each for each in siblings if each.created <= task.created), _SIBLINGS + 1))
        return older if len(older) <= _SIBLINGS else []
