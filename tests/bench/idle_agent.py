"""The cost of an idle agent: for a process and for each Python that it starts, compared with the same without an agent.

Each sample of processor time is that of a process and its children, so the load of the machine counts little.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from local_cluster import clean_environment

from bench.report import Row, against, p50, within
from raydap.runtime import prepared_environment
from support.agents import raydap_that_debugs_nothing

MEASURED = """\
import json, os, resource, subprocess, sys, time

def used():
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(who.ru_utime + who.ru_stime for who in each) * 1000

def sampled(act):
    samples = []
    for _ in range(int(sys.argv[1])):
        began = used()
        act()
        samples.append(used() - began)
    return samples

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

def private():
    with open("/proc/self/smaps_rollup") as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith("Private_")) / 1000

def wakes():
    total = 0
    for thread in set(os.listdir("/proc/self/task")) - {str(os.getpid())}:
        with open(f"/proc/self/task/{thread}/status") as status:
            total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total

def idle():
    before = wakes()
    time.sleep(float(sys.argv[2]))
    return wakes() - before

memory = private()
subprocess.run([sys.executable, "-c", "pass"])
print(json.dumps({
    "memory": [memory],
    "wakes": [idle()],
    "python": sampled(lambda: subprocess.run([sys.executable, "-c", "pass"])),
    "fork": sampled(fork),
}))
"""


def measure(directory: Path, quick: bool) -> Iterator[Row]:
    """Measure without a raydap (`idle`), and with one that debugs nothing, which new processes call (`called`)."""
    folder = directory / "agents"
    folder.mkdir()
    raydap = str(folder / "raydap")
    environments = {
        "without": {},
        "idle": prepared_environment.driver({}, "", str(folder)),
        "called": prepared_environment.driver({}, raydap, str(folder)),
    }
    repeats, count, seconds = (2, "10", "1") if quick else (5, "20", "5")
    samples: dict[str, dict[str, list[float]]] = {}
    with raydap_that_debugs_nothing(raydap):
        for _ in range(repeats):
            for name, added in environments.items():
                for what, values in _sampled(added, count, seconds).items():
                    samples.setdefault(name, {}).setdefault(what, []).extend(values)
    without, idle, called = (samples[name] for name in environments)
    yield _beside("a child Python, processor time", without["python"], idle["python"], "ms", 5)
    yield _beside("a child Python that calls raydap, processor time", without["python"], called["python"], "ms", 5)
    yield against("a fork and its child, processor time", without["fork"], idle["fork"], factor=1)
    yield against("a fork and its child that calls raydap, processor time", without["fork"], called["fork"], factor=1)
    yield _beside("memory of a Python with an idle agent", without["memory"], idle["memory"], "MB", 1)
    yield within("wake-ups of an idle agent", idle["wakes"], 0, f"in {seconds} s")


def _beside(name: str, without: list[float], agent: list[float], unit: str, extra: float) -> Row:
    """Return a row whose target is the value without an agent, plus `extra`."""
    return Row(name, unit, agent, without, f"<= without + {extra:g} {unit}", p50(without) + extra)


def _sampled(added: dict[str, str], *arguments: str) -> dict[str, list[float]]:
    command = [sys.executable, "-c", MEASURED, *arguments]
    done = subprocess.run(command, env=clean_environment(added), check=True, stdout=subprocess.PIPE)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found
