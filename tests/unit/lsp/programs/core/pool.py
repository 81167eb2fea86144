"""Ray's pool, beside that of the standard library and an executor."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

from ray.util.multiprocessing import Pool


def simulate(seed):  # runs in: pool
    return step(seed)


def step(seed):  # runs in: pool
    return seed


def local(seed):
    return seed


if __name__ == "__main__":
    with Pool(processes=4) as pool:
        print(pool.map(simulate, range(10)))
        pool.apply_async(simulate, (1,)).get()
    with multiprocessing.Pool() as processes:
        processes.map(local, range(3))
    with ThreadPoolExecutor() as threads:
        list(threads.map(local, range(3)))
