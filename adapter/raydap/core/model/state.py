"""The whole state of the bridge: the objects that live as long as the process, and the current run.

State only; the functions of the packages above change it.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from raydap.core.effects import Effect
from raydap.core.events import ChildPortOpened
from raydap.core.flows import Flow, Future, start
from raydap.core.model.arrivals import Arrivals
from raydap.core.model.attaching import Attaching
from raydap.core.model.barrier_wait import BarrierWait
from raydap.core.model.client import Client, Request
from raydap.core.model.parts import Parts
from raydap.core.model.run import Ending, Run
from raydap.core.model.worker import Thread, Worker, WorkerContext
from raydap.core.settings import HubSettings
from raydap.errors import Problem, ProblemError
from raydap.protocol import messages
from raydap.protocol.id_fields import Kind
from raydap.protocol.raydap_messages import OutputData, ProblemData
from raydap.protocol.types import ClientId, Handle, LocalId, WorkerKey
from raydap.wire.envelope import Body


@dataclass(slots=True)
class PendingPause:
    """Threads of a worker that were to pause at a time, by the worker's own ids; none for all of its threads.
    `examined`: the worker was asked which of them are blocked. `reported`: the user knows that it does not answer."""

    threads: frozenset[LocalId]
    since: float
    examined: bool = False
    reported: bool = False


MISSED = 50
"""The number of messages that are kept for the client that comes back."""


class State(WorkerContext):
    """`hub` is None unless this is a hub, which outlives its clients. `capabilities` are sent to every client, and
    `launch_capabilities` to a client that has launched a program.

    `left` are clients that have sent `disconnect` and still get answers, until their connections end. `workers` are all
    connections, also those to workers of an earlier run that are not let go yet. `attaching` are the workers whose
    attach is under way. `endings` are those of the launched programs of earlier runs.
    `cooling_down` has the times of the last disconnect, for workers that may not be dialled again yet
    (workers/detach.py), and that Ray may still list as paused. `pauses` are those that the workers may be unable to
    obey (workers/pauses.py). `arrivals` are the threads whose next stop is waited for. `barriers` are those at which
    workers wait.
    """

    def __init__(
        self,
        emit: Callable[[Effect], None],
        hub: HubSettings | None,
        capabilities: messages.Capabilities,
        launch_capabilities: messages.Capabilities,
    ) -> None:
        super().__init__(emit)
        self.hub = hub
        self.capabilities = capabilities
        self.launch_capabilities = launch_capabilities
        self.clients: dict[ClientId, Client] = {}
        self.left: dict[ClientId, Client] = {}
        self.workers: dict[WorkerKey, Worker] = {}
        self.parts = Parts(emit)
        self.attaching = Attaching()
        self.endings: list[Ending] = []
        self.cooling_down: dict[WorkerKey, float] = {}
        self.pauses: dict[WorkerKey, PendingPause] = {}
        self.arrivals: list[Arrivals] = []
        self.barriers: dict[Handle, BarrierWait] = {}
        self.child_port: ChildPortOpened | None = None
        self._questions = count(1)
        self.run = Run(self.handles)

    def next_question(self) -> int:
        """The number of a question to an agent. An answer may come when another run has begun."""
        return next(self._questions)

    # Conversations.

    def start(self, flow: Flow[None]) -> None:
        """Runs a conversation that answers no request."""
        start(flow).add_done_callback(self._log_failure)

    def _log_failure(self, future: Future[None]) -> None:
        if isinstance(future.exception, ProblemError):
            self.log("warning", str(future.exception.problem))
        elif future.exception is not None:
            self.log_exception(future.exception)

    def log_exception(self, exception: BaseException) -> None:
        """Logs a mistake of ours. It costs one event or one request, but not the session."""
        self.log("error", "".join(traceback.format_exception(exception)))

    # Clients and threads.

    def ready_clients(self) -> Iterator[Client]:
        return (client for client in self.clients.values() if client.is_ready)

    def broadcast(self, event: str, body: Body, worker: Worker | None = None) -> None:
        """Sends an event to all clients, or to those that see a worker."""
        for client in self.ready_clients():
            if worker is None or client.sees(worker.key):
                client.event(event, body)

    def thread(self, client: Client, handle: object) -> Thread:
        """The thread behind a handle that this client may use. Raises ProblemError (STALE_ID)."""
        target = self.handles.resolve(Kind.THREAD, handle)
        worker = self.workers[target.worker]
        if not client.may_name(worker):
            raise self.handles.unknown(Kind.THREAD, handle)
        assert isinstance(target.local, int)
        return worker.threads[target.local]

    def stopped_threads(self, client: Client) -> list[Thread]:
        """The stopped threads that the client sees."""
        return [thread for thread in self.stopped.values() if client.sees(thread.worker.key)]

    def end_thread(self, thread: Thread) -> None:
        """Removes a thread that has ended, and tells the clients that know it."""
        thread.end()
        for client in self.clients.values():
            client.view.end_stop(thread.handle)
            if thread.handle in client.view.threads:
                for known in (client.view.threads, client.view.seen, client.view.renamed):
                    known.discard(thread.handle)
                client.event("thread", {"reason": "exited", "threadId": thread.handle})
        self.note_arrival(thread)

    def await_arrivals(self, request: Request, threads: Iterable[Thread], timeout_s: float) -> Arrivals:
        """For those that are stopped already there is nothing to wait for, nor for those that have ended."""
        running = (each for each in threads if not each.is_held and each.worker.threads.get(each.local) is each)
        arrivals = Arrivals(request, running, self.now + timeout_s)
        self.arrivals.append(arrivals)
        return arrivals

    def hide_stop(self, thread: Thread, stopped: dict[str, object]) -> bool:
        """Gives a stop to who waits for it. Returns whether clients are not to see it."""
        hiding = [each for each in self.arrivals if each.hide(thread, stopped)]
        return bool(hiding)

    def note_arrival(self, thread: Thread) -> None:
        """The thread has stopped, and the clients know it; or it has ended."""
        for each in list(self.arrivals):
            each.arrived(thread)
        self._drop_arrivals()

    def expire_arrivals(self) -> None:
        """Called at every Tick."""
        for each in list(self.arrivals):
            each.expire(self.now)
        self._drop_arrivals()

    def _drop_arrivals(self) -> None:
        self.arrivals = [each for each in self.arrivals if not each.over.done]

    # Messages to users that answer no request.

    def say(self, text: str) -> None:
        self._output({"category": "console", "output": f"{text}\n"})

    def report(self, problem: Problem) -> None:
        """Tells the users of a problem that is not the answer to a request of theirs."""
        self.log("warning", f"{problem} {problem.detail}".rstrip())
        self._output(problem_output(problem))

    def report_once(self, problem: Problem) -> None:
        """The same, but only the first time in this run."""
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
    """The body of an `output` event about a problem."""
    data = OutputData(raydap=ProblemData(code=problem.code.value))
    return {"category": "important", "output": f"{problem}\n", "data": data}
