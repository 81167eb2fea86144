"""A manager of rollouts with a monitor in a thread and custom functions that a configuration names."""

import importlib
import multiprocessing
import threading
import time

import ray


def load(path):  # runs in: actor
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def serve_engine(arguments):
    import uvicorn

    uvicorn.run(arguments.app)


def launch(arguments):  # runs in: actor
    multiprocessing.set_start_method("spawn", force=True)
    process = multiprocessing.Process(target=serve_engine, args=(arguments,))
    process.start()
    return process


@ray.remote
class RolloutManager:
    def __init__(self, arguments):  # runs in: actor
        self.generate_rollout = load(arguments.rollout_function)
        self.process = launch(arguments)
        self.monitor = threading.Thread(target=self._monitor)

    def generate(self, rollout_id):  # runs in: actor
        started = time.time()
        data = self.generate_rollout(rollout_id)
        self._log(started)
        return ray.put(data)

    def _log(self, started):  # runs in: actor
        print(time.time() - started)

    def _monitor(self):  # runs in: actor
        while self.process.is_alive():
            time.sleep(1)


def train(arguments):
    manager = RolloutManager.options(num_cpus=1).remote(arguments)

    def offload():
        if arguments.offload:
            ray.get(manager.offload.remote())

    for rollout_id in range(arguments.start, arguments.count):
        data = ray.get(manager.generate.remote(rollout_id))
        offload()
        if should_save(rollout_id, arguments):
            ray.get(manager.save.remote(data))
    ray.get(manager.dispose.remote())


def should_save(rollout_id, arguments):
    return rollout_id % arguments.save_interval == 0
