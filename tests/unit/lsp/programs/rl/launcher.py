"""A launcher that gives functions of files to tasks, with a timeout, and stops all of them when one fails."""

import importlib.util
import sys
import time

import ray
import ray.exceptions


def run_function(path, name, arguments):  # runs in: task
    module = load(path)
    try:
        return getattr(module, name)(*arguments)
    except Exception as error:
        print(error)
        raise


def load(path):  # runs in: task
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Launcher:
    def __init__(self, name):
        self.name = name
        self.jobs = {}

    def submit(self, job, path, arguments, gpus=0, variables=None):
        environment = ray.runtime_env.RuntimeEnv(env_vars=variables or {})
        task = ray.remote(num_gpus=gpus, runtime_env=environment)(run_function)
        self.jobs[job] = task.remote(path, "main", arguments)

    def wait(self, interval=1.0):
        while self.jobs:
            for job, reference in list(self.jobs.items()):
                try:
                    ray.get(reference, timeout=0.1)
                    del self.jobs[job]
                except ray.exceptions.GetTimeoutError:
                    continue
            time.sleep(interval)

    def stop_all(self, force=False):
        for reference in self.jobs.values():
            ray.cancel(reference, force=force)


if __name__ == "__main__":
    ray.init()
    launcher = Launcher("rl")
    launcher.submit("trainer", sys.argv[1], sys.argv[2:], gpus=1, variables={"RAY_DEBUG_POST_MORTEM": "1"})
    launcher.wait()
