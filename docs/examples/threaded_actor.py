"""A threaded actor: three calls wait for each other in three threads, then all stop in one process."""

import threading

import ray


@ray.remote(num_cpus=0.1, max_concurrency=3)
class Pool:
    def __init__(self) -> None:
        self.all_here = threading.Barrier(3)

    def work(self, part: int) -> int:
        self.all_here.wait()
        done = part * 100
        breakpoint()
        return done


if __name__ == "__main__":
    ray.init()
    pool = Pool.remote()
    print(f"result: {ray.get([pool.work.remote(part) for part in range(3)])}")
