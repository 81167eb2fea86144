"""A group of actors that all pause at once, several times in a row."""

import argparse

import ray


@ray.remote(num_cpus=0.1)
class Counter:
    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.total = 0

    def add(self, iteration: int) -> int:
        step = 10 * self.rank + iteration
        breakpoint()
        self.total += step
        return self.total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actors", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=3)
    options = parser.parse_args()
    ray.init()
    counters = [Counter.remote(rank) for rank in range(options.actors)]
    totals: list[int] = []
    for iteration in range(options.iterations):
        totals = ray.get([counter.add.remote(iteration) for counter in counters])
    print(f"result: {totals}")


if __name__ == "__main__":
    main()
