"""Breakpoints change while a hundred workers start and run. All end up with exactly the client's breakpoints."""

from typing import Any

from raydap.core.effects import StopDiscovery
from support.fake_worker import FakeWorker
from support.playbook import Play

PATHS = ("/app/a.py", "/app/b.py")


def final_state(worker: FakeWorker) -> dict[str, list[int]]:
    """Return the lines where debugpy would stop. Each request replaces the breakpoints of its source."""
    state: dict[str, list[int]] = {}
    for message in worker.heard:
        if message["command"] == "setBreakpoints":
            arguments: dict[str, Any] = message["arguments"]
            state[arguments["source"]["path"]] = [spec["line"] for spec in arguments["breakpoints"]]
    return {path: lines for path, lines in state.items() if lines}


def test_none_is_left_in_any_worker(play: Play) -> None:
    client = play.session()
    workers = [play.worker(f"w{number}") for number in range(100)]
    steps = ["", "dial", "initialized", "setBreakpoints", "attach"]
    for number, worker in enumerate(workers):
        worker.hold = {steps[number % len(steps)]}
    play.paused(*workers)

    def set_lines(path: str, *lines: int) -> None:
        client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": line} for line in lines])

    set_lines(PATHS[0], 1, 2, 3)
    set_lines(PATHS[1], 7)
    for worker in workers[::3]:
        worker.release()
    set_lines(PATHS[0], 2)
    set_lines(PATHS[1])
    for worker in workers:
        worker.release()
    set_lines(PATHS[1], 8, 9)
    assert [final_state(worker) for worker in workers] == [{PATHS[0]: [2], PATHS[1]: [8, 9]}] * len(workers)
    set_lines(PATHS[0])
    set_lines(PATHS[1])
    assert [final_state(worker) for worker in workers] == [{}] * len(workers)
    client.inbox.clear()
    assert all(worker.complete for worker in workers)
    client.hang_up()
    play.take(StopDiscovery)
