"""What Ray says of unfinished work: tasks, actors, placement groups and resources. Ids are Ray's, in hex."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from raydap.protocol.types import WorkerKey

Resources = Mapping[str, float]
"""Amounts by Ray's names: CPU, GPU, memory, the user's own."""


@dataclass(frozen=True, slots=True)
class RayTask:
    """A task that has not finished (ray/util/state/common.py, TaskState). `name` is its function's, or `Class.method`.
    `worker` is where it runs or is queued, "" before that. `creates_actor`: it makes the actor `actor`. `created` is a
    time in milliseconds, which tells older tasks from newer ones."""

    id: str
    name: str
    state: str
    job: str = ""
    actor: str = ""
    parent: str = ""
    worker: WorkerKey = field(default=WorkerKey(""))
    resources: Resources = field(default_factory=dict)
    group: str = ""
    created: int = 0
    creates_actor: bool = False

    @property
    def runs(self) -> bool:
        return self.state.startswith("RUNNING")


@dataclass(frozen=True, slots=True)
class RayActor:
    """An actor that is not dead (ActorState). `name` is its class."""

    id: str
    name: str
    state: str
    job: str = ""
    node_id: str = ""
    pid: int = 0
    resources: Resources = field(default_factory=dict)
    group: str = ""
    is_detached: bool = False


@dataclass(frozen=True, slots=True)
class RayGroup:
    """A placement group that is not removed (PlacementGroupState)."""

    id: str
    state: str
    job: str = ""
    bundles: tuple[Resources, ...] = ()


@dataclass(frozen=True, slots=True)
class RayState:
    """`nodes` are the resources of each node, `used` those in use in the whole cluster, as far as Ray says.
    `problem` says why Ray has not answered, for users; then all else is empty."""

    tasks: tuple[RayTask, ...] = ()
    actors: tuple[RayActor, ...] = ()
    groups: tuple[RayGroup, ...] = ()
    nodes: tuple[Resources, ...] = ()
    used: Resources = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ListCut:
    """Ray or raydap has cut a list. `text` is a sentence for users: why, and what is missing."""

    text: str
