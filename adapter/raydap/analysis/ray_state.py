"""Unfinished work as Ray reports it: tasks, actors, placement groups and resources. Ids are Ray's, in hex."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from raydap.protocol.types import WorkerKey

Resources = Mapping[str, float]
"""Amounts by Ray's names: CPU, GPU, memory, and the user's own."""


@dataclass(frozen=True, slots=True)
class RayTask:
    """A task that has not finished (ray/util/state/common.py, TaskState)."""

    id: str
    """Ray's id of the task, which all of its attempts share."""
    name: str
    """The name of its function, or `Class.method`."""
    state: str
    """Ray's state of the task, such as `RUNNING` or `PENDING_NODE_ASSIGNMENT`."""
    job: str = ""
    """The id of the job that the task belongs to; "" if Ray does not report it."""
    actor: str = ""
    """The id of the actor that runs it, or that it makes; "" for other tasks."""
    parent: str = ""
    """The id of the task that has submitted it."""
    worker: WorkerKey = field(default=WorkerKey(""))
    """The worker where it runs or is queued; "" before that."""
    resources: Resources = field(default_factory=dict)
    """The resources that it needs."""
    group: str = ""
    """Its placement group; "" if it has none."""
    created: int = 0
    """When it was created, in milliseconds; orders tasks by their age."""
    creates_actor: bool = False
    """Whether it makes the actor `actor`."""

    @property
    def runs(self) -> bool:
        """Whether the task has begun, so that Ray's state is one of `RUNNING...`."""
        return self.state.startswith("RUNNING")


@dataclass(frozen=True, slots=True)
class RayActor:
    """An actor that is not dead (ActorState)."""

    id: str
    """Ray's id of the actor, to which `RayTask.actor` refers."""
    name: str
    """The name of its class."""
    state: str
    """Ray's state of the actor, such as `ALIVE` or `PENDING_CREATION`."""
    job: str = ""
    """The id of the job that has created the actor; "" if Ray does not report it."""
    node_id: str = ""
    """The id of the actor's node; "" while it has none."""
    pid: int = 0
    """The id of its process; 0 while it has none."""
    resources: Resources = field(default_factory=dict)
    """The resources that it needs, and keeps until it ends."""
    group: str = ""
    """Its placement group; "" if it has none."""
    is_detached: bool = False
    """Whether it outlives its job."""


@dataclass(frozen=True, slots=True)
class RayGroup:
    """A placement group that is not removed (PlacementGroupState)."""

    id: str
    """Ray's id of the group, to which `RayTask.group` and `RayActor.group` refer."""
    state: str
    """Ray's state of the group, such as `PENDING`; `CREATED` once all bundles have their resources."""
    job: str = ""
    """The job that has created it."""
    bundles: tuple[Resources, ...] = ()
    """The resources of each bundle."""


@dataclass(frozen=True, slots=True)
class RayState:
    """Everything that Ray reports about unfinished work."""

    tasks: tuple[RayTask, ...] = ()
    """The unfinished tasks, each once."""
    actors: tuple[RayActor, ...] = ()
    """The actors that are not dead."""
    groups: tuple[RayGroup, ...] = ()
    """The placement groups that are not removed."""
    nodes: tuple[Resources, ...] = ()
    """The resources of each node."""
    used: Resources = field(default_factory=dict)
    """The resources in use in the whole cluster, as far as Ray reports them."""
    problem: str = ""
    """Why Ray has not answered, for users; then all else is empty. "" if it has answered."""


@dataclass(frozen=True, slots=True)
class ListCut:
    """An event: Ray or raydap has cut a list."""

    text: str
    """A sentence for users: why the list was cut, and what is missing."""
