"""Stopped workers in scripts of sessions, and the threads that continue."""

from support.fake_client import FakeClient
from support.fake_worker import FakeWorker
from support.playbook import Play


def stopped(play: Play, client: FakeClient, *keys: str) -> tuple[list[FakeWorker], list[int]]:
    """Attach to these workers and stop them. Return the workers and the handles of their threads."""
    workers = play.attached(*keys)
    for worker in workers:
        worker.stop()
    return workers, [client.stop()["threadId"] for _ in workers]


def running(client: FakeClient) -> set[int]:
    """Take all `continued` events of the inbox, and return their threads."""
    threads = set()
    while client.inbox:
        threads.add(client.event("continued")["threadId"])
    return threads
