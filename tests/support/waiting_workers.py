"""Waiting workers for raydap/waits, and Ray's reports about their tasks."""

import json
from typing import Any

from raydap.analysis.ray_state import RayState, RayTask
from raydap.core.process_info import RayFacts
from raydap.protocol.types import WorkerKey
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

RAY = "/venv/lib/python3.11/site-packages/ray/_private/worker.py"
DRIVER = {"worker_type": "DRIVER"}


def label(name: str, job: str = "01000000") -> RayFacts:
    actor = "" if name.startswith("driver") else name.rpartition(".")[0]
    return RayFacts(task=name, actor=actor, job=job)


def frame(name: str, line: int = 0, owner: int = 0) -> dict[str, Any]:
    return {"name": name, "path": "/app/train.py" if owner == 0 else RAY, "line": line, "owner": owner}


def thread(function: str, line: int, call: str = "ray.get", **more: Any) -> dict[str, Any]:
    """Return a worker's report about a thread that is blocked in a user's function. `more` replaces fields."""
    frames = [frame("get", owner=2)] * (call == "ray.get") + [frame(function, line), frame("main_loop", owner=2)]
    user = len(frames) - 2
    shown = {"name": "MainThread", "main": True, "activity": "blocked", "call": call, "frames": frames, "user": user}
    return {**shown, "is_users": True, "ident": 1, **more}


def objects(*tasks: str, **more: Any) -> dict[str, Any]:
    return {"kind": "objects", "tasks": tasks, **more}


def stacks(*threads: dict[str, Any]) -> str:
    return json.dumps({"cwd": "/app", "threads": threads})


def running(task: str, name: str, worker: str, actor: str = "", **more: Any) -> RayTask:
    return RayTask(task, name, "RUNNING", job="01000000", actor=actor, worker=WorkerKey(worker), **more)


def queued(task: str, name: str, worker: str, actor: str) -> RayTask:
    return RayTask(task, name, "SUBMITTED_TO_WORKER", job="01000000", actor=actor, worker=WorkerKey(worker))


class Hung:
    """A session with attached workers, each with its key."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.client: FakeClient = play.session()
        self.workers: dict[str, FakeWorker] = {}

    def add(self, key: str, name: str, *threads: dict[str, Any]) -> None:
        row = DRIVER if name.startswith("driver") else {}
        worker = self.workers[key] = self.play.worker(key, label(name), **row)
        worker.blocked = stacks(*threads)

    def begin(self, *states: RayState) -> None:
        self.play.ray_states = list(states)
        self.play.paused(*self.workers.values())
        self.client.inbox.clear()

    def ask(self, **arguments: Any) -> dict[str, Any]:
        answer = self.client.request("raydap/waits", **arguments)
        for node in answer["nodes"]:
            assert all(edge["node"] < len(answer["nodes"]) for edge in node["waits"])
        return answer

    def text(self, **arguments: Any) -> list[str]:
        return str(self.ask(**arguments)["text"]).splitlines()
