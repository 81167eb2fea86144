"""Conversations with workers, as generators that read from top to bottom, and the runner of these generators.

A flow waits with `yield from` for a Future, such as the answer of a worker (model/worker.py, Worker.ask), or for
another flow. It then continues with the result, or with the exception:

    reply = yield from worker.ask("stackTrace", {"threadId": 1})
    frames = yield from gather({thread: top_frame(thread) for thread in threads})

Nothing here does I/O or reads a clock. Setting the result of a Future immediately runs the flows that wait for it.

The design is in docs/design/requests.md.
"""

from collections.abc import Callable, Generator, Hashable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from raydap.errors import ProblemError

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

PART = 500
"""The number of workers in one part of long work. A part takes about 10 ms."""

Flow = Generator["Future[Any]", None, T]
"""A conversation that returns a T or raises ProblemError."""


class Future(Generic[T]):
    """A result that arrives later, like asyncio's Future without an event loop.

    Only the first result or exception counts.
    """

    __slots__ = ("_callbacks", "_exception", "_result", "done")

    def __init__(self) -> None:
        self.done = False
        self._result: T | None = None
        self._exception: Exception | None = None
        self._callbacks: list[Callable[[Future[T]], object]] = []

    def set_result(self, result: T) -> None:
        """Finish with a result and call the callbacks, unless the future is done."""
        if not self.done:
            self._result = result
            self._finish()

    def set_exception(self, exception: Exception) -> None:
        """Finish with an exception and call the callbacks, unless the future is done."""
        if not self.done:
            self._exception = exception
            self._finish()

    def result(self) -> T:
        """Return the result, or raise the exception that was set. The future must be done."""
        if self._exception is not None:
            raise self._exception
        return self._result  # type: ignore[return-value]  # None is a T here: set_result was called with it.

    @property
    def exception(self) -> Exception | None:
        """The exception that was set, or None."""
        return self._exception

    def add_done_callback(self, callback: "Callable[[Future[T]], object]") -> None:
        """Call `callback` with this future when it is done, or now if it already is."""
        if self.done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def forward_exception(self, other: "Future[Any]") -> None:
        """If this future fails, fail `other` with the same exception."""

        def forward(_: Future[T]) -> None:
            if self._exception is not None:
                other.set_exception(self._exception)

        self.add_done_callback(forward)

    def __iter__(self) -> Flow[T]:
        if not self.done:
            yield self
        return self.result()

    def _finish(self) -> None:
        self.done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


def start(flow: Flow[T]) -> Future[T]:
    """Run a flow until it waits, and again whenever the awaited result is there. Return a future of its result.

    An exception of the flow becomes the exception of this future. It never reaches the code that set the awaited
    result.
    """
    done: Future[T] = Future()
    _advance(flow, done)
    return done


def _advance(flow: Flow[T], done: Future[T], _: object = None) -> None:
    while True:
        try:
            awaited = next(flow)
        except StopIteration as end:
            done.set_result(end.value)
            return
        except Exception as exception:
            done.set_exception(exception)
            return
        if not awaited.done:
            awaited.add_done_callback(partial(_advance, flow, done))
            return


def gather(
    flows: Mapping[K, Flow[T]], next_part: Callable[[], Future[None]] | None = None
) -> Future[dict[K, T | ProblemError]]:
    """Run all flows at the same time. Return a future of the result or the ProblemError of each flow, in their order.

    Any other exception of a flow fails the whole future. `next_part` makes the flows start in parts: it returns a
    future that is done when the next part may begin (model/parts.py).
    """
    gathered: Future[dict[K, T | ProblemError]] = Future()
    futures: dict[K, Future[T]] = {}
    missing = len(flows)

    def take(_: object) -> None:
        nonlocal missing
        missing -= 1
        finish()

    def finish() -> None:
        if missing == 0:
            try:
                gathered.set_result({key: _result_or_error(future) for key, future in futures.items()})
            except Exception as exception:
                gathered.set_exception(exception)

    def start_all() -> Flow[None]:
        for number, (key, flow) in enumerate(flows.items()):
            if next_part is not None and number and number % PART == 0:
                yield from next_part()
            futures[key] = start(flow)
            futures[key].add_done_callback(take)

    start(start_all()).forward_exception(gathered)
    if not flows:
        finish()
    return gathered


def _result_or_error(future: Future[Any]) -> Any:
    try:
        return future.result()
    except ProblemError as error:
        return error
