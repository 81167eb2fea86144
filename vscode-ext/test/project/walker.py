"""An actor that never pauses by itself."""

import time

import ray


@ray.remote(num_cpus=0.1)
class Walker:
    def walk(self) -> None:
        while True:
            time.sleep(0.05)


ray.init()
ray.get(Walker.remote().walk.remote())
