"""Nodes of threads and coroutines, and the Ray tasks that they run."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from raydap.analysis.ray_state import RayTask
from raydap.analysis.thread_stacks import CodeOwner, SampledStack
from raydap.analysis.waits.wait_graph import GraphNode
from raydap.presentation.short_text import file_line
from raydap.protocol.raydap_messages import WorkerEntry
from raydap.protocol.stack_messages import CodeLocation
from raydap.protocol.types import WorkerKey

_METHODS = "actor_method_executor"
"""Ray's function that calls a method of an actor (ray/_private/function_manager.py)."""

_LOOPS = "AsyncIO Thread"
"""The beginning of the names of an asynchronous actor's threads (Ray's _raylet.pyx)."""

_CALLS = {"get_objects": "ray.get", "get": "ray.get", "wait": "ray.wait"}
_WORKER = "ray/_private/worker.py"


@dataclass(eq=False, slots=True)
class GraphThread:
    """A thread or coroutine with code of the user, and its node."""

    stack: SampledStack
    """The stack that was read, with the client's paths."""
    node: GraphNode
    """The node that represents the thread in the graph."""
    tasks: list[RayTask] = field(default_factory=list)
    """The tasks that it may run."""
    is_part: bool = False
    """Whether it is a coroutine that another coroutine has begun, for the same Ray task."""

    @property
    def gets(self) -> bool:
        """Whether its frames show that it waits in ray.get or ray.wait, but not for which objects."""
        return bool(_call_of_ray(self.stack))

    @property
    def is_loop(self) -> bool:
        """Whether it is the thread of an asynchronous actor's event loop, in which code of the user runs now."""
        return self.stack.name.startswith(_LOOPS) and not self.stack.coroutine


@dataclass(eq=False, slots=True)
class GraphProcess:
    """A worker or driver."""

    member: WorkerEntry
    """The worker or driver, with its rank."""
    threads: list[GraphThread] | None
    """The threads with code of the user; None if the stacks could not be read."""
    tasks: list[RayTask] = field(default_factory=list)
    """The tasks that run there, as Ray reports them."""

    @property
    def key(self) -> WorkerKey:
        """The key of the worker."""
        return WorkerKey(self.member.key)

    def thread(self, ident: int) -> GraphThread | None:
        """Return the thread with this ident, not a coroutine; None if there is none."""
        found = (each for each in self.threads or () if each.stack.ident == ident and not each.stack.coroutine)
        return next(found, None) if ident else None


def process(member: WorkerEntry, stacks: Sequence[SampledStack] | None) -> GraphProcess:
    """Return a process with its threads; `stacks` have the client's paths, and are None if they could not be read."""
    if stacks is None:
        return GraphProcess(member, None)
    users = [each for each in stacks if each.is_users]
    is_alone = len([each for each in users if not each.coroutine]) == 1
    threads = [GraphThread(each, _node(member, each, is_alone, number)) for number, each in enumerate(users)]
    return GraphProcess(member, threads)


def _node(member: WorkerEntry, stack: SampledStack, is_alone: bool, number: int) -> GraphNode:
    # A stack that was read from outside has no ident, so its name and its position identify the thread.
    identity: Hashable = (stack.ident, stack.name) if stack.ident else (number, stack.name)
    frame = next((each for each in stack.frames if each.owner == CodeOwner.USER), None)
    entry = member
    is_paused = entry.state == "paused" and stack.activity != "running"
    node = GraphNode(
        key=("thread", entry.key, identity),
        label="" if stack.coroutine or is_alone or stack.main else f"thread {stack.name}",
        state="paused" if is_paused else stack.activity,
        text=stack.place,
        member=member,
        location=None if frame is None else CodeLocation(name=frame.name, path=frame.path, line=frame.line),
    )
    if is_paused:
        where = "" if frame is None else f" in {node.text.rpartition(' below ')[2] or frame.name}"
        node.text = f"waits at breakpoint() for a debugger{where}"
    elif not stack.call and node.state == "blocked" and frame is not None:
        # A stack that was read from outside contains functions, but not the text of their calls.
        call = "a lock" if stack.wait is not None and stack.wait.kind == "lock" else _call_of_ray(stack)
        node.text = f"blocked in {call} ({file_line(frame.path, frame.line)})" if call else node.text
    return node


def _call_of_ray(stack: SampledStack) -> str:
    """Return Ray's function in which a thread waits for objects, such as `ray.get`; "" if it does not."""
    for frame in stack.frames:
        if frame.owner != CodeOwner.PLUMBING:
            break
        if frame.name in _CALLS and frame.path.replace("\\", "/").endswith(_WORKER):
            return _CALLS[frame.name]
    return ""


def assign(processes: Mapping[WorkerKey, GraphProcess], tasks: Iterable[RayTask]) -> None:
    """Assign to each thread the tasks that it may run."""
    for task in tasks:
        where = processes.get(task.worker) if task.runs else None
        if where is not None:
            where.tasks.append(task)
    for where in processes.values():
        _assign(where)
        for thread in where.threads or ():
            if len({each.name for each in thread.tasks}) == 1:
                thread.node.label = thread.tasks[0].name
            if len(thread.tasks) == 1:
                thread.node.task = thread.tasks[0].id


def _assign(where: GraphProcess) -> None:
    """Assign the tasks of a process to its threads.

    A coroutine reports its task. A thread in which Ray calls methods and functions runs the task whose function is in
    its stack. If there is none, it may run any task that no other thread runs, because the function may have another
    name.
    """
    threads = where.threads or []
    called = [each for each in threads if not each.stack.coroutine and _is_called_by_ray(each.stack)]
    unknown: list[RayTask] = []
    for task in where.tasks:
        name = task.name.rpartition(".")[2]
        own = [each for each in threads if each.stack.coroutine and each.stack.task == task.id]
        named = [each for each in own if _runs(each, name)][:1] or own[:1]
        for part in own:
            part.is_part = part not in named
        named = named or [each for each in called if _runs(each, name)]
        for thread in named:
            thread.tasks.append(task)
        if not named:
            unknown.append(task)
    # A task that its event loop does not run now is a waiting coroutine, or has not begun.
    free = [each for each in called if not each.tasks and not each.is_loop]
    for thread in free:
        thread.tasks += unknown


def _is_called_by_ray(stack: SampledStack) -> bool:
    is_method = any(frame.name == _METHODS for frame in stack.frames)
    return stack.main or is_method or stack.name.startswith(_LOOPS)


def _runs(thread: GraphThread, name: str) -> bool:
    """Return whether a function with this name, outside of Python's, Ray's and debugpy's own code, is in the stack."""
    return any(frame.name == name and frame.owner != CodeOwner.PLUMBING for frame in thread.stack.frames)
