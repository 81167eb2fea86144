"""Actors for models with a common base class, in the manner of a launcher, and a group of them."""

import os
import socket

import ray
import torch
from ray.util.placement_group import placement_group


class DistributedActor:
    def __init__(self, world_size, rank, address, port):  # runs in: actor
        self.address = address if address else self._own_address()
        self.port = port if port else self._free_port()
        os.environ["MASTER_ADDR"] = self.address
        os.environ["MASTER_PORT"] = str(self.port)
        os.environ["RANK"] = str(rank)

    @staticmethod
    def _own_address():  # runs in: actor
        return socket.gethostbyname(socket.gethostname())

    @staticmethod
    def _free_port():  # runs in: actor
        with socket.socket() as listener:
            listener.bind(("", 0))
            return listener.getsockname()[1]


class ModelActor(DistributedActor):
    def setup(self, strategy):  # runs in: actor
        strategy.setup_distributed()

    def empty_cache(self):  # runs in: actor
        torch.cuda.synchronize()


@ray.remote(num_gpus=1)
class ReferenceActor(ModelActor):
    def init(self, strategy, path):  # runs in: actor
        self.setup(strategy)
        self.model = wrap(path)

    def forward(self, sequences):  # runs in: actor
        with torch.no_grad():
            return self.model(sequences)


def wrap(path):  # runs in: actor
    return torch.nn.Module()


@ray.remote(num_gpus=1)
class RewardActor(ModelActor):
    def forward(self, sequences):  # runs in: actor
        return sequences


class ActorGroup:
    def __init__(self, count, actor_class, group=None):
        self.group = group or placement_group([{"GPU": 1}] * count)
        ray.get(self.group.ready())
        first = actor_class.options(placement_group=self.group).remote(count, 0, None, None)
        address, port = ray.get([first.address.remote(), first.port.remote()])
        self.actors = [first, *(actor_class.remote(count, rank, address, port) for rank in range(1, count))]

    def async_init(self, *arguments):
        return [actor.init.remote(*arguments) for actor in self.actors]

    def run_method(self, name, data):
        reference = ray.put(data)
        return [getattr(actor, name).remote(reference) for actor in self.actors]


def train(arguments):
    groups = [ActorGroup(2, ReferenceActor), ActorGroup(1, RewardActor)]
    for group in groups:
        ray.get(group.async_init(arguments.strategy, arguments.model))
    ray.get(groups[0].run_method("forward", []))


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    arguments = parser.parse_args()
    ray.init(runtime_env={"env_vars": {"TOKENIZERS_PARALLELISM": "true", "NCCL_DEBUG": "WARN"}})
    train(arguments)
