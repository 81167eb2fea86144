"""Three actors that meet at a line. The first of them comes when there is a file `go`, or its folder is gone."""

import pathlib
import time

import ray

GO = pathlib.Path(__file__).parent / "go"


@ray.remote(num_cpus=0.1)
class Walker:
    def __init__(self, rank: int) -> None:
        self.rank = rank

    def meet(self) -> int:
        while self.rank == 0 and GO.parent.exists() and not GO.exists():
            time.sleep(0.1)
        return self.rank


ray.init()
walkers = [Walker.remote(rank) for rank in range(3)]
print(f"result: {ray.get([walker.meet.remote() for walker in walkers])}")
