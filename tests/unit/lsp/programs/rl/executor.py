"""An executor of an inference engine that starts one worker for each GPU, and reads its variables from a table."""

import os
from typing import TYPE_CHECKING, Any

try:
    import ray
    from ray.util import placement_group_table
except ImportError as error:
    ray = None
    placement_group_table = None
    import_error = error

if TYPE_CHECKING:
    from ray.util.placement_group import PlacementGroup

variables: dict[str, Any] = {
    "ENGINE_RAY_DAG": lambda: os.getenv("ENGINE_RAY_DAG", "1"),
    "ENGINE_PORT": lambda: int(os.getenv("ENGINE_PORT", "0")),
}


if ray is not None:

    class WorkerWrapper:
        def __init__(self, *arguments):
            self.arguments = arguments

        def node(self):
            return ray.get_runtime_context().get_node_id()

        def execute(self, name, *arguments):
            return getattr(self, name)(*arguments)


class Executor:
    def __init__(self, group: "PlacementGroup"):
        self.workers = []
        for bundle in placement_group_table(group)["bundles"]:
            worker = ray.remote(num_cpus=0, num_gpus=1, **self.options(bundle))(WorkerWrapper).remote()
            self.workers.append(worker)

    def options(self, bundle):
        return {"resources": {f"bundle_{bundle}": 0.001}}

    def collective(self, method, timeout=None, arguments=()):
        outputs = [worker.execute.remote(method, *arguments) for worker in self.workers]
        return ray.get(outputs, timeout=timeout)
