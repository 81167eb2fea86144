"""One debug run: from the first attach or launch until no client and no held worker is left."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from raydap.analysis.ray_state import RayState
from raydap.analysis.sets.compared_value import Summary
from raydap.core.events import ForkedWaitsFound, StackSampled
from raydap.core.flows import Future
from raydap.core.model.breakpoints import RunBreakpoint, RunBreakpoints
from raydap.core.model.handles import Handles
from raydap.core.model.processes import Processes
from raydap.core.model.ranks import Ranks
from raydap.core.model.roster import Roster
from raydap.core.model.run_watches import RunWatches
from raydap.core.settings import AttachSettings, LaunchSettings
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol import messages
from raydap.protocol.types import ClientId, Handle, WorkerKey
from raydap.wire.envelope import Body


@dataclass(slots=True)
class Holding:
    """A hub's run without clients."""

    release_at: float | None
    """The time at which the run ends; None if it waits for a client indefinitely."""
    missed: list[Body] = field(default_factory=list)
    """The output for the next client that attaches."""


@dataclass(slots=True)
class Ending:
    """A launched program that raydap is ending. Its workers normally end with it."""

    until: float
    """The time at which workers that have not ended are detached."""
    over: Future[None] = field(default_factory=Future)
    """Done at that time."""


@dataclass(slots=True)
class AttachProgress:
    """The progress of the attach to many workers."""

    id: str
    """The `progressId` of its events."""
    clients: list[ClientId]
    """The clients that show the progress: all that could show one when it began."""
    most: int
    """The highest number of workers that were still to be attached."""
    percentage: int = 0
    """The last percentage that was sent to `clients`."""


class Run:
    """One debug run.

    A run is dropped as a whole when it ends. The next run is a new object, so no field has to be reset.
    """

    def __init__(self, handles: Handles) -> None:
        self.settings: AttachSettings | None = None
        """None until a client attaches or launches."""
        self.begun: dict[ClientId, Future[None]] = {}
        """The futures of the clients that wait until another client attaches or launches."""
        self.started: Future[None] = Future()
        """Done when discovery or the launched program has answered; fails if that fails."""
        self.configured = False
        """Whether a client has sent its breakpoints."""
        self.program_ended = False
        """Whether the launched program has ended."""
        self.driver: WorkerKey | None = None
        """The process of the launched program; None before it is attached."""
        self.launcher: ClientId | None = None
        """The client that has launched the program; None without a program."""
        self.terminal_request: int | None = None
        """The number of the open runInTerminal request to that client."""
        self.error_tail = ""
        """The last characters of the program's standard error."""
        self.input_explained = False
        """Whether the user has got the reason why input() fails."""
        self.where = ""
        """The cluster's name for users; "" until discovery has answered."""
        self.sockets = ""
        """The folder of the cluster's sockets on raydap's machine; "" if the cluster has no node there."""
        self.nodes: Mapping[str, str] = {}
        """The nodes of the cluster, as in NodesAlive."""
        self.agents_expected = False
        """Whether an agent, or a sign of agents, has been seen. Other nodes may then have agents, too."""
        self.agents_searched = True
        """Whether raydap has searched all places for agents."""
        self.jobs: tuple[str, ...] | None = None
        """The jobs that ran at the first contact with the cluster; None before it."""
        self.ended_jobs: dict[str, int] = {}
        """The jobs that have ended since, each with the `ended_ms` of its EndedJob."""
        self.outage = ""
        """The message for users about a cluster that does not answer; "" if it answers."""
        self.holding: Holding | None = None
        """None unless a hub holds the run without clients."""
        self.auto_attach = False
        """Whether to attach to paused workers about which the user has made no choice."""
        self.roster = Roster()
        self.processes = Processes(self.roster)
        self.refusals: set[str] = set()
        """The reasons, already reported to the user, why workers could not be attached."""
        self.agent_questions: dict[int, Future[str]] = {}
        """The questions that agents have not answered yet, by number."""
        self.stack_samples: dict[WorkerKey, Future[StackSampled]] = {}
        """The stacks that are being read from outside, by worker."""
        self.forked_searches: dict[int, Future[ForkedWaitsFound]] = {}
        """The open searches for forked children that wait in breakpoint(), by number."""
        self.state_questions: dict[int, Future[RayState]] = {}
        """The open requests to Ray for unfinished tasks, by number."""
        self.ending: Ending | None = None
        """None unless the run is over and its program is being ended."""
        self.awaits_cluster = False
        """Whether the debugged program still has to join or start its cluster."""
        self.breakpoints = RunBreakpoints(handles)
        self.watches = RunWatches(handles)
        self.changed_breakpoints: dict[Handle, RunBreakpoint] = {}
        """The breakpoints whose text clients get at the next Tick (workers/breakpoint_events.py)."""
        self.progress: AttachProgress | None = None
        """The progress that clients show, if any."""
        self.reported: set[Code] = set()
        """The problems that are reported only once, and have been reported."""
        self.open_line = ""
        """The worker whose last output had no end of line; "" if no line is open."""
        self.sources: dict[str, messages.Source] = {}
        """The files seen in stacks, by path."""
        self.files: dict[str, bool] = {}
        """Whether raydap's machine has a file, by path."""
        self.paths_of_breakpoints: dict[str, str] = {}
        """The paths of breakpoints, by the other path that workers report for the same file."""
        self.file_checks: list[tuple[frozenset[str], Future[None]]] = []
        """The files of each open check, with the future that waits for it."""
        self.new_texts: dict[str, str] = {}
        """The new text of each reloaded file (workers/new_texts.py, `pack`), by the client's path."""
        self.reloaded: set[WorkerKey] = set()
        """The processes that have new code."""
        self.ranks = Ranks()
        self.sets: dict[str, str] = {}
        """The texts of the sets that clients have named, by name."""
        self.collectives_asked: dict[Hashable, float] = {}
        """The last time at which a worker of a class answered that it uses no collectives, by class."""
        self.collectives_warned = False
        """Whether the user has been warned of collectives (workers/collectives.py)."""
        self.baselines: dict[str, dict[Handle, Summary]] = {}
        """The values that clients have kept, by name and thread."""

    def begin(self, settings: AttachSettings) -> None:
        """Take the settings of the client that begins the run, and wake the clients that wait for this."""
        self.settings = settings
        for waiting in list(self.begun.values()):
            waiting.set_result(None)
        self.begun.clear()

    def begin_for(self, client: ClientId) -> Future[None]:
        """Return a future that is done when a client attaches or launches.

        The future fails if this client stops waiting.
        """
        waiting: Future[None] = Future()
        if self.settings is None:
            self.begun[client] = waiting
        else:
            waiting.set_result(None)
        return waiting

    def stop_waiting(self, client: ClientId) -> None:
        """Fail the future of a client that has left."""
        waiting = self.begun.pop(client, None)
        if waiting is not None:
            waiting.set_exception(ProblemError(Problem(Code.WRONG_ORDER, "The client has disconnected.")))

    def end(self, error: ProblemError) -> None:
        """End everything that waits for this run: questions fail with `error`, and checks of files count as done."""
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
    def can_stop(self) -> bool:
        """Whether a breakpoint, exception filter or watchpoint can stop a worker that calls no breakpoint()."""
        return self.breakpoints.can_stop or bool(self.watches.wanted())

    @property
    def program(self) -> LaunchSettings | None:
        """The launched program; None if this run launches none."""
        return self.settings if isinstance(self.settings, LaunchSettings) else None
