"""Actors: plain, async, threaded, inherited, wrapped, and those that a class method creates."""

import asyncio

import ray


class Base:
    def setup(self):  # runs in: actor
        return self._path()

    def _path(self):  # runs in: actor
        return "/tmp"

    @classmethod
    def create(cls, count):  # runs in: actor
        return [ray.remote(cls).remote() for _ in range(count)]


@ray.remote
class Counter(Base):
    """A counter."""

    def __init__(self):  # runs in: actor
        self.count = 0

    @ray.method(num_returns=2)
    def add(self, number):  # runs in: actor
        self.count += number
        return self.count, number

    @property
    def total(self):  # runs in: actor
        return self.count


@ray.remote(max_concurrency=10)
class Fetcher:
    async def fetch(self, url):  # runs in: actor
        return await asyncio.wait_for(self._get(url), timeout=30)

    async def _get(self, url):  # runs in: actor
        return url


class Plain:
    def work(self):
        return 1


class Wrapped:
    def work(self):  # runs in: actor
        return decode(self)


def decode(worker):  # runs in: actor
    return worker


def version(actor):  # runs in: actor call
    return actor.count


def start():
    pool = ray.util.ActorPool([Counter.remote()])
    print(list(pool.map(lambda actor, value: actor.add.remote(value), range(3))))
    actor = ray.remote(num_cpus=0)(Wrapped).options(name="wrapped", get_if_exists=True).remote()
    counter = Counter.remote()
    ray.get(counter.__ray_call__.remote(version), timeout=60)
    Plain().work()
    return ray.get(actor.work.remote(), timeout=10)
