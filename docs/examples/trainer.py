"""A small reinforcement-learning trainer with a breakpoint() in each of its parts.

    python trainer.py                                     # a new cluster, or the cluster that RAY_ADDRESS names
    ray job submit --working-dir . -- python trainer.py

Rollout actors play a one-armed bandit, an async reward server scores the episodes, a plain task normalises the
rewards, and a trainer actor changes the policy. At the end an evaluation fails, and stops post mortem.
Nothing here is random: the result depends only on the arguments.
"""

import argparse

import ray

LIGHT = {"num_cpus": 0.1}  # Paused workers keep their CPUs, so a debugged job should ask for little.


@ray.remote(**LIGHT)
class RolloutWorker:
    """Plays episodes with a given policy."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.episodes = 0

    def collect(self, policy: float) -> list[float]:
        actions = [policy + 0.25 * (self.rank + step) for step in range(4)]
        self.episodes += 1
        breakpoint()  # Stop 1 of an iteration, in every rollout worker at once.
        return actions


@ray.remote(**LIGHT)
class RewardServer:
    """Scores episodes; an async actor, so its calls share one event loop."""

    def __init__(self, target: float) -> None:
        self.target = target

    async def score(self, actions: list[float]) -> list[float]:
        rewards = [1 - abs(action - self.target) for action in actions]
        breakpoint()  # Stop 2, once for each episode.
        return rewards


@ray.remote(**LIGHT)
def normalise(batches: list[list[float]]) -> list[float]:
    means = [sum(batch) / len(batch) for batch in batches]
    baseline = sum(means) / len(means)
    breakpoint()  # Stop 3, in a plain task.
    return [mean - baseline for mean in means]


@ray.remote(**LIGHT)
class Trainer:
    """Owns the policy, which is a single number here."""

    def __init__(self) -> None:
        self.policy = 0.0  # Only an editor's breakpoint stops here.

    def update(self, advantages: list[float], rate: float) -> float:
        best = max(range(len(advantages)), key=advantages.__getitem__)
        step = rate * (best + 1)
        breakpoint()  # Stop 4, in the trainer.
        self.policy += step
        return self.policy


@ray.remote(**LIGHT, max_retries=0, runtime_env={"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}})
def evaluate(policy: float, rounds: int) -> float:
    total = policy * rounds
    return total / rounds  # Without rounds this raises, and Ray stops here post mortem.


def expected_stops(workers: int, iterations: int) -> int:
    """Return the number of stops: two per worker, the task, the trainer and the driver; and one post mortem."""
    return iterations * (2 * workers + 3) + 1


def train(workers: int, iterations: int) -> float:
    rollout_workers = [RolloutWorker.remote(rank) for rank in range(workers)]
    reward_server = RewardServer.remote(target=1.0)
    trainer = Trainer.remote()
    policy = 0.0
    for iteration in range(iterations):
        episodes = [worker.collect.remote(policy) for worker in rollout_workers]
        rewards = ray.get([reward_server.score.remote(episode) for episode in episodes])
        advantages = ray.get(normalise.remote(rewards))
        policy = ray.get(trainer.update.remote(advantages, rate=0.25))
        breakpoint()  # Stop 5, in the driver.
        print(f"iteration {iteration}: policy {policy:.2f}")
    return policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=3, help="rollout workers (default %(default)s)")
    parser.add_argument("--iterations", type=int, default=2, help="training iterations (default %(default)s)")
    options = parser.parse_args()
    ray.init()
    policy = train(options.workers, options.iterations)
    try:
        ray.get(evaluate.remote(policy, rounds=0))
    except ZeroDivisionError:
        print("the evaluation failed, as it should")
    print(f"result: policy {policy:.2f} after {options.iterations} iterations")


if __name__ == "__main__":
    main()
