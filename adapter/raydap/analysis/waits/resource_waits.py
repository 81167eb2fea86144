"""Why a task or an actor has no place yet: resources that no node has, or that are in use."""

from collections.abc import Mapping

from raydap.analysis.ray_state import RayActor, RayGroup, RayState, RayTask, Resources
from raydap.analysis.waits.thread_nodes import GraphProcess, GraphThread
from raydap.analysis.waits.wait_graph import GraphNode
from raydap.protocol.types import WorkerKey

_ROUNDING = 1e-4
"""The tolerance for amounts: Ray counts resources in units of 1/10,000."""


_User = RayTask | RayActor | RayGroup


class ResourceWaits:
    """Finds out for which resources tasks and actors wait, and makes the nodes of these resources.

    `processes` are all that are known, with their tasks (thread_nodes.assign).
    """

    def __init__(self, state: RayState, processes: Mapping[WorkerKey, GraphProcess]) -> None:
        self._state = state
        self._processes = processes
        self._groups = {each.id: each for each in state.groups}
        self._nodes: dict[object, GraphNode] = {}
        self._holders: dict[str, GraphNode] = {}
        self._totals: dict[str, float] = {}
        self._in_use: dict[str, float] = {}
        self._drivers: dict[str, list[GraphThread]] = {}
        self._found_users: dict[tuple[str, str], list[tuple[float, _User]]] = {}
        self._running: dict[str, list[RayTask]] = {}
        """The tasks that hold resources, by their placement group."""
        for task in state.tasks:
            if task.runs and (task.creates_actor or not task.actor):
                self._running.setdefault(task.group, []).append(task)
        self._places = {(each.member.node_id, each.member.pid): each for each in processes.values()}
        for process in processes.values():
            if process.member.type == "driver":
                self._drivers.setdefault(process.member.job, []).extend(process.threads or ())

    def explain(self, node: GraphNode, wanted: Resources, group: str, what: str) -> None:
        """Set the text and the edges of a task or actor that has no place yet: what it lacks, and for what it waits.

        `group` is its placement group, or "". `what` names the task or actor in the text.
        """
        placement = self._groups.get(group)
        if placement is not None and placement.state != "CREATED":
            node.text = f"pending: its placement group ({_bundles(placement)}) has no place yet"
            node.waits_for([self._of_group(placement)], "resources")
            return
        needs = {name: amount for name, amount in wanted.items() if amount > 0}
        if placement is not None:
            self._explain_in_group(node, needs, placement, what)
            return
        lacking = self._infeasible(needs)
        if lacking:
            node.text = f"pending: no node has {written(lacking)}"
            return
        used = self._all_used(needs)
        if used:
            node.text = f"pending: no {written({name: needs[name] for name in used})} is left"
            node.waits_for([self._of_resource(name) for name in used], "resources")
        else:
            node.text = f"pending: a process for {what} is starting, or no node has enough free resources"

    def _explain_in_group(self, node: GraphNode, needs: Resources, group: RayGroup, what: str) -> None:
        """Set the text and the edges of a task or actor whose placement group has been created."""
        lacking = []
        for name, amount in needs.items():
            total = sum(each.get(name, 0.0) for each in group.bundles)
            if total - sum(used for used, _ in self._users(name, group.id)) < amount - _ROUNDING:
                lacking.append(name)
        if lacking:
            node.text = f"pending: its placement group has no {written({each: needs[each] for each in lacking})} left"
            node.waits_for([self._of_resource(each, group.id) for each in lacking], "resources")
        else:
            lack = "no bundle of its placement group has enough free resources"
            node.text = f"pending: a process for {what} is starting, or {lack}"

    def of_waiting_groups(self, job: str) -> list[GraphNode]:
        """Return the nodes of a job's placement groups that have no place yet."""
        return [self._of_group(each) for each in self._state.groups if each.state != "CREATED" and each.job == job]

    def _infeasible(self, needs: Resources) -> Resources:
        """Return the resources that no node has; all of `needs` if nodes have each of them, but no node has all."""
        nodes = self._state.nodes
        if not nodes or any(_fits(needs, each) for each in nodes):
            return {}
        alone = {
            name: amount for name, amount in needs.items() if not any(_fits({name: amount}, each) for each in nodes)
        }
        return alone or needs

    def _all_used(self, needs: Resources) -> list[str]:
        return [name for name, amount in needs.items() if self._total(name) - self._used(name) < amount - _ROUNDING]

    def _total(self, name: str) -> float:
        if name not in self._totals:
            self._totals[name] = sum(each.get(name, 0.0) for each in self._state.nodes)
        return self._totals[name]

    def _used(self, name: str) -> float:
        """Return the amount in use: as Ray reports it, else the sum of the known users."""
        if name not in self._in_use:
            reported = self._state.used.get(name)
            self._in_use[name] = sum(amount for amount, _ in self._users(name)) if reported is None else reported
        return self._in_use[name]

    def _users(self, name: str, group: str = "") -> list[tuple[float, _User]]:
        """Return the amounts of a resource with their users.

        They are found once, because thousands of tasks may wait for the same resource.
        """
        if (name, group) not in self._found_users:
            self._found_users[name, group] = self._find_users(name, group)
        return self._found_users[name, group]

    def _find_users(self, name: str, group: str) -> list[tuple[float, _User]]:
        """Return the users in a placement group, or those outside of any if `group` is "".

        Actors keep their resources. A task in ray.get gives back its CPUs and nothing else (Ray's core_worker,
        ShouldReleaseResourcesOnBlockingCalls).
        """
        state = self._state
        users: list[tuple[float, _User]] = []
        users += [(each.resources.get(name, 0.0), each) for each in state.actors if each.pid and each.group == group]
        for task in self._running.get(group, ()):
            threads = self._threads_of(task.id, task.worker)
            has_given_back = name == "CPU" and bool(threads) and all(is_in_ray(each) for each in threads)
            users.append((0.0 if has_given_back else task.resources.get(name, 0.0), task))
        for each in () if group else state.groups:
            if each.state == "CREATED":
                users.append((sum(bundle.get(name, 0.0) for bundle in each.bundles), each))
        return [(amount, user) for amount, user in users if amount > 0]

    def _threads_of(self, task: str, worker: WorkerKey) -> list[GraphThread]:
        process = self._processes.get(worker)
        threads = () if process is None else process.threads or ()
        return [each for each in threads if any(own.id == task for own in each.tasks)]

    def _of_resource(self, name: str, group: str = "") -> GraphNode:
        """Return the node of a scarce resource, which waits for any of the users of the resource."""
        key = ("resource", name, group)
        if key not in self._nodes:
            users = self._users(name, group)
            whole = f"{self._used(name):g} of {self._total(name):g} are in use"
            text = "all of it in the placement group is in use" if group else whole
            node = self._nodes[key] = GraphNode(key, name, "resource", text)
            node.waits_for([self._of_user(user) for _, user in users], "resources", needed=1)
        return self._nodes[key]

    def _of_group(self, group: RayGroup) -> GraphNode:
        key = ("group", group.id)
        if key not in self._nodes:
            node = self._nodes[key] = GraphNode(key, "a placement group", "pending", "")
            needs: dict[str, float] = {}
            for bundle in group.bundles:
                for name, amount in bundle.items():
                    needs[name] = needs.get(name, 0.0) + amount
            lacking: dict[str, float] = {}
            for bundle in group.bundles:
                lacking.update(self._infeasible(bundle))
            scarce = {name: amount for name, amount in needs.items() if self._total(name) < amount - _ROUNDING}
            used = self._all_used(needs)
            if lacking or scarce:
                node.text = (
                    f"no node has {written(lacking)}" if lacking else f"all nodes together have no {written(scarce)}"
                )
            elif used:
                node.text = f"no {written({name: needs[name] for name in used})} is left"
                node.waits_for([self._of_resource(name) for name in used], "resources")
            else:
                node.text = "its bundles do not fit on the nodes together"
        return self._nodes[key]

    def _of_user(self, user: _User) -> GraphNode:
        """Return the node of a user, which gives its resources back at its end.

        A task does so when it is over; an actor or a placement group, when its driver no longer needs it.
        """
        if isinstance(user, RayActor):
            process = self._places.get((user.node_id, user.pid))
            keeps = f"keeps {written(user.resources)} until it ends"
            member = None if process is None else process.member
            node = self._holders.setdefault(user.id, GraphNode(("actor", user.id), "", "resource", keeps, member))
            node.label = node.label or ("" if member is not None else user.name)
            self._owned(node, user.job, not user.is_detached)
        elif isinstance(user, RayGroup):
            keeps = f"keeps {_bundles(user)}"
            node = self._holders.setdefault(
                user.id, GraphNode(("group", user.id), "a placement group", "resource", keeps)
            )
            self._owned(node, user.job, True)
        else:
            threads = self._threads_of(user.id, user.worker)
            node = threads[0].node if len(threads) == 1 else GraphNode(("user", user.id), user.name, "running", "runs")
        return node

    def _owned(self, node: GraphNode, job: str, ends_with_job: bool) -> None:
        drivers = self._drivers.get(job, []) if ends_with_job else []
        node.waits_for([each.node for each in drivers], "owner", needed=1)


def is_in_ray(thread: GraphThread) -> bool:
    """Return whether a thread waits for objects of Ray."""
    wait = thread.stack.wait
    return thread.gets or (wait is not None and wait.kind == "objects")


def written(resources: Resources) -> str:
    """Return resources as text, such as `{CPU: 1, GPU: 8}`."""
    return "{" + ", ".join(f"{name}: {amount:g}" for name, amount in sorted(resources.items())) + "}"


def _bundles(group: RayGroup) -> str:
    counts: dict[str, int] = {}
    for each in map(written, group.bundles):
        counts[each] = counts.get(each, 0) + 1
    return ", ".join(text if count == 1 else f"{count} x {text}" for text, count in counts.items())


def _fits(needs: Resources, node: Resources) -> bool:
    return all(node.get(name, 0.0) >= amount - _ROUNDING for name, amount in needs.items())
