"""The whole state of the bridge: the objects that live as long as the process, and the current run.

This module contains state only; the functions of the packages above change it.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from raydap.core.effects import Effect
from raydap.core.events import ChildPortOpened, WaitingAnswered
from raydap.core.flows import Flow, Future, start
from raydap.core.model.arrivals import Arrivals
from raydap.core.model.attaching import Attaching
from raydap.core.model.barrier_wait import BarrierWait
from raydap.core.model.client import Client, Request
from raydap.core.model.parts import Parts
from raydap.core.model.recorded_call import RecordedCall
from raydap.core.model.remote_step import RemoteStep
from raydap.core.model.run import Ending, Run
from raydap.core.model.worker import Worker, WorkerContext, WorkerThread
from raydap.core.settings import HubSettings
from raydap.errors import Problem, ProblemError
from raydap.protocol import messages
from raydap.protocol.id_fields import Kind
from raydap.protocol.raydap_messages import OutputData, ProblemData
from raydap.protocol.types import ClientId, Handle, LocalId, WorkerKey
from raydap.wire.envelope import Body


@dataclass(slots=True)
class PendingPause:
    """A pause that was sent to a worker."""

    threads: frozenset[LocalId]
    """The worker's own ids of the threads that have to pause; empty for all threads."""
    since: float
    """The time of the pause."""
    examined: bool = False
    """Whether the worker was asked which of the threads are blocked."""
    reported: bool = False
    """Whether the user has been notified that the worker does not answer."""


MISSED = 50
"""The number of messages that a held run keeps for the next client."""


@dataclass(slots=True)
class Visit:
    """A short attach to a worker that waits in breakpoint() (workers/waiting_workers.py)."""

    port: int
    """The debug port at which the worker has waited."""
    over: Future[WaitingAnswered] = field(default_factory=Future)
    """The answer. It is set when the worker waits at a new debug port."""
    event: WaitingAnswered | None = None
    """The answer, as soon as it has come."""
    until: float = 0.0
    """The time at which the new debug port is not waited for any more."""


class State(WorkerContext):
    """The whole state of the bridge."""

    def __init__(
        self,
        emit: Callable[[Effect], None],
        hub: HubSettings | None,
        capabilities: messages.Capabilities,
        launch_capabilities: messages.Capabilities,
    ) -> None:
        super().__init__(emit)
        self.hub = hub
        """The hub's settings; None if this is no hub."""
        self.capabilities = capabilities
        """The capabilities for every client."""
        self.launch_capabilities = launch_capabilities
        """More capabilities, for a client that has launched a program."""
        self.clients: dict[ClientId, Client] = {}
        self.left: dict[ClientId, Client] = {}
        """Clients that have sent `disconnect` and still get answers, until their connections end."""
        self.workers: dict[WorkerKey, Worker] = {}
        """All connections, including those to workers of earlier runs that are not detached yet."""
        self.parts = Parts(emit)
        self.attaching = Attaching()
        """The workers whose attach is under way."""
        self.endings: list[Ending] = []
        """The launched programs of earlier runs that are being ended."""
        self.cooling_down: dict[WorkerKey, float] = {}
        """The time of the last disconnect, of workers that must not be dialled again yet (workers/detach.py).

        Ray may still list these workers as paused.
        """
        self.visits: dict[WorkerKey, Visit] = {}
        """The short attaches to waiting workers that are under way (workers/waiting_workers.py)."""
        self.pauses: dict[WorkerKey, PendingPause] = {}
        """The pauses that workers may be unable to obey (workers/pauses.py)."""
        self.arrivals: list[Arrivals] = []
        """The requests that wait for the next stop of threads."""
        self.remote_steps: dict[int, RemoteStep] = {}
        """The steps across `.remote()`, by number, until the caller has taken the result (workers/remote_steps.py)."""
        self.callers: dict[WorkerKey, float] = {}
        """The attached workers that have submitted calls to Ray, each with the time before which it is not asked about
        them (requests/caller_frames.py)."""
        self.recorded_calls: dict[str, RecordedCall] = {}
        """Calls that stacks have shown, by the hex id of the task."""
        self.barriers: dict[Handle, BarrierWait] = {}
        """The barriers at which workers wait."""
        self.child_port: ChildPortOpened | None = None
        """The port for child sessions; None until it is open."""
        self._questions = count(1)
        self.run = Run(self.handles)

    def next_question(self) -> int:
        """Return the number of a new question to an agent or to Ray.

        No number is used twice, because an answer may come when another run has begun.
        """
        return next(self._questions)

    # Conversations.

    def start(self, flow: Flow[None]) -> None:
        """Run a conversation that answers no request. Its failure is logged."""
        start(flow).add_done_callback(self._log_failure)

    def _log_failure(self, future: Future[None]) -> None:
        if isinstance(future.exception, ProblemError):
            self.log("warning", str(future.exception.problem))
        elif future.exception is not None:
            self.log_exception(future.exception)

    def log_exception(self, exception: BaseException) -> None:
        """Log a bug in raydap. It costs one event or one request, but not the session."""
        self.log("error", "".join(traceback.format_exception(exception)))

    # Clients and threads.

    def ready_clients(self) -> Iterator[Client]:
        """Return the clients that have sent `configurationDone`."""
        return (client for client in self.clients.values() if client.is_ready)

    def broadcast(self, event: str, body: Body, worker: Worker | None = None) -> None:
        """Send an event to all clients that are ready, or only to those that see `worker`."""
        for client in self.ready_clients():
            if worker is None or client.sees(worker.key):
                client.event(event, body)

    def thread(self, client: Client, handle: object) -> WorkerThread:
        """Return the thread behind a handle that this client may use. Raises ProblemError (STALE_ID)."""
        target = self.handles.resolve(Kind.THREAD, handle)
        worker = self.workers[target.worker]
        if not client.may_name(worker):
            raise self.handles.unknown(Kind.THREAD, handle)
        assert isinstance(target.local, int)
        return worker.threads[target.local]

    def stopped_threads(self, client: Client) -> list[WorkerThread]:
        """Return the stopped threads that the client sees."""
        return [thread for thread in self.stopped.values() if client.sees(thread.worker.key)]

    def end_thread(self, thread: WorkerThread) -> None:
        """Remove a thread that has ended, and notify the clients that have seen it."""
        thread.end()
        for client in self.clients.values():
            client.view.end_stop(thread.handle)
            if thread.handle in client.view.threads:
                for known in (client.view.threads, client.view.seen, client.view.renamed):
                    known.discard(thread.handle)
                client.event("thread", {"reason": "exited", "threadId": thread.handle})
        self.note_arrival(thread)

    def await_arrivals(self, request: Request, threads: Iterable[WorkerThread], timeout_s: float) -> Arrivals:
        """Begin a wait for the next stop of these threads, of `timeout_s` seconds at most.

        Threads that are stopped already or have ended are left out.
        """
        running = (each for each in threads if not each.is_held and each.worker.threads.get(each.local) is each)
        arrivals = Arrivals(request, running, self.now + timeout_s)
        self.arrivals.append(arrivals)
        return arrivals

    def hide_stop(self, thread: WorkerThread, stopped: dict[str, object]) -> bool:
        """Pass a stop to the requests that wait for it. Return whether to hide it from clients."""
        hiding = [each for each in self.arrivals if each.hide(thread, stopped)]
        return bool(hiding)

    def note_arrival(self, thread: WorkerThread) -> None:
        """Note that a thread has ended, or that its stop is now shown or hidden."""
        for each in list(self.arrivals):
            each.arrived(thread)
        self._drop_arrivals()

    def expire_arrivals(self) -> None:
        """End the waits whose time is over or whose request no longer needs an answer. Called at every Tick."""
        for each in list(self.arrivals):
            each.expire(self.now)
        self._drop_arrivals()

    def _drop_arrivals(self) -> None:
        self.arrivals = [each for each in self.arrivals if not each.over.done]

    # Messages to users that answer no request.

    def print_to_console(self, text: str) -> None:
        """Print a line to the console of all clients."""
        self._output({"category": "console", "output": f"{text}\n"})

    def report(self, problem: Problem) -> None:
        """Log a problem that answers no request, and print it to all clients."""
        self.log("warning", f"{problem} {problem.detail}".rstrip())
        self._output(problem_output(problem))

    def report_once(self, problem: Problem) -> None:
        """Report a problem, unless one with this code has been reported in this run."""
        if problem.code not in self.run.reported:
            self.run.reported.add(problem.code)
            self.report(problem)

    def _output(self, body: Body) -> None:
        if self.run.holding is not None:
            self.run.holding.missed.append(body)
            del self.run.holding.missed[:-MISSED]
        for client in self.clients.values():
            if client.is_attached:
                client.event("output", body)


def problem_output(problem: Problem) -> dict[str, object]:
    """Return the body of an `output` event about a problem."""
    data = OutputData(raydap=ProblemData(code=problem.code.value))
    return {"category": "important", "output": f"{problem}\n", "data": data}
