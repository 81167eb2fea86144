"""Three actors that pause in each round."""

import ray


@ray.remote(num_cpus=0.1)
class Trainer:
    def __init__(self, rank: int) -> None:
        self.rank = rank

    def train(self, rounds: int) -> int:
        total = 0
        for number in range(rounds):
            gradient = 10 * self.rank + number
            breakpoint()
            total += gradient
        return total


ray.init()
trainers = [Trainer.remote(rank) for rank in range(3)]
print(f"result: {ray.get([trainer.train.remote(2) for trainer in trainers])}")
