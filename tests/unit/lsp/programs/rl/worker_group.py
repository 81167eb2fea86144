"""Groups of workers on placement groups, and a class that joins the methods of several workers in one actor."""

import os
import time

import ray
from ray.util.placement_group import PlacementGroup, placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy


@ray.remote
def free_address():  # runs in: task
    return ray.util.get_node_ip_address(), free_port()


def free_port():  # runs in: task
    import socket

    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def bound_method(group, name, dispatch, collect, execute, blocking):
    def call(*arguments, **options):
        arguments, options = dispatch(group, *arguments, **options)
        output = execute(name, *arguments, **options)
        return collect(group, ray.get(output) if blocking else output)

    return call


class ResourcePool:
    def __init__(self, processes):
        self.processes = processes
        self.groups = None

    def placement_groups(self, strategy="PACK") -> list[PlacementGroup]:
        if self.groups is None:
            self.groups = [placement_group([{"CPU": 1, "GPU": 1}] * count, strategy) for count in self.processes]
            ray.get([group.ready() for group in self.groups])
        return self.groups


class Worker:
    def __init__(self):  # runs in: actor
        self.rank = int(os.environ["RANK"])

    def address(self):  # runs in: actor
        return ray.util.get_node_ip_address()


class WorkerGroup:
    def __init__(self, pool: ResourcePool, worker_class):
        self.workers = []
        for index, group in enumerate(pool.placement_groups()):
            variables = {"WORLD_SIZE": "2", "RANK": str(index), "RAY_LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": ""}
            strategy = PlacementGroupSchedulingStrategy(placement_group=group, placement_group_bundle_index=0)
            options = {"scheduling_strategy": strategy, "runtime_env": {"env_vars": variables}}
            self.workers.append(worker_class.options(**options).remote())

    def is_alive(self):
        return all(self._state(worker) == "ALIVE" for worker in self.workers)

    def _state(self, worker):
        return ray.util.state.get_actor(worker._actor_id.hex())

    def execute_all(self, name, *arguments):
        return [getattr(worker, name).remote(*arguments) for worker in self.workers]

    def execute_rank_zero(self, name, *arguments):
        return ray.get(getattr(self.workers[0], name).remote(*arguments))

    def check_alive(self):
        while self.is_alive():
            time.sleep(1)


def colocated(classes):
    base = classes["actor"].__mro__[-2]

    class Joined(base):
        def __init__(self):  # runs in: actor
            super().__init__()
            self.parts = {}
            for key, part in classes.items():
                self.parts[key] = part()

        def call(self, key, name, *arguments):  # runs in: actor
            return getattr(self.parts[key], name)(*arguments)

    for key in classes:
        setattr(Joined, key, bound_method(None, key, None, None, None, False))
    return ray.remote(Joined)


def on_this_node():
    strategy = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
    return ray.get(free_address.options(scheduling_strategy=strategy).remote())


WorkerActor = ray.remote(Worker)
