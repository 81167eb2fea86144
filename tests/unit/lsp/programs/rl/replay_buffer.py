"""A class that stays without a decorator so that it can be inherited from, beside the actor that inherits from it."""

import threading
from collections import deque

import ray


class BufferBase:
    def __init__(self, size):  # runs in: actor
        self.items = deque(maxlen=size)
        self.lock = threading.Lock()

    def add(self, item):  # runs in: actor
        with self.lock:
            self.items.append(item)
        return self._state()

    def _state(self):  # runs in: actor
        return {"size": len(self.items)}


@ray.remote  # pragma: no cover
class Buffer(BufferBase):
    pass


class LocalBuffer:
    def add(self, item):
        return item


class Collector:
    def __init__(self, buffer=None):
        self.buffer = buffer or Buffer.remote(100)

    def collect(self, item):
        add = getattr(self.buffer.add, "remote", self.buffer.add)
        return add(item)


def cycle(items):
    while True:
        yield from items
