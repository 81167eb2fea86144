"""A task that pauses once."""

import ray


@ray.remote(num_cpus=0.1)
def square(number: int) -> int:
    breakpoint()
    return number**2


ray.init()
print(f"result: {ray.get(square.remote(7))}")
