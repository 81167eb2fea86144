"""`raydap hang` on real programs: what each worker waits for, and which workers are deadlocked."""

import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child, Cluster

from support.forked_command import forked_command
from support.tries import tries

HEAD = """\
import asyncio
import threading
import time
import ray

@ray.remote(num_cpus=0.1)
class Actor:
    def __init__(self):
        self.lock = threading.Lock()
    def meet(self, other):
        self.other = other
    def call(self):
        answer = ray.get(self.other.call_back.remote())
        return answer
    def call_back(self):
        answer = ray.get(self.other.nothing.remote())
        return answer
    def nothing(self):
        return None
    def call_itself(self, itself):
        answer = ray.get(itself.nothing.remote())
        return answer
    def keep(self):
        self.lock.acquire()
    def take(self):
        self.lock.acquire()

@ray.remote(num_cpus=0.1)
class Serve:
    async def ask(self, other):
        return await asyncio.gather(other.answer.remote(), self.inner(other))
    async def inner(self, other):
        return await other.answer.remote()
    async def answer(self):
        await asyncio.sleep(1000)
    async def block(self, itself):
        answer = ray.get(itself.answer.remote())
        return answer

@ray.remote(num_gpus=64)
def greedy():
    return None

ray.init()
"""

LOCK_AND_GREEDY = """\
actor = Actor.remote()
ray.get(actor.keep.remote())
answers = [actor.take.remote(), greedy.remote()]
print("waits", flush=True)
value = ray.get(answers)
"""

TWO_ACTORS = """\
first, second = Actor.remote(), Actor.remote()
ray.get([first.meet.remote(second), second.meet.remote(first)])
answer = first.call.remote()
print("waits", flush=True)
value = ray.get(answer)
"""

ITSELF_AND_LOOP = """\
actor, serve = Actor.remote(), Serve.remote()
answers = [actor.call_itself.remote(actor), serve.block.remote(serve)]
print("waits", flush=True)
value = ray.get(answers)
"""

COROUTINES = """\
first, second = Serve.remote(), Serve.remote()
answer = first.ask.remote(second)
print("waits", flush=True)
value = ray.get(answer)
"""


class Hang:
    """Programs that hang, and the output of `raydap hang` about them."""

    def __init__(self, cluster: Cluster, folder: Path, children: ExitStack) -> None:
        self.cluster = cluster
        self.folder = folder
        self.children = children

    def start(self, program: str, prepared: bool = True) -> None:
        path = self.folder / "train.py"
        path.write_text(HEAD + program)
        command = ["-m", "raydap", "run"] if prepared else []
        child = Child(
            [sys.executable, *command, str(path)], self.folder / "program.log", {"RAY_ADDRESS": self.cluster.address}
        )
        self.children.callback(child.end)
        child.wait_for("waits")

    def ask(self, *arguments: str) -> tuple[int, str]:
        """Return the exit code and the output, without what differs from run to run.

        Standard error has a line about the state before it, and a next command after it.
        """
        command = ["hang", "--dashboard", self.cluster.dashboard, *arguments]
        code, text = forked_command(command, self.folder / "hang.log")
        found = re.fullmatch(r"\d+ stopped.*\n((?s:.*))Next: raydap stacks --locals\n", text)
        assert found is not None, text
        return code, re.sub(r" \(pid \d+ on [\d.]+\)", "", found[1])

    def until(self, wanted: Callable[[int, str], Any], *arguments: str) -> tuple[int, str]:
        """Run the command until its result is as expected: workers need time, and Ray's list of tasks lags."""
        for _ in tries(90):
            code, text = self.ask(*arguments)
            if wanted(code, text):
                return code, text
        raise AssertionError((code, text))


@pytest.fixture
def hang(cluster: Cluster, tmp_path: Path, children: ExitStack) -> Hang:
    return Hang(cluster, tmp_path, children)


def line_of(code: str, program: str) -> int:
    (line,) = [number for number, each in enumerate((HEAD + program).splitlines(), 1) if code in each]
    return line


def place(code: str, program: str = "") -> str:
    return f"(train.py:{line_of(code, program)})"


DRIVER = "value = ray.get"


def test_a_lock_that_is_never_released_and_resources_that_no_node_has(hang: Hang) -> None:
    hang.start(LOCK_AND_GREEDY)
    at_lock = "        self.lock.acquire()\n\n@ray"
    line = (HEAD + LOCK_AND_GREEDY)[: (HEAD + LOCK_AND_GREEDY).index(at_lock)].count("\n") + 1
    code, text = hang.until(lambda code, text: "Actor · take: blocked" in text and "no node" in text)
    first, *others = text.splitlines()[:3]
    assert first == f"driver train.py: blocked in ray.get {place(DRIVER, LOCK_AND_GREEDY)}"
    assert sorted(each[3:] for each in others) == [
        f"Actor · take: blocked in self.lock.acquire (train.py:{line})",
        "greedy: pending: no node has {GPU: 64}",
    ]
    assert [each[:3] for each in others] == ["├─ ", "└─ "]
    assert code == 0


def test_two_actors_that_wait_for_each_other(hang: Hang) -> None:
    hang.start(TWO_ACTORS)
    _, text = hang.until(lambda code, text: code == 4)
    cycle = (
        rf"Deadlock:\n  Actor (\d) · call: blocked in ray.get \({re.escape(place('other.call_back')[1:])}\n"
        rf"  -> Actor (\d) · call_back: blocked in ray.get \({re.escape(place('other.nothing')[1:])}\n"
        r"  -> Actor.nothing: queued: Actor \1 is busy with call\n"
        r"  -> Actor \1 · call\n"
    )
    found = re.match(cycle.replace(r"\(\(", r"\("), text)
    assert found, text
    assert f"driver train.py: blocked in ray.get {place(DRIVER, TWO_ACTORS)}" in text
    answer = json.loads(hang.ask("--json")[1])
    (deadlock,) = answer["deadlocks"]
    assert (deadlock["certain"], len(deadlock["cycle"])) == (True, 3)


def test_an_actor_that_waits_for_itself_and_a_coroutine_that_blocks_its_event_loop(hang: Hang) -> None:
    hang.start(ITSELF_AND_LOOP)
    code, text = hang.until(lambda code, text: "Deadlock 2:" in text)
    itself = [
        f"  Actor · call_itself: blocked in ray.get {place('itself.nothing')}",
        "  -> Actor.nothing: queued: Actor is busy with call_itself",
        "  -> Actor · call_itself",
    ]
    loop = [
        f"  Serve · block: blocked in ray.get {place('itself.answer')}",
        "  -> Serve · answer: has begun, but its event loop is busy",
        "  -> its event loop: Serve · block",
    ]
    assert code == 4
    first, second = (each.splitlines() for each in text.split("\n\n")[:2])
    assert [first[0], second[0]] == ["Deadlock 1:", "Deadlock 2:"]
    assert sorted([first[1:], second[1:]]) == [itself, loop]


def test_coroutines_that_await_another_actor(hang: Hang) -> None:
    hang.start(COROUTINES)
    # Ray may list the tasks before it lists the workers of their actors.
    chain = r"\n└─ Serve \d · ask: blocked in .*\n   └─ Serve \d · answer: blocked in asyncio\.sleep"
    code, text = hang.until(lambda code, text: re.search(chain, text))
    lines = text.splitlines()
    assert lines[0] == f"driver train.py: blocked in ray.get {place(DRIVER, COROUTINES)}"
    assert re.fullmatch(r"└─ Serve \d · ask: blocked in asyncio\.gather \(train\.py:\d+\)", lines[1]), text
    assert re.fullmatch(r"   └─ Serve \d · answer: blocked in asyncio\.sleep \(train\.py:\d+\)", lines[2]), text
    assert code == 0


@pytest.mark.skipif(not os.access("/proc/self/mem", os.R_OK), reason="py-spy needs to read other processes")
def test_a_program_without_agents(hang: Hang) -> None:
    """py-spy shows that the workers wait, and Ray lists the tasks that they have started."""
    hang.start(TWO_ACTORS, prepared=False)
    _, text = hang.until(lambda code, text: code == 4)
    assert text.startswith("Probably a deadlock:\n")
    assert f"Actor 0 · call: blocked in ray.get {place('other.call_back')}" in text.replace("Actor 1", "Actor 0")
    assert f"driver train.py: blocked in ray.get {place(DRIVER, TWO_ACTORS)}" in text
