"""Tasks in the forms that programs use, and functions that only the driver calls."""

import functools
import time

import ray
from ray import remote


@ray.remote
def square(x):  # runs in: task
    return helper(x) ** 2


def helper(x):  # runs in: task
    return x


@remote(num_cpus=0.5, max_retries=3)
def chunk(path):  # runs in: task
    def lines():  # runs in: task
        yield from open(path)

    return list(map(parse, lines()))


def parse(line):  # runs in: task
    return line.split()


def plain(x):  # runs in: task
    return x


def shared(x):  # runs in: task
    return x


gpu_task = ray.remote(num_gpus=1)


@gpu_task
def on_gpu(x):  # runs in: task
    return functools.reduce(add, [x])


def add(one, other):  # runs in: task
    return one + other


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        print(time.perf_counter() - self.start)


def progress(refs):
    while refs:
        done, refs = ray.wait(refs, num_returns=1)
        print(ray.get(done[0]))


def main():
    ray.init(num_cpus=4, ignore_reinit_error=True)
    with Timer():
        progress([square.remote(i) for i in range(10)])
    ray.get(ray.remote(plain).remote(1))
    remote_shared = ray.remote(shared)
    print(shared(1), ray.get(remote_shared.options(num_cpus=2).remote(2)), ray.get(on_gpu.remote(3)))
    input("Enter ends the program. ")


if __name__ == "__main__":
    main()
