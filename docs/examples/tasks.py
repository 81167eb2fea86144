"""Plain tasks, one of which calls another, each with a breakpoint()."""

import ray


@ray.remote(num_cpus=0.1)
def square(number: int) -> int:
    result = number * number
    breakpoint()
    return result


@ray.remote(num_cpus=0.1)
def sum_of_squares(numbers: list[int]) -> int:
    squares = ray.get([square.remote(number) for number in numbers])
    total: int = sum(squares)
    breakpoint()
    return total


if __name__ == "__main__":
    ray.init()
    print(f"result: {ray.get(sum_of_squares.remote([1, 2, 3]))}")
