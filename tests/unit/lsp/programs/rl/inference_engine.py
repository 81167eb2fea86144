"""Engines for rollouts in actors, a lock actor, and the router in front of them."""

import asyncio
import logging
import threading

import ray

logger = logging.getLogger(__name__)


@ray.remote
class Lock:
    def __init__(self):  # runs in: actor
        self.is_held = False

    def acquire(self):  # runs in: actor
        if self.is_held:
            return False
        self.is_held = True
        return True

    def release(self):  # runs in: actor
        self.is_held = False


class EngineBase:
    async def start(self):  # runs in: actor
        self.task = asyncio.create_task(self._loop())
        self.thread = threading.Thread(target=self._watch, daemon=True)

    async def _loop(self):  # runs in: actor
        while True:
            await asyncio.sleep(1)

    def _watch(self):  # runs in: actor
        logger.info("alive")


@ray.remote(num_cpus=0, max_concurrency=1000)
class AsyncEngine(EngineBase):
    async def generate(self, prompt):  # runs in: actor
        try:
            return await asyncio.wait_for(self._request(prompt), timeout=120)
        except asyncio.TimeoutError:
            return None

    async def _request(self, prompt):  # runs in: actor
        return prompt


class Router:
    def __init__(self, engines):
        self.engines = engines

    def choose(self, request):
        return min(self.engines, key=lambda engine: hash((engine, request)))

    async def generate(self, request):
        return await self.choose(request).generate.remote(request)


def create_engines(count, **options):
    engines = [AsyncEngine.options(**options).remote() for _ in range(count)]
    ray.get([engine.start.remote() for engine in engines])
    return engines


def batches(engines, action, rank=0):
    refs = [getattr(engine, action).remote() for engine in engines]
    return refs if rank else ray.get(refs)
