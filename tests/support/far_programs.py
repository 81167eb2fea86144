"""Programs for a cluster of two machines; the resource `far` is on the other one."""

PROGRAM = """\
import multiprocessing
import ray

def child():
    return 1  # in a forked child

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
class Counter:
    def __init__(self):
        self.number = 7  # in __init__

    def get(self):
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        return self.number  # in a method

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def work():
    return "done"  # in a task

@ray.remote(num_cpus=0.1)
def near():
    return "near"  # beside raydap

if __name__ == "__main__":
    ray.init()
    counter = Counter.remote()
    values = ray.get([work.remote(), counter.get.remote(), near.remote()])
    print("result: " + str(values))  # in the driver
"""

RUNNING = """\
import os
import time
import ray

@ray.remote(num_cpus=0.1)
def work(number):
    return number * 2  # in a worker

ray.init()
print("running", flush=True)
total = 0
while not os.path.exists(os.path.join(os.path.dirname(__file__), "stop")):
    total += 1  # in the driver
    time.sleep(0.01)
print("result: " + str(ray.get(work.remote(21))))
"""

KILLED = """\
import os
import ray

@ray.remote(num_cpus=0.1)
def work(number):
    total = number + 1
    return total  # in a worker

ray.init()
totals = ray.get([work.options(resources=place).remote(1) for place in ({}, {"far": 0.1})])
for _ in range(5000):
    print("more than a pipe holds")
with open("writing", "w") as file:
    file.write(str(totals))
os.rename("writing", "done")
"""

PAUSED = """\
import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def pause():
    breakpoint()
    return "went on"

ray.init()
print("result: " + str(ray.get(pause.remote())))
"""

UNPREPARED = """\
import os
import subprocess
import sys
import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def loop():
    count = 0
    while count % 1000 or not os.path.exists(END):
        count += 1  # loop
    return subprocess.run([sys.executable, CHILD]).returncode

ray.init()
print("result: " + str(ray.get(loop.remote())))
"""

KEEPS = """\
import ctypes
import os
import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def keep(fifo):
    words = ["kept"]
    with open(fifo, "rb") as file:
        ctypes.PyDLL(None).read(file.fileno(), ctypes.create_string_buffer(9), 5)
    return words[0]

ray.init()
print("result: " + str(ray.get(keep.remote(FIFO))))
"""

DOCTORED = """\
import ray

@ray.remote(num_cpus=0.1, resources={"far": 0.1}, runtime_env={"env_vars": {"RAY_DEBUG": "yes"}})
class Trainer:
    def ready(self):
        return "ready"

@ray.remote(num_cpus=0.1, resources={"far": 0.1})
def collect():
    breakpoint()

ray.init()
trainer = Trainer.remote()
print(ray.get(trainer.ready.remote()), flush=True)
ray.get(collect.remote())
"""
