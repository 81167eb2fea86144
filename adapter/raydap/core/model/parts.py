"""Long work in parts, between which other events are handled.

The design is in docs/design/growth.md.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import TypeVar

from raydap.core import flows
from raydap.core.effects import Effect, ScheduleNextPart
from raydap.core.flows import Flow, Future
from raydap.core.model.client import Client
from raydap.errors import ProblemError

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Parts:
    """Long work whose next part is due.

    A client's messages wait while work for the client is not done, so that `continue` reaches no worker before the
    breakpoints that the client has set earlier.
    """

    def __init__(self, emit: Callable[[Effect], None]) -> None:
        self._emit = emit
        self._due: list[tuple[Future[None], Client | None]] = []

    def next(self, client: Client | None = None) -> Future[None]:
        """Return a future that is done when the next part may begin. `client` is the client that requested the work."""
        if not self._due:
            self._emit(ScheduleNextPart())
        future: Future[None] = Future()
        self._due.append((future, client))
        if client is not None:
            client.parts += 1
        return future

    def begin(self) -> list[Client]:
        """Do the parts that are due. Return the clients whose messages no longer have to wait."""
        due, self._due = self._due, []
        for future, _ in due:
            future.set_result(None)
        clients = [client for _, client in due if client is not None]
        for client in clients:
            client.parts -= 1
        return [client for client in dict.fromkeys(clients) if not client.parts]

    def end(self, error: ProblemError) -> None:
        """Fail the work that clients have requested, because the run is over. Other work continues."""
        for future, client in self._due:
            if client is not None:
                future.set_exception(error)

    def gather(
        self, conversations: Mapping[K, Flow[T]], client: Client | None = None
    ) -> Future[dict[K, T | ProblemError]]:
        """Run all flows like `flows.gather`, but start them in parts."""
        return flows.gather(conversations, partial(self.next, client))

    def for_each(self, items: Iterable[T], act: Callable[[T], object], client: Client | None = None) -> Flow[None]:
        """Call `act` with each item, in parts."""
        for number, item in enumerate(items):
            if number and number % flows.PART == 0:
                yield from self.next(client)
            act(item)
