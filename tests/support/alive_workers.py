"""A client that lists all workers, and the changes that it receives."""

from typing import Any

from raydap.core.effects import WatchAlive
from support.fake_client import FakeClient
from support.playbook import Play


def told(client: FakeClient) -> list[tuple[str, str]]:
    """Return the worker keys and states of all `raydap/workersChanged` events that are next in the inbox."""
    changes: dict[tuple[str, str], None] = {}
    while client.inbox and client.inbox[0].get("event") == "raydap/workersChanged":
        for worker in client.event("raydap/workersChanged")["workers"]:
            changes[worker["key"], worker["state"]] = None
    return list(changes)


def listed(client: FakeClient, **arguments: Any) -> dict[str, str]:
    return {worker["key"]: worker["state"] for worker in client.request("raydap/workers", **arguments)["workers"]}


def watching(play: Play, arguments: dict[str, Any] | None = None) -> FakeClient:
    client = play.session(arguments)
    assert listed(client, all=True) == {}
    assert play.take(WatchAlive) == WatchAlive(True)
    return client


def end(play: Play, client: FakeClient) -> None:
    """Disconnect the client, and drop all messages and effects that the script does not check."""
    client.send("disconnect")
    client.inbox.clear()
    play._effects.clear()
