"""Tools for agents, with a limit for each call, a pool of executions and a counter with tokens."""

import threading
from contextlib import ExitStack
from enum import Enum

import ray


class Mode(Enum):
    PROCESS = "process"
    THREAD = "thread"


@ray.remote(concurrency_groups={"acquire": 1, "release": 10})
class TokenBucket:
    def __init__(self, rate):  # runs in: actor
        self.semaphore = threading.Semaphore(rate)

    @ray.method(concurrency_group="acquire")
    def acquire(self):  # runs in: actor
        self.semaphore.acquire()

    @ray.method(concurrency_group="release")
    def release(self):  # runs in: actor
        self.semaphore.release()


class ExecutionWorker:
    def __init__(self, limit):  # runs in: actor
        self.bucket = TokenBucket.options(name="limit", get_if_exists=True).remote(limit)

    def ping(self):  # runs in: actor
        return True

    def execute(self, function, *arguments):  # runs in: actor
        with ExitStack() as stack:
            stack.callback(self.bucket.release.remote)
            ray.get(self.bucket.acquire.remote())
            try:
                return function(*arguments)
            except Exception as error:
                print(error)
                return None


def create_pool(count, mode=Mode.THREAD):
    if mode is Mode.THREAD:
        return ray.remote(ExecutionWorker).options(max_concurrency=count).remote(count)
    raise NotImplementedError


class SearchTool:
    def __init__(self, config):
        self.pool = create_pool(config["workers"])

    async def execute(self, query):
        return await self.pool.execute.remote(self.search, query)

    def search(self, query):
        return query
