"""The start of reinforcement learning with a task runner, in the manner of hybrid controllers."""

import os
import socket

import hydra
import ray
from omegaconf import OmegaConf

from training.workers import ActorWorker, CriticWorker

DEFAULTS = {"env_vars": {"TOKENIZERS_PARALLELISM": "true", "NCCL_DEBUG": "WARN", "VLLM_LOGGING_LEVEL": "WARN"}}


@hydra.main(config_path="config", config_name="ppo", version_base=None)
def main(config):
    run(config)


def run(config, runner_class=None):
    if not ray.is_initialized():
        options = config.ray_init
        environment = OmegaConf.merge(DEFAULTS, options.get("runtime_env", {}))
        ray.init(**OmegaConf.to_container(OmegaConf.create({**options, "runtime_env": environment})))
    if runner_class is None:
        runner_class = ray.remote(num_cpus=1)(Runner)
    if config.profile:
        runner = runner_class.options(runtime_env={"nsight": dict(config.profile)}).remote()
    else:
        runner = runner_class.remote()
    ray.get(runner.run.remote(config))
    if config.timeline:
        ray.timeline(filename=config.timeline)


class Runner:
    def __init__(self):  # runs in: actor
        self.roles = {}

    def add_worker(self, role, worker_class):  # runs in: actor
        self.roles[role] = ray.remote(worker_class)

    def run(self, config):  # runs in: actor
        from pprint import pprint

        print(f"{socket.gethostname()}, {os.getpid()}")
        pprint(OmegaConf.to_container(config, resolve=True))
        self.add_worker("actor", ActorWorker)
        self.add_worker("critic", CriticWorker)
        dataset = create_dataset(config.files)
        sampler = create_sampler(dataset, config.seed)
        return len(sampler)


def create_dataset(files):  # runs in: actor
    return list(files)


def create_sampler(dataset, seed):  # runs in: actor
    if seed is None:
        return range(len(dataset))
    return sorted(dataset, key=hash)


def create_reward(config):
    return config.reward


if __name__ == "__main__":
    main()
