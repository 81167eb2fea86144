"""Threads of all kinds of actors, stopped, inspected, stepped, cancelled, continued and paused in random order.

Each stop is seen once, each value or its error arrives, and each call ends. A failure names its seed.
"""

import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from dap_client import Client, RequestFailed
from local_cluster import Cluster

from support.launched import start
from support.look import bodies, evaluate, frames, go_on, local_variables, user_frames

TURNS = 3

WAIT_S = 0.02
"""Seconds to wait for another stop before the user's next action."""

HANG_S = 120
"""Seconds without a stop and without the end of the program after which the test fails."""

SOURCE = """\
import asyncio
import os
import threading

os.environ.update(RAY_CGRAPH_get_timeout="600", RAY_CGRAPH_submit_timeout="600")  # A stop can take longer than 10 s.
import ray
from ray.dag import InputNode

TURNS = 3

def turns(call):
    for turn in range(TURNS):
        seen = call, turn  # a stop of a function
        left = TURNS - turn

@ray.remote(num_cpus=0.1, max_concurrency=3)
class Threaded:
    def work(self, call):
        turns(call)
        return call

@ray.remote(num_cpus=0.1, concurrency_groups={"io": 2, "other": 1})
class Grouped:
    @ray.method(concurrency_group="io")
    def read(self, call):
        turns(call)
        return call

    @ray.method(concurrency_group="other")
    def write(self, call):
        turns(call)
        return call

@ray.remote(num_cpus=0.1)
class Asynchronous:
    async def work(self, call):
        for turn in range(TURNS):
            seen = call, turn  # a stop of a coroutine
            left = TURNS - turn
            await asyncio.sleep(0)
        return call

@ray.remote(num_cpus=0.1)
class Streaming:
    def work(self, call):
        for turn in range(TURNS):
            seen = call, turn  # a stop of a generator
            left = TURNS - turn
            yield turn

@ray.remote(num_cpus=0.1)
class Own:
    def work(self, call):
        thread = threading.Thread(target=turns, args=[call])
        thread.start()
        turns(call + 1)
        thread.join()
        return call

@ray.remote(num_cpus=0.1)
class Compiled:
    def work(self, call):
        turns(call)
        return call

def result(ref):
    try:
        return ray.get(ref)
    except Exception as error:
        return "cancelled" if "Cancelled" in type(error).__name__ else repr(error)

if __name__ == "__main__":
    ray.init()
    threaded, grouped, asynchronous = Threaded.remote(), Grouped.remote(), Asynchronous.remote()
    streaming, own, compiled = Streaming.remote(), Own.remote(), Compiled.remote()
    refs = [threaded.work.remote(call) for call in range(100, 104)]
    refs += [grouped.read.remote(200), grouped.read.remote(201), grouped.write.remote(202)]
    refs += [asynchronous.work.remote(call) for call in range(300, 304)]
    stream = streaming.work.options(num_returns="streaming").remote(400)
    refs.append(own.work.remote(500))
    with InputNode() as given:
        graph = compiled.work.bind(given).experimental_compile()
    refs.append(graph.execute(600))
    print("result: " + str([result(ref) for ref in refs] + [[ray.get(each) for each in stream]]), flush=True)
    graph.teardown()
"""

CALLS = [*range(100, 104), *range(200, 203), *range(300, 304), 400, 500, 501, 600]


class User:
    """A user who keeps some threads stopped, and performs a random action in a random one of them."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client = client
        self.random = random.Random(seed)
        self.held: list[dict[str, Any]] = []
        self.seen: Counter[tuple[int, int]] = Counter()
        self.paused: set[tuple[int, int]] = set()
        self.cancelled: dict[int, int] = {}

    def stopped(self, stop: dict[str, Any]) -> None:
        assert stop["threadId"] not in [each["threadId"] for each in self.held]
        if stop["reason"] != "pause":
            self.seen[self.place(stop)] += 1
        elif self.is_at_breakpoint(stop):
            # The thread is where it was continued, or has just arrived there: it does not stop there again.
            self.paused.add(self.place(stop))
        else:
            self.leave(stop)
            return
        self.held.append(stop)

    def leave(self, stop: dict[str, Any]) -> None:
        """Continue a thread that was paused outside the program. If it was blocked, it may have ended meanwhile."""
        try:
            go_on(self.client, stop)
        except RequestFailed:
            assert {"reason": "exited", "threadId": stop["threadId"]} in bodies(self.client, "thread")

    def place(self, stop: dict[str, Any]) -> tuple[int, int]:
        """Return the call and its turn."""
        values = local_variables(self.client, stop)
        return int(values["call"]), int(values["turn"])

    def act(self) -> None:
        stop = self.random.choice(self.held)
        action: Callable[[dict[str, Any]], None] = self.random.choice(
            [self.look, self.look, self.fail, self.step, self.cancel, self.resume, self.pause]
        )
        action(stop)

    def look(self, stop: dict[str, Any]) -> None:
        values = local_variables(self.client, stop)
        assert evaluate(self.client, stop, "(call, turn)") == f"({values['call']}, {values['turn']})"

    def fail(self, stop: dict[str, Any]) -> None:
        with pytest.raises(RequestFailed, match="ZeroDivisionError"):
            evaluate(self.client, stop, "call / 0")

    def step(self, stop: dict[str, Any]) -> None:
        line = user_frames(self.client, stop)[0]["line"]
        if not self.is_at_breakpoint(stop):
            return
        self.client.request("next", threadId=stop["threadId"])
        thread = stop["threadId"]
        stepped = self.client.wait_event("stopped", lambda body: body["threadId"] == thread)
        assert stepped["reason"] == "step"
        assert user_frames(self.client, stepped)[0]["line"] == line + 1

    def cancel(self, stop: dict[str, Any]) -> None:
        if user_frames(self.client, stop)[0]["line"] and "left" in local_variables(self.client, stop):
            return  # Cancel only in the first turn, so that the call has a turn left.
        call = int(local_variables(self.client, stop)["call"])
        if 300 <= call < 400 and call not in self.cancelled:
            assert evaluate(self.client, stop, "asyncio.current_task().cancel()") == "True"
            self.cancelled[call] = int(local_variables(self.client, stop)["turn"])

    def resume(self, stop: dict[str, Any]) -> None:
        self.held.remove(stop)
        go_on(self.client, stop)

    def pause(self, stop: dict[str, Any]) -> None:
        """Continue the thread, and pause it while it runs, waits or ends."""
        self.resume(stop)
        with suppress(RequestFailed):
            self.client.request("pause", threadId=stop["threadId"])

    def is_at_breakpoint(self, stop: dict[str, Any]) -> bool:
        lines = [number for number, line in enumerate(SOURCE.splitlines(), 1) if "# a stop of" in line]
        (frame, *_) = frames(self.client, stop) or [{}]
        return frame.get("line") in lines and frame["source"]["path"].endswith("/program.py")

    def play(self) -> None:
        """Act until the program has ended."""
        waits = 0
        while not bodies(self.client, "exited"):
            try:
                # Some threads wait for stopped ones.
                self.stopped(self.client.wait_event("stopped", timeout=WAIT_S))
                waits = 0
            except TimeoutError:
                waits += not self.held
                assert waits * WAIT_S < HANG_S, f"no stop and no end after {self.seen}"
            if self.held:
                self.act()


@pytest.mark.core
@pytest.mark.parametrize("seed", [1])
def test_each_stop_is_seen_once_and_each_call_ends(client: Client, cluster: Cluster, tmp_path: Path, seed: int) -> None:
    start(
        client, cluster, tmp_path, SOURCE, *(f"# a stop of a {kind}" for kind in ("function", "coroutine", "generator"))
    )
    user = User(client, seed)
    user.play()
    expected = {(call, turn): 1 for call in CALLS for turn in range(TURNS)}
    for call, last in user.cancelled.items():
        for turn in range(last + 1, TURNS):
            del expected[call, turn]
    assert {**dict.fromkeys(user.paused, 1), **user.seen} == expected
    output = "".join(body["output"] for body in bodies(client, "output"))
    (shown,) = re.findall(r"result: (.*\]\])", output)
    wanted: list[Any] = [*range(100, 104), *range(200, 203)]
    wanted += ["cancelled" if call in user.cancelled else call for call in range(300, 304)]
    assert shown == str([*wanted, 500, 600, [0, 1, 2]])
