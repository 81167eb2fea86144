"""A task and an actor that raise: with RAY_DEBUG_POST_MORTEM=1 Ray stops where the error was raised.

The client must have set the exception filter `uncaught`. Without it, debugpy does not stop the worker.
"""

import ray

POST_MORTEM = {"env_vars": {"RAY_DEBUG_POST_MORTEM": "1"}}


def head(values: list[int]) -> int:
    return values[0]


@ray.remote(num_cpus=0.1, max_retries=0, runtime_env=POST_MORTEM)
def first(values: list[int]) -> int:
    return head(values)


@ray.remote(num_cpus=0.1, runtime_env=POST_MORTEM)
class Shop:
    def price(self, article: str) -> int:
        prices = {"apple": 3}
        return prices[article]


if __name__ == "__main__":
    ray.init()
    failures = []
    shop = Shop.remote()  # Older versions of Ray end an actor that has no handle left.
    for call in (first.remote([]), shop.price.remote("pear")):
        try:
            ray.get(call)
        except ray.exceptions.RayTaskError as error:
            failures.append(type(error.cause).__name__)
    print(f"result: {failures}")
