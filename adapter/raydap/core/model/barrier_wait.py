"""Workers of one class that wait at a barrier for the others."""

from dataclasses import dataclass, field

from raydap.core.events import ListedActor, WorkerLabel
from raydap.core.model.breakpoints import Breakpoint
from raydap.core.model.worker import AttachStage, Thread, ThreadState, Worker
from raydap.protocol.types import ClientId, Handle, WorkerKey


@dataclass(frozen=True, slots=True)
class WorkerClass:
    """The workers that are to arrive together: the actors of a class in a job, or those that run the same task.
    `children` are subprocesses of these."""

    job: str
    name: str
    is_actor: bool
    children: bool = False


def class_of(worker: Worker) -> WorkerClass | None:
    """None while Ray does not say what the worker runs."""
    origin, is_child = worker.origin, worker.parent is not None
    if origin.row.worker_type == "TARGET":
        return WorkerClass("", "", is_actor=False, children=is_child)
    label = origin.label
    if label == WorkerLabel() and origin.row.worker_type != "DRIVER":
        return None
    # The driver is alone: its key is a name that no task has.
    name = label.actor or label.task or origin.key
    return WorkerClass(label.job, name, is_actor=label.actor != "" and not is_child, children=is_child)


@dataclass(slots=True, eq=False)
class BarrierWait:
    """What goes on at one barrier until it opens.

    `arrived` are the threads that have come, by worker, each with the body of its `stopped`. Most are WAITING; one that
    the user has led there by a step is shown, and counts while it stays stopped. `members` are the attached workers
    that have to come, or have; `ended` counts those that have ended instead.

    Ray is asked for its actors when all members have arrived: others may be about to start. `asked_at` is that time,
    None if it was not asked since the last arrival; `actors` is the answer, None without one. `starting` and
    `unreached` are the numbers of actors of the class that raydap will attach to, and that it does not reach.

    `places` say where the first of those that are missing run; they were asked at the time `read_at`, or are just
    `reading`. `idle` are those that have run the task and run nothing of the user's now. `text` is what users were told
    last, by the progress with the id `progress`, "" before the first time, to `clients`.
    """

    id: Handle
    breakpoint: Breakpoint
    of: WorkerClass | None
    began: float
    arrived: dict[WorkerKey, dict[Thread, dict[str, object]]] = field(default_factory=dict)
    members: dict[WorkerKey, Worker] = field(default_factory=dict)
    ended: int = 0
    asked_at: float | None = None
    actors: tuple[ListedActor, ...] | None = None
    starting: int = 0
    unreached: int = 0
    places: dict[WorkerKey, str] = field(default_factory=dict)
    idle: set[WorkerKey] = field(default_factory=set)
    reading: bool = False
    read_at: float = float("-inf")
    text: str = ""
    facts: object = None
    """What the text was made of."""
    progress: str = ""
    clients: list[ClientId] = field(default_factory=list)

    @property
    def first(self) -> Worker:
        """The first of those that have arrived. There is one as long as the barrier is waited at."""
        return next(iter(next(iter(self.arrived.values())))).worker

    @property
    def waiting(self) -> list[Thread]:
        threads = (thread for arrived in self.arrived.values() for thread in arrived)
        return [thread for thread in threads if thread.state is ThreadState.WAITING]

    @property
    def missing(self) -> list[Worker]:
        return [worker for key, worker in self.members.items() if key not in self.arrived]

    def stopped(self, thread: Thread) -> dict[str, object] | None:
        """The body of its `stopped`; None if it has not arrived."""
        return self.arrived.get(thread.worker.key, {}).get(thread)

    def arrive(self, thread: Thread, stopped: dict[str, object]) -> None:
        self.arrived.setdefault(thread.worker.key, {})[thread] = stopped
        # What Ray said before this may be out of date.
        self.asked_at = self.actors = None

    def drop_gone(self, key: WorkerKey) -> None:
        """Drops the threads of a worker that are not there any more: they run on, or have ended."""
        threads = self.arrived.get(key, {})
        for thread in list(threads):
            worker = thread.worker
            is_there = thread.state is ThreadState.WAITING or thread.is_held
            if not is_there or worker.leaving or worker.threads.get(thread.local) is not thread:
                del threads[thread]
        if not threads:
            self.arrived.pop(key, None)

    def count(self, key: WorkerKey, worker: Worker | None) -> None:
        """Counts a worker as a member, or no more; None if its connection has ended."""
        arrived = self.arrived.get(key)
        if arrived:
            worker = next(iter(arrived)).worker
        if worker is not None and (arrived or self.awaits(worker)):
            if key not in self.members:
                # It is one of those that were about to start, until Ray says again how many there are.
                self.starting = max(0, self.starting - 1)
            self.members[key] = worker
        elif key in self.members:
            self.ended += self.members.pop(key).stage is AttachStage.GONE

    def awaits(self, worker: Worker) -> bool:
        """Whether an attached worker has to come."""
        is_other = worker.leaving or worker.key in self.idle or worker.run is not self.first.run
        return not is_other and class_of(worker) == self.of
