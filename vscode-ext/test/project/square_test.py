"""A test of a task that pauses."""

import ray


@ray.remote(num_cpus=0.1)
def square(number: int) -> int:
    breakpoint()
    return number * number


def test_square() -> None:
    assert ray.get(square.remote(7)) == 49
