"""Four actors, of which the third has a wrong rate: the program of the page about the terminal."""

import sys
import time

import ray


@ray.remote(num_cpus=0.1)
class Rollout:
    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.config = {"rate": 0.25 if rank == 2 else 0.5, "seed": 7}

    def play(self, steps: int) -> float:
        total = 0.0
        for step in range(steps):
            total += self.act(step)
        return total

    def act(self, step: int) -> float:
        time.sleep(1)  # The game answers.
        reward = self.config["rate"]
        return reward * step


ray.init(log_to_driver=False, logging_level="error")
ranks = [{"env_vars": {"RANK": str(rank)}} for rank in range(4)]
rollouts = [
    Rollout.options(runtime_env=env).remote(rank)  # type: ignore[attr-defined]
    for rank, env in enumerate(ranks)
]
steps = int(sys.argv[1])
print(f"totals: {ray.get([rollout.play.remote(steps) for rollout in rollouts])}")
