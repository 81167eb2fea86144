"""`raydap hang` on real programs: what each worker waits for, and who can never go on."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from local_cluster import Child, Cluster, clean_environment

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

LOCK = """\
actor = Actor.remote()
ray.get(actor.keep.remote())
answers = [actor.take.remote()]
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

ITSELF = """\
actor = Actor.remote()
answer = actor.call_itself.remote(actor)
print("waits", flush=True)
value = ray.get(answer)
"""

COROUTINES = """\
first, second = Serve.remote(), Serve.remote()
answer = first.ask.remote(second)
print("waits", flush=True)
value = ray.get(answer)
"""

LOOP = """\
actor = Serve.remote()
answer = actor.block.remote(actor)
print("waits", flush=True)
value = ray.get(answer)
"""

GREEDY = """\
answer = greedy.remote()
print("waits", flush=True)
value = ray.get(answer)
"""


class Hang:
    """Programs that hang, and what `raydap hang` says of them."""

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
        """The exit code and the output, without what differs from run to run."""
        command = [sys.executable, "-m", "raydap", "hang", "--dashboard", self.cluster.dashboard, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=clean_environment({}))
        assert not done.stderr, done.stderr
        return done.returncode, re.sub(r" \(pid \d+ on [\d.]+\)", "", done.stdout)

    def until(self, wanted: Callable[[int, str], Any], *arguments: str) -> str:
        """Asks until it says this; Ray's list of tasks is late, and workers need time to get there."""
        deadline = time.monotonic() + 90
        while True:
            code, text = self.ask(*arguments)
            if wanted(code, text):
                return text
            assert time.monotonic() < deadline, (code, text)


@pytest.fixture
def hang(cluster: Cluster, tmp_path: Path, children: ExitStack) -> Hang:
    return Hang(cluster, tmp_path, children)


def line_of(code: str, program: str) -> int:
    (line,) = [number for number, each in enumerate((HEAD + program).splitlines(), 1) if code in each]
    return line


def place(code: str, program: str = "") -> str:
    return f"(train.py:{line_of(code, program)})"


DRIVER = "value = ray.get"


def test_a_lock_that_is_never_released(hang: Hang) -> None:
    hang.start(LOCK)
    at_lock = "        self.lock.acquire()\n\n@ray"
    line = (HEAD + LOCK)[: (HEAD + LOCK).index(at_lock)].count("\n") + 1
    text = hang.until(lambda code, text: "Actor.take: blocked" in text)
    assert text.splitlines()[:2] == [
        f"driver train.py: blocked in ray.get {place(DRIVER, LOCK)}",
        f"└─ Actor.take: blocked in self.lock.acquire (train.py:{line})",
    ]
    assert hang.ask()[0] == 0


def test_two_actors_that_wait_for_each_other(hang: Hang) -> None:
    hang.start(TWO_ACTORS)
    text = hang.until(lambda code, text: code == 4)
    cycle = (
        rf"Deadlock:\n  Actor\{{(\d)\}}.call: blocked in ray.get \({re.escape(place('other.call_back')[1:])}\n"
        rf"  -> Actor\{{(\d)\}}.call_back: blocked in ray.get \({re.escape(place('other.nothing')[1:])}\n"
        r"  -> Actor.nothing: queued: Actor\{\1\} is busy with call\n"
        r"  -> Actor\{\1\}.call\n"
    )
    found = re.match(cycle.replace(r"\(\(", r"\("), text)
    assert found, text
    assert f"driver train.py: blocked in ray.get {place(DRIVER, TWO_ACTORS)}" in text
    answer = json.loads(hang.ask("--json")[1])
    (deadlock,) = answer["deadlocks"]
    assert (deadlock["certain"], len(deadlock["cycle"])) == (True, 3)


def test_an_actor_that_waits_for_itself(hang: Hang) -> None:
    hang.start(ITSELF)
    text = hang.until(lambda code, text: code == 4)
    assert text.splitlines()[:4] == [
        "Deadlock:",
        f"  Actor.call_itself: blocked in ray.get {place('itself.nothing')}",
        "  -> Actor.nothing: queued: Actor is busy with call_itself",
        "  -> Actor.call_itself",
    ]


def test_coroutines_that_await_another_actor(hang: Hang) -> None:
    hang.start(COROUTINES)
    text = hang.until(lambda code, text: re.search(r"─ Serve\{\d\}\.answer: blocked in asyncio\.sleep", text))
    lines = text.splitlines()
    assert lines[0] == f"driver train.py: blocked in ray.get {place(DRIVER, COROUTINES)}"
    assert re.fullmatch(r"└─ Serve\{\d\}\.ask: blocked in asyncio\.gather \(train\.py:\d+\)", lines[1]), text
    assert re.fullmatch(r"   └─ Serve\{\d\}\.answer: blocked in asyncio\.sleep \(train\.py:\d+\)", lines[2]), text
    assert hang.ask()[0] == 0


def test_a_coroutine_that_blocks_its_event_loop(hang: Hang) -> None:
    hang.start(LOOP)
    text = hang.until(lambda code, text: code == 4)
    assert text.splitlines()[:4] == [
        "Deadlock:",
        f"  Serve.block: blocked in ray.get {place('itself.answer')}",
        "  -> Serve.answer: has begun, but its event loop is busy",
        "  -> its event loop: Serve.block",
    ]


def test_resources_that_nobody_has(hang: Hang) -> None:
    hang.start(GREEDY)
    text = hang.until(lambda code, text: "greedy" in text and "no node" in text)
    assert text.splitlines()[:2] == [
        f"driver train.py: blocked in ray.get {place(DRIVER, GREEDY)}",
        "└─ greedy: pending: no node has {GPU: 64}",
    ]
    assert hang.ask()[0] == 0


@pytest.mark.skipif(not os.access("/proc/self/mem", os.R_OK), reason="py-spy needs to read other processes")
def test_a_program_without_agents(hang: Hang) -> None:
    """py-spy sees that they wait, and Ray says which tasks they have begun."""
    hang.start(TWO_ACTORS, prepared=False)
    text = hang.until(lambda code, text: code == 4)
    assert text.startswith("Probably a deadlock:\n")
    assert f"Actor{{0}}.call: blocked in ray.get {place('other.call_back')}" in text.replace("{1}", "{0}")
    assert f"driver train.py: blocked in ray.get {place(DRIVER, TWO_ACTORS)}" in text
