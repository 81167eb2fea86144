"""Workers of a playbook that are stopped, and who runs on."""

from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def stopped(play: Play, client: FakeClient, *keys: str) -> tuple[list[FakeWorker], list[int]]:
    """Workers that are attached and stopped, and the handles of their threads."""
    workers = play.attached(*keys)
    for worker in workers:
        worker.stop()
    return workers, [client.stop()["threadId"] for _ in workers]


def running(client: FakeClient) -> set[int]:
    """The threads of all `continued` that nobody has taken yet."""
    threads = set()
    while client.inbox:
        threads.add(client.event("continued")["threadId"])
    return threads
