"""An actor that counts and never pauses by itself; the file `turns` has its count."""

import time
from pathlib import Path

import ray


@ray.remote(num_cpus=0.1)
class Counter:
    def count(self, progress: Path) -> None:
        turns = 0
        while True:
            turns += 1
            progress.write_text(str(turns))
            time.sleep(0.001)


ray.init()
ray.get(Counter.remote().count.remote(Path(__file__).with_name("turns")))
