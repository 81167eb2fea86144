"""Two actors that wait for each other."""

import ray


@ray.remote(num_cpus=0.1)
class Left:
    def ask(self, right: "ray.actor.ActorHandle[Right]", left: "ray.actor.ActorHandle[Left]") -> int:
        return ray.get(right.answer.remote(left)) + 1

    def pull(self) -> int:
        return 0


@ray.remote(num_cpus=0.1)
class Right:
    def answer(self, left: "ray.actor.ActorHandle[Left]") -> int:
        return ray.get(left.pull.remote()) + 1


ray.init()
left, right = Left.remote(), Right.remote()
print(f"result: {ray.get(left.ask.remote(right, left))}")
