"""One debug run: from the first attach or launch until no client and no held worker is left."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from raydap.analysis.ray_state import RayState
from raydap.analysis.sets.compared_value import Summary
from raydap.core.events import ForkedWaitsFound, StackSampled
from raydap.core.flows import Future
from raydap.core.model.breakpoints import Breakpoint, Breakpoints
from raydap.core.model.handles import Handles
from raydap.core.model.processes import Processes
from raydap.core.model.ranks import Ranks
from raydap.core.model.roster import Roster
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol import messages
from raydap.protocol.types import ClientId, Handle, WorkerKey
from raydap.wire.envelope import Body


@dataclass(slots=True)
class Holding:
    """A hub's run without clients: the time until which it is kept (None is for ever), and the output for the client
    that comes back."""

    release_at: float | None
    missed: list[Body] = field(default_factory=list)


@dataclass(slots=True)
class Ending:
    """A launched program is being ended. Its workers end with it; at the time `until` those that have not are let go,
    and `over` is done."""

    until: float
    over: Future[None] = field(default_factory=Future)


@dataclass(slots=True)
class AttachProgress:
    """The progress of the attach to many workers. `most` is the highest number of workers to attach at a time;
    `percentage` is the last one that was sent to `clients`."""

    id: str
    clients: list[ClientId]
    most: int
    percentage: int = 0


class Run:
    """Its end drops it whole: the next run begins with a new object, and nothing is reset field by field.

    `settings` is None until a client attaches or launches. `begun` are the futures of the clients that wait for that.
    `started` is done when discovery or the launched program has answered, and fails if that fails. `configured`: a
    client has sent its breakpoints.
    `outage` is the message to the users about a cluster that does not answer, "" if it answers.

    `where` is the cluster's name for users, and `jobs` are those that ran at the first contact (None before it).
    `sockets` is the folder of its processes' sockets on raydap's machine, "" if it has no node there. `nodes` are as in
    NodesAlive. `agents_expected`: something with an agent has been seen, so that other nodes may have agents, too.
    `agents_searched`: raydap has looked for agents wherever it is to look.
    `ended_jobs` have ended since, with the time of EndedJob.

    `refusals` are the reasons, which the user knows, for which workers could not be attached. `agent_questions` are
    those that agents have still to answer, by their numbers, and `stack_samples` the stacks that are read from outside.
    `forked_searches` are the searches for forked children that wait in breakpoint(), and `state_questions` the
    questions to Ray about unfinished tasks, by number.

    `ending` is None unless the run is over and its program is being ended.

    `awaits_cluster`: the debugged program has still to join the cluster, or to start it.

    `auto_attach`: paused workers are attached, unless the user has chosen otherwise. `reported` are the
    problems that are reported once. `open_line` is the worker whose last output had no end of line. `sources` are the
    files seen in stacks. `files` says which paths this machine has; `file_checks` has the futures that wait for such
    checks. `sets` are those that clients have given names. `baselines` are the values that clients have kept, by their
    threads' ids. `collectives_asked` are the times at which workers of a class were asked whether they use collectives;
    `collectives_told`: the user has been warned of them."""

    def __init__(self, handles: Handles) -> None:
        self.settings: AttachSettings | None = None
        self.begun: dict[ClientId, Future[None]] = {}
        self.started: Future[None] = Future()
        self.configured = False
        self.program_ended = False
        self.error_tail = ""
        """The last characters of the program's standard error."""
        self.input_explained = False
        """Whether the client has read why input() fails."""
        self.where = ""
        self.sockets = ""
        self.nodes: Mapping[str, str] = {}
        self.agents_expected = False
        self.agents_searched = True
        self.jobs: tuple[str, ...] | None = None
        self.ended_jobs: dict[str, int] = {}
        self.outage = ""
        self.holding: Holding | None = None
        self.auto_attach = False
        self.roster = Roster()
        self.processes = Processes(self.roster)
        self.refusals: set[str] = set()
        self.agent_questions: dict[int, Future[str]] = {}
        self.stack_samples: dict[WorkerKey, Future[StackSampled]] = {}
        self.forked_searches: dict[int, Future[ForkedWaitsFound]] = {}
        self.state_questions: dict[int, Future[RayState]] = {}
        self.ending: Ending | None = None
        self.awaits_cluster = False
        self.breakpoints = Breakpoints(handles)
        self.changed_breakpoints: dict[Handle, Breakpoint] = {}
        """The breakpoints whose text clients get at the next Tick (workers/breakpoint_events.py)."""
        self.progress: AttachProgress | None = None
        self.reported: set[Code] = set()
        self.open_line = ""
        self.sources: dict[str, messages.Source] = {}
        self.files: dict[str, bool] = {}
        self.paths_of_breakpoints: dict[str, str] = {}
        """The path in which a client has set a breakpoint, by the other path that workers report for the same file."""
        self.file_checks: list[tuple[frozenset[str], Future[None]]] = []
        self.ranks = Ranks()
        self.sets: dict[str, str] = {}
        self.collectives_asked: dict[Hashable, float] = {}
        self.collectives_told = False
        self.baselines: dict[str, dict[Handle, Summary]] = {}

    def begin(self, settings: AttachSettings) -> None:
        """A client says what is debugged."""
        self.settings = settings
        for waiting in list(self.begun.values()):
            waiting.set_result(None)
        self.begun.clear()

    def begin_for(self, client: ClientId) -> Future[None]:
        """Return a future that is done when a client attaches or launches, or when this client stops waiting."""
        waiting: Future[None] = Future()
        if self.settings is None:
            self.begun[client] = waiting
        else:
            waiting.set_result(None)
        return waiting

    def stop_waiting(self, client: ClientId) -> None:
        waiting = self.begun.pop(client, None)
        if waiting is not None:
            waiting.set_exception(ProblemError(Problem(Code.WRONG_ORDER, "The client has left.")))

    def end(self, error: ProblemError) -> None:
        """Ends all waiting for this run."""
        self.started.set_exception(error)
        for waiting in list(self.begun.values()):
            waiting.set_exception(error)
        for _, checked in self.file_checks:
            checked.set_result(None)
        for question in list(self.agent_questions.values()):
            question.set_exception(error)
        for sample in list(self.stack_samples.values()):
            sample.set_exception(error)
        for search in list(self.forked_searches.values()):
            search.set_exception(error)
        for asked in list(self.state_questions.values()):
            asked.set_exception(error)

    @property
    def program(self) -> LaunchSettings | None:
        """The launched program; None if this run launches none."""
        return self.settings if isinstance(self.settings, LaunchSettings) else None
