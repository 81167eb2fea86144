"""Barriers in scripts of sessions: setting them, and workers that arrive."""

from typing import Any

from raydap.core.effects import AskActors
from raydap.core.events import ActorsListed
from raydap.core.process_info import ListedActor, RayFacts
from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play

TRAINER = RayFacts(task="Trainer.train", actor="Trainer", job="01")
PATH = "/app/train.py"


def set_barrier(client: FakeClient, terms: str | None = "all", **more: Any) -> dict[str, Any]:
    spec = {"line": 7, **({} if terms is None else {"hitCondition": terms}), **more}
    (breakpoint,) = client.request("setBreakpoints", source={"path": PATH}, breakpoints=[spec])["breakpoints"]
    while client.inbox:
        client.event("breakpoint")
    return breakpoint  # type: ignore[no-any-return]


def trainers(play: Play, count: int, facts: RayFacts = TRAINER) -> list[FakeWorker]:
    workers = [play.worker(f"w{number}", facts) for number in range(count)]
    play.paused(*workers)
    for client in play.clients.values():
        while client.inbox:
            client.event("breakpoint")
    return workers


def arrive(worker: FakeWorker, thread: int = 1, **body: Any) -> None:
    worker.stop(thread, hitBreakpointIds=[0], **body)


def listed(*workers: FakeWorker, starting: int = 0, actor: str = "Trainer") -> ActorsListed:
    alive = [ListedActor("01", actor, True, worker.row.node_id, worker.row.pid) for worker in workers]
    return ActorsListed((*alive, *[ListedActor("01", actor, False, "", 0)] * starting))


def answer(play: Play, *workers: FakeWorker, starting: int = 0) -> None:
    play.take(AskActors)
    play.feed(listed(*workers, starting=starting))


def shown(client: FakeClient) -> list[int]:
    """Take all events of the inbox, and return the threads of its `stopped` events."""
    events = [client.inbox.pop(0) for _ in list(client.inbox)]
    assert {each["event"] for each in events} <= {"stopped", "thread", "breakpoint"}
    return [each["body"]["threadId"] for each in events if each["event"] == "stopped"]


def ran_on(worker: FakeWorker) -> bool:
    """Return whether the bridge has resumed a thread of the worker since the last call."""
    heard, worker.heard = worker.heard, []
    return "threads.resume(" in str([each.get("arguments") for each in heard])
