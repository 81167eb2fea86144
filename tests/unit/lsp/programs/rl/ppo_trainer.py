"""The controller of proximal policy optimisation: a class that the task runner creates, in a file of its own."""

import uuid
from dataclasses import dataclass, field
from enum import Enum

import ray
from tqdm import tqdm


class Role(Enum):
    ACTOR = 0
    CRITIC = 1


@dataclass
class PoolManager:
    sizes: dict
    mapping: dict
    pools: dict = field(default_factory=dict)

    def check(self):
        free = ray.available_resources().get("GPU", 0)
        if free < sum(map(sum, self.sizes.values())):
            raise ValueError(free)


def advantages(batch, estimator, gamma=1.0):
    return batch


def apply_penalty(batch, controller, kind="kl"):
    controller.update(kind, len(batch))
    return batch


class Trainer:
    def __init__(self, config, tokenizer, roles, manager: PoolManager):
        self.config, self.tokenizer, self.roles, self.manager = config, tokenizer, roles, manager

    def init_workers(self):
        self.manager.check()
        self.actors = [cls.options(name=str(uuid.uuid4())).remote(self.config) for cls in self.roles.values()]
        ray.get([actor.init_model.remote() for actor in self.actors])

    def _validate(self):
        return ray.get([actor.evaluate.remote() for actor in self.actors])

    def fit(self):
        progress = tqdm(total=self.config.steps)
        for step in range(self.config.steps):
            batch = ray.get(self.actors[0].generate.remote(step))
            batch = advantages(apply_penalty(batch, self.config), "gae")
            reference = self.actors[1].update.remote(batch)
            metrics = ray.get(reference)
            if step % 10 == 0:
                metrics.update(self._validate()[0])
            progress.update(1)
        self.save()

    def save(self):
        try:
            ray.get([actor.save.remote() for actor in self.actors], timeout=600)
        except ray.exceptions.GetTimeoutError:
            print("no checkpoint")
