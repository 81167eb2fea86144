"""Workers of one class that wait at a barrier for the others."""

from dataclasses import dataclass, field

from raydap.core.model.breakpoints import RunBreakpoint
from raydap.core.model.worker import AttachStage, ThreadState, Worker, WorkerThread
from raydap.core.process_info import ListedActor, RayFacts
from raydap.protocol.types import ClientId, Handle, WorkerKey


@dataclass(frozen=True, slots=True)
class WorkerClass:
    """Workers that meet at a barrier: the actors of a class in a job, or the workers that run the same task."""

    job: str
    """Ray's hex id of the job; "" for explicit targets."""
    name: str
    """The class of the actors, or the name of the task; "" for explicit targets. A driver may have its key here."""
    is_actor: bool
    """Whether `name` is a class of actors. False for their subprocesses."""
    children: bool = False
    """Whether these are the subprocesses of such workers."""


def class_of(worker: Worker) -> WorkerClass | None:
    """Return the class of a worker; None until Ray reports what the worker runs."""
    origin, is_child = worker.origin, worker.parent is not None
    if origin.row.worker_type == "TARGET":
        return WorkerClass("", "", is_actor=False, children=is_child)
    facts = origin.facts
    if facts == RayFacts() and origin.row.worker_type != "DRIVER":
        return None
    # A driver without facts is alone in its class: no task is named like its key.
    name = facts.actor or facts.task or origin.key
    return WorkerClass(facts.job, name, is_actor=facts.actor != "" and not is_child, children=is_child)


@dataclass(slots=True, eq=False)
class BarrierWait:
    """The wait at one barrier, from the first arrival until the barrier opens."""

    id: Handle
    """The id of this wait in `raydap/barriers`."""
    breakpoint: RunBreakpoint
    """The breakpoint that is set at the barrier now."""
    of: WorkerClass | None
    """The class of the workers; None until Ray reports what the first one runs."""
    began: float
    """The time of the first arrival."""
    arrived: dict[WorkerKey, dict[WorkerThread, dict[str, object]]] = field(default_factory=dict)
    """For each worker, its threads that have arrived, with the bodies of their `stopped`.

    Most threads are WAITING. A thread that the user has stepped to the barrier is shown, and counts while it stays
    stopped.
    """
    members: dict[WorkerKey, Worker] = field(default_factory=dict)
    """The attached workers that have arrived, or have to."""
    ended: int = 0
    """The number of members that have ended."""
    asked_at: float | None = None
    """The time at which raydap requested Ray's actors; None if it has not since the last arrival.

    The request is sent when all members have arrived, because more actors may be about to start.
    """
    actors: tuple[ListedActor, ...] | None = None
    """Ray's answer to that request; None until it arrives."""
    starting: int = 0
    """The number of actors of the class that raydap is going to attach to."""
    unreached: int = 0
    """The number of actors of the class that raydap does not reach."""
    places: dict[WorkerKey, str] = field(default_factory=dict)
    """Where the first missing workers are, like `train.py:88`; "" for a worker that runs none of the user's code."""
    idle: set[WorkerKey] = field(default_factory=set)
    """The workers that have run the task and run none of the user's code now. They do not have to arrive."""
    reading: bool = False
    """Whether a request for `places` is under way."""
    read_at: float = float("-inf")
    """The time of the last answer to such a request."""
    text: str = ""
    """The last text for users; "" before the first."""
    facts: object = None
    """The facts that `text` was made from."""
    progress: str = ""
    """The id of the progress that shows the text; "" before it begins."""
    clients: list[ClientId] = field(default_factory=list)
    """The clients that show the progress."""

    @property
    def first(self) -> Worker:
        """The first worker in `arrived`, which is not empty before the wait ends."""
        return next(iter(next(iter(self.arrived.values())))).worker

    @property
    def waiting(self) -> list[WorkerThread]:
        """The threads that wait without being shown to clients."""
        threads = (thread for arrived in self.arrived.values() for thread in arrived)
        return [thread for thread in threads if thread.state is ThreadState.WAITING]

    @property
    def missing(self) -> list[Worker]:
        """The members that have not arrived."""
        return [worker for key, worker in self.members.items() if key not in self.arrived]

    def stopped(self, thread: WorkerThread) -> dict[str, object] | None:
        """Return the body of a thread's `stopped`; None if the thread has not arrived."""
        return self.arrived.get(thread.worker.key, {}).get(thread)

    def arrive(self, thread: WorkerThread, stopped: dict[str, object]) -> None:
        """Add a thread that has arrived, with the body of its `stopped`."""
        self.arrived.setdefault(thread.worker.key, {})[thread] = stopped
        # Ray's last answer may be out of date now.
        self.asked_at = self.actors = None

    def drop_gone(self, key: WorkerKey) -> None:
        """Drop a worker's threads that no longer wait here: they run or have ended, or the worker is leaving."""
        threads = self.arrived.get(key, {})
        for thread in list(threads):
            worker = thread.worker
            is_there = thread.state is ThreadState.WAITING or thread.is_held
            if not is_there or worker.leaving or worker.threads.get(thread.local) is not thread:
                del threads[thread]
        if not threads:
            self.arrived.pop(key, None)

    def count(self, key: WorkerKey, worker: Worker | None) -> None:
        """Add a worker to the members if it has arrived or has to; otherwise remove it from them.

        `worker` is None if the connection has ended.
        """
        arrived = self.arrived.get(key)
        if arrived:
            worker = next(iter(arrived)).worker
        if worker is not None and (arrived or self.awaits(worker)):
            if key not in self.members:
                # Assume that it was one of the starting actors, until Ray lists them again.
                self.starting = max(0, self.starting - 1)
            self.members[key] = worker
        elif key in self.members:
            self.ended += self.members.pop(key).stage is AttachStage.GONE

    def awaits(self, worker: Worker) -> bool:
        """Return whether an attached worker has to arrive."""
        is_other = worker.leaving or worker.key in self.idle or worker.run is not self.first.run
        return not is_other and class_of(worker) == self.of
