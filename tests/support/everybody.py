"""All workers of a cluster, as a client receives them (docs/requests.md)."""

from collections.abc import Callable
from typing import Any

from dap_client import Client


class Everybody:
    """The latest entry and the states of each worker that the client has received."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.workers: dict[str, dict[str, Any]] = {}
        self.history: dict[str, list[str]] = {}
        self._take(client.request("raydap/workers", all=True))

    def _take(self, body: dict[str, Any]) -> None:
        for worker in body["workers"]:
            self.workers[worker["key"]] = worker
            states = self.history.setdefault(worker["key"], [])
            if states[-1:] != [worker["state"]]:
                states.append(worker["state"])

    def wait(self, wanted: Callable[["Everybody"], Any]) -> Any:
        """Wait until `wanted` returns something true for the workers, and return that."""
        while not (found := wanted(self)):
            self._take(self._client.wait_event("raydap/workersChanged"))
        return found

    def here(self, label: str, state: str = "alive") -> list[dict[str, Any]]:
        """Return the workers in this state whose task, actor or label is this."""
        return [
            worker
            for worker in self.workers.values()
            if worker["state"] == state and label in (worker["task"], worker["actor"], worker["label"])
        ]

    def one(self, label: str, state: str = "alive") -> dict[str, Any]:
        """Wait until a worker has this label and state, and return its entry."""
        worker: dict[str, Any] = self.wait(lambda all_: all_.here(label, state))[0]
        return worker
