"""Running workers that are reached through agents, compared with paused workers behind debugpy's adapter.

One job runs with agents and one without, on the same cluster. The same client sends the same requests to the same
raydap.
"""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_cluster import Child, Cluster

from bench.connection import Connection, Message, milliseconds
from bench.report import Row, against, p50, within
from bench.stepping import HUMAN, Side
from support import processes
from support.bridge import Bridge

RUNNING = """
import os, sys, time, ray

def tick(total):
    half = total // 2
    rest = total - half
    return half + rest + 1  # here

@ray.remote(num_cpus=0.1)
class Actor:
    def pid(self):
        return os.getpid()

    def work(self):
        total = 0
        while True:
            total = tick(total)
            time.sleep(0.01)

ray.init(log_to_driver=False)
actors = [Actor.remote() for _ in range(int(sys.argv[1]))]
print("running", *ray.get([actor.pid.remote() for actor in actors]), flush=True)
ray.get([actor.work.remote() for actor in actors])
"""

PAUSED = RUNNING.replace("    half = ", "    breakpoint()\n    half = ", 1)

STEPPED = (
    """
import time, ray

@ray.remote(num_cpus=0.1)
class Actor:
    def work(self):
        total = 0
        while True:
            time.sleep(0.01)
            total = 1  # here
"""
    + 30 * "            total += 1\n"
    + """
ray.init(log_to_driver=False)
actor = Actor.remote()
print("running", flush=True)
ray.get(actor.work.remote())
"""
)

BUSY = """
import sys, time, ray

def called(number):
    return number + 1

def elsewhere():
    return 0  # elsewhere

@ray.remote(num_cpus=0)
def nothing():
    pass

@ray.remote(num_cpus=0.1)
class Actor:
    def spin(self):
        total = 0
        while True:
            total = called(total)  # hot

    def measure(self):
        began = time.thread_time()
        total = 0
        for number in range(1_000_000):
            total += number * number % 7
        numeric = time.thread_time()
        for number in range(300_000):
            called(number)
        calls = time.thread_time()
        refs = [nothing.remote() for _ in range(200)]
        submitted = time.thread_time()
        ray.get(refs)
        return numeric - began, calls - numeric, submitted - calls

ray.init(log_to_driver=False)
actor = Actor.remote()
ray.get(actor.measure.remote())
print("running", flush=True)
if sys.argv[1] == "spin":
    ray.get(actor.spin.remote())
while True:
    # A reader gets a number whose measurement began after the read.
    print("took", *ray.get(actor.measure.remote()), flush=True)
"""

STARTED = """
import os, sys, time, ray

@ray.remote(num_cpus=0.1)
class Actor:
    def pid(self):
        return os.getpid()

ray.init(log_to_driver=False, runtime_env={"env_vars": {"ANY": "runtime_env"}})
actors, times = [], []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    actors.append(Actor.remote())
    ray.get(actors[-1].pid.remote())
    times.append(time.perf_counter() - began)
print("running", *ray.get([actor.pid.remote() for actor in actors]), flush=True)
print("took", *times, flush=True)
time.sleep(1000)
"""

REST = 3.0
"""Seconds between two sessions with the same workers (bench/cluster.py)."""


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    workers, repeats, many = (6, 1, 5) if quick else (24, 5, 20)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(num_cpus=8))
        bridge = Bridge.start(directory / "bridge-agents.log")
        stack.callback(bridge.end)
        bench = Bench(bridge, cluster, directory)
        yield from bench.prepared(repeats)
        yield from bench.many(workers, repeats)
        yield from bench.stepped(many)
        yield from bench.hot(many)
        yield from bench.first(repeats)
        yield from bench.slowdown(many)


@dataclass
class Bench:
    bridge: Bridge
    cluster: Cluster
    directory: Path

    def prepared(self, repeats: int) -> Iterator[Row]:
        """Measure the cost of unused agents, in a job with any runtime_env, alternately without raydap and with it."""
        starts: dict[bool, list[float]] = {False: [], True: []}
        memory: dict[bool, list[float]] = {False: [], True: []}
        for agents in (False, True) * 2 * repeats:
            with self._job(STARTED, "4", agents=agents) as job:
                starts[agents] += [float(took) * 1000 for took in job.wait_for(r"took (.*)").group(1).split()]
                pids = [int(pid) for pid in job.wait_for(r"running (.*)").group(1).split()]
                memory[agents] += [_memory([pid]) / 1e6 for pid in pids]
        yield against("start of an actor, prepared and not debugged", starts[False], starts[True], factor=1)
        what = "memory of a worker, prepared and not debugged"
        yield Row(what, "MB", memory[True], memory[False], "<= direct + 1 MB", p50(memory[False]) + 1)

    def many(self, count: int, repeats: int) -> Iterator[Row]:
        """Measure the time from the connection until all workers have stopped, and the memory.

        Without agents, workers wait at their breakpoint(); with agents, they stop wherever they are running. The client
        sets the same breakpoint in both cases. A worker imports debugpy once: at its first breakpoint(), or at the
        first attach.
        """
        first: dict[bool, list[float]] = {False: [], True: []}
        again: dict[bool, list[float]] = {False: [], True: []}
        memory: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(repeats):
            for agents in (False, True):
                taken, more, kilobytes = self._many_once(count, agents)
                first[agents].append(taken)
                again[agents].append(more)
                memory[agents].append(kilobytes)
        yield against(f"{count} workers: from running until all are stopped", first[False], first[True], factor=1)
        yield against(f"{count} workers: attach again, all stopped", again[False], again[True], factor=1)
        yield Row(
            "memory of a debugged worker and its adapter",
            "MB",
            memory[True],
            memory[False],
            "<= direct - 10 MB",
            p50(memory[False]) - 10,
        )

    def _many_once(self, count: int, agents: bool) -> tuple[float, float, float]:
        """Return the ms until all have stopped, in a first and in a second session, and the MB that a worker grew."""
        with self._job(RUNNING if agents else PAUSED, str(count), agents=agents) as job:
            pids = [int(pid) for pid in job.wait_for(r"running (.*)").group(1).split()]
            before = _memory(pids)
            began = time.perf_counter()
            with self._client("# here", agents) as client:
                client.take("stopped", count)
                taken = milliseconds(began)
                grown = (_memory(pids) - before) / count
                client.leave()
            time.sleep(REST)
            began = time.perf_counter()
            with self._client("# here", agents) as client:
                client.take("stopped", count)
                again = milliseconds(began)
                client.leave()
        return taken, again, grown / 1e6

    def stepped(self, count: int) -> Iterator[Row]:
        """Measure steps through the lines of a function, with some time before each step."""
        samples = {}
        for agents, source in ((True, STEPPED), (False, STEPPED.replace("total = 1  # here", "breakpoint()"))):
            with self._job(source, "", agents=agents) as job:
                job.wait_for("running")
                with self._client("# here" if agents else "", agents) as client:
                    side = Side(client, client.event("stopped")["threadId"])
                    side.step_and_refresh("next")
                    samples[agents] = [_slowly(side) for _ in range(count)]
                    client.leave()
        yield against("next + refresh, human pace", samples[False], samples[True], factor=1)

    def hot(self, count: int) -> Iterator[Row]:
        """Measure an attached worker that computes: a breakpoint set in its loop, and a pause."""
        with self._job(BUSY, "spin") as job:
            job.wait_for("running")
            with self._client("# elsewhere") as client:
                _wait_until_attached(client)
                hits, pauses = [], []
                for _ in range(count):
                    began = time.perf_counter()
                    self._set(client, "# hot")
                    stop = client.event("stopped")
                    hits.append(milliseconds(began))
                    self._set(client, "# elsewhere")
                    client.request("continue", threadId=stop["threadId"])
                    time.sleep(HUMAN)
                    began = time.perf_counter()
                    client.send("pause", {"threadId": 0})
                    stop = client.event("stopped")
                    pauses.append(milliseconds(began))
                    client.request("continue", threadId=stop["threadId"])
                    time.sleep(HUMAN)
                client.leave()
        yield within("breakpoint set in a hot loop until stopped", hits, 100, "ms")
        yield within("pause of running Python until stopped", pauses, 200, "ms")

    def first(self, count: int) -> Iterator[Row]:
        """Measure a worker that computes and was never debugged, from the connection until it has stopped."""
        samples = []
        for _ in range(count):
            with self._job(BUSY, "spin") as job:
                job.wait_for("running")
                began = time.perf_counter()
                with self._client("# hot") as client:
                    client.event("stopped")
                    samples.append(milliseconds(began))
                    client.leave()
        yield within("first attach to a worker that computes, stopped", samples, 1000, "ms")

    def slowdown(self, count: int) -> Iterator[Row]:
        """Measure how much slower code becomes while another line has a breakpoint, and after detach.

        The best times are compared, because others differ by a quarter on a virtual machine.
        """
        with self._job(BUSY, "measure") as job:
            plain = _took(job, count)
            with self._client("# elsewhere") as client:
                _wait_until_attached(client)
                attached = _took(job, count)
                client.leave()
            after = _took(job, count)
        for place, what in enumerate(("numeric loop", "calls", "calls of tasks by .remote()")):
            for when, samples, allowed in (("attached", attached, None), ("after detach", after, 1.02)):
                ratio = min(each[place] for each in samples) / min(each[place] for each in plain)
                target = "" if allowed is None else f"<= {allowed:g}"
                yield Row(f"{what}, {when}: time beside undebugged", "x", [ratio], target=target, allowed=allowed)

    def _job(self, source: str, argument: str, agents: bool = True) -> Child:
        program = self.directory / "running.py"
        program.write_text(source)
        run = ["-m", "raydap", "run"] if agents else []
        environment = {"RAY_ADDRESS": self.cluster.address}
        return Child([sys.executable, *run, str(program), argument], self.directory / "job.log", environment)

    @contextlib.contextmanager
    def _client(self, text: str, agents: bool = True) -> Iterator[Connection]:
        """Start a session for the workers of the job, with a breakpoint in the line that ends with the text, if any."""
        arguments: dict[str, Any] = {"dashboard": self.cluster.dashboard, "justMyCode": False}
        arguments["reach"] = "prepared" if agents else "paused"
        with Connection(self.bridge.host, self.bridge.port) as client:
            client.start(arguments, breakpoints=self._lines(text) if text else None)
            yield client

    def _set(self, client: Connection, text: str) -> None:
        client.request("setBreakpoints", **self._lines(text))

    def _lines(self, text: str) -> Message:
        program = self.directory / "running.py"
        lines = program.read_text().splitlines()
        line = next(number for number, line in enumerate(lines, 1) if line.endswith(text))
        return {"source": {"path": str(program)}, "breakpoints": [{"line": line}]}


def _memory(pids: Iterable[int]) -> int:
    """Return the bytes of these processes and all adapters, with shared pages divided (proc(5), smaps_rollup)."""
    adapters = [pid for pid in processes.marked() if b"debugpy/adapter" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    total = 0
    for pid in {*pids, *adapters}:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total * 1024


def _wait_until_attached(client: Connection) -> None:
    """Wait until the actor is attached. The driver has the same file and is attached first."""
    while not any(
        (worker["type"], worker["state"]) == ("worker", "running")
        for worker in client.request("raydap/workers", all=True)["workers"]
    ):
        time.sleep(0.01)


def _slowly(side: Side) -> float:
    time.sleep(HUMAN)
    return side.step_and_refresh("next")


def _took(job: Child, count: int) -> list[tuple[float, ...]]:
    """Return the seconds of this many measurements that began after this call."""
    seen = job.output.count("took")
    job.wait_for(rf"(?:took (?:.*\n)[^t]*){{{seen + count + 1}}}")
    lines = [line.split() for line in job.output.splitlines() if line.startswith("took")]
    return [tuple(map(float, line[1:])) for line in lines[seen + 1 : seen + 1 + count]]
