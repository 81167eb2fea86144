"""Two actors and a task; nothing in them pauses."""

import ray


@ray.remote(num_cpus=0.1)
class Planner:
    def plan(self, steps: int) -> list[int]:
        route = [10 * step for step in range(steps)]
        route.reverse()
        return route


@ray.remote(num_cpus=0.1)
def measure(routes: list[list[int]]) -> int:
    length = sum(map(sum, routes))
    return length


ray.init()
planners = [Planner.remote() for _ in range(2)]
routes = ray.get([planner.plan.remote(3) for planner in planners])
length = ray.get(measure.remote(routes))
print(f"result: {length}")
