"""Breakpoints as desired state: what the clients want, sent to every worker, present and future.

A client's request is answered immediately from this state. Each worker's own answer is merged in when it arrives. A
breakpoint is verified if every worker that has answered verifies it. If only some do, its message contains their
number, and the first of them determines the line.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import cast

from raydap.core.model import barrier_terms, exception_filters, followed_specs
from raydap.core.model.barrier_terms import BarrierTerms
from raydap.core.model.exception_filters import ExceptionFilters
from raydap.core.model.handles import Handles
from raydap.errors import Code, Problem, ProblemError
from raydap.presentation.safe_text import one_line
from raydap.presentation.short_text import shortened
from raydap.protocol import messages
from raydap.protocol.types import ClientId, Handle, WorkerKey

WAITING = "No worker has set this breakpoint yet; raydap sets it in every worker that it attaches to."

MAX_COMPLAINT = 300
"""The longest message of a worker about a breakpoint, in characters. Editors show it at the end of a line."""

_PLACE = {"line", "column", "name"}
"""The keys of a spec that determine the place of a breakpoint."""


class RunBreakpoint:
    """One breakpoint.

    The answers that verify it and the answers with a message are kept apart, so that `view` takes the same time with
    any number of workers.
    """

    __slots__ = ("_complaints", "_verified", "answers", "author", "barrier", "id", "mistake", "sent", "source", "spec")

    def __init__(
        self, handle: Handle, spec: dict[str, object], source: messages.Source | None, author: ClientId | None
    ) -> None:
        self.id = handle
        self.author = author
        """The client that has sent the spec."""
        self.sent: tuple[bool, int | None] | None = None
        """`verified` and the line in the last event about the breakpoint; None before the first event."""
        self.spec = spec
        """The client's SourceBreakpoint or FunctionBreakpoint."""
        self.source = source
        """None for a function breakpoint."""
        self.barrier: BarrierTerms | None = None
        """The terms if the breakpoint holds workers until all have arrived (workers/barriers.py)."""
        self.mistake = ""
        """Why the breakpoint cannot be set, for users; "" if it can."""
        try:
            self.barrier = barrier_terms.of_breakpoint(spec)
        except ValueError as error:
            self.mistake = str(error)
        self.answers: dict[WorkerKey, dict[str, dict[str, object]]] = {}
        """The workers' answers, by worker and by the path of the source in that worker.

        A file of a job can have two paths (translate/paths.py).
        """
        self._verified: dict[WorkerKey, dict[str, object]] = {}
        self._complaints: dict[WorkerKey, str] = {}

    @property
    def sent_spec(self) -> dict[str, object]:
        """The spec that workers get. That of a barrier lacks the hit condition, so that each hit stops."""
        return self.spec if self.barrier is None else {k: v for k, v in self.spec.items() if k != "hitCondition"}

    @property
    def place(self) -> tuple[str, object]:
        """The place where the client has set it: the path and the line, or "" and the function's name."""
        is_line = self.source is not None
        return ("" if self.source is None else self.source["path"]), self.spec.get("line" if is_line else "name")

    def is_at(self, spec: dict[str, object]) -> bool:
        """Return whether a spec of the same group is for the same line or function.

        The line counts as the client has set it, and as the workers have moved it.
        """
        if self.source is None:
            return spec.get("name") == self.spec.get("name")
        return spec.get("line") in (self.spec.get("line"), self.view().get("line"))

    def take(self, worker: WorkerKey, path: str, answer: dict[str, object]) -> bool:
        """Merge a worker's answer for one path of the source. Return whether clients see a difference."""
        before = self.view()
        answers = self.answers.setdefault(worker, {})
        answers[path] = answer
        self._sort(worker, list(answers.values()))
        return self.view() != before

    def drop(self, worker: WorkerKey) -> bool:
        """Drop a worker's answers. Return whether clients see a difference."""
        before = self.view()
        self.answers.pop(worker, None)
        self._sort(worker, [])
        return self.view() != before

    def _sort(self, worker: WorkerKey, answers: list[dict[str, object]]) -> None:
        self._verified.pop(worker, None)
        self._complaints.pop(worker, None)
        for answer in answers:
            if answer.get("verified") is True:
                self._verified.setdefault(worker, answer)
            elif answer.get("message"):
                self._complaints.setdefault(worker, shortened(one_line(str(answer["message"])), MAX_COMPLAINT))

    def view(self) -> messages.Breakpoint:
        """Return the breakpoint as clients see it, merged from all answers."""
        best = next(iter(self._verified.values()), None)
        verified, answered = len(self._verified), len(self.answers)
        view: messages.Breakpoint = {"id": self.id, "verified": 0 < verified == answered}
        line = (best or self.spec).get("line")
        if type(line) is int:
            view["line"] = line
        if self.source is not None:
            view["source"] = self.source
        complaint = next(iter(self._complaints.values()), "")
        if best is None:
            view["message"] = self.mistake or complaint or WAITING
        elif verified < answered:
            view["message"] = f"Set in {verified} of {answered} workers. {complaint}".rstrip()
        return view


class Group:
    """The breakpoints that one request sets together: those of one source, or all function breakpoints."""

    __slots__ = ("arguments", "breakpoints", "command", "is_empty", "path", "sent")

    def __init__(
        self,
        command: str,
        arguments: dict[str, object],
        breakpoints: list[RunBreakpoint],
        followed: Collection[dict[str, object]] = (),
    ) -> None:
        self.command = command
        self.breakpoints = breakpoints
        self.sent = [breakpoint for breakpoint in breakpoints if not breakpoint.mistake]
        """The breakpoints that workers get, in the order of `arguments`; the others have a mistake."""
        specs = [breakpoint.sent_spec for breakpoint in self.sent]
        self.arguments = {**arguments, "breakpoints": followed_specs.merged(specs, followed)}
        """The request's arguments for workers that have the source at `path`.

        They include the breakpoints of steps that follow calls, after the clients' own.
        """
        self.is_empty = not breakpoints and not followed
        source = arguments.get("source")
        self.path = str(source["path"]) if isinstance(source, dict) else ""
        """The client's path of the source; "" for function breakpoints."""

    def at(self, path: str) -> dict[str, object]:
        """Return the arguments for a worker that has the source at `path`."""
        if path == self.path:
            return self.arguments
        source = self.arguments["source"]
        assert isinstance(source, dict)
        return {**self.arguments, "source": {**source, "path": path}}


class RunBreakpoints:
    """The breakpoints and exception filters of a run."""

    def __init__(self, handles: Handles) -> None:
        self._all_handles = handles
        self._groups: dict[str | None, Group] = {}  # By the path of the source; None for function breakpoints.
        self._followed: dict[int, dict[str, object]] = {}
        """The function breakpoints of steps that follow calls (workers/remote_steps.py), by the number of the step."""
        self._unconfirmed: set[str | None] = set()
        """The keys of the groups that no client has set again since `mark_unconfirmed`."""
        self._filters: dict[ClientId | None, ExceptionFilters] = {None: ExceptionFilters()}
        """The filters of each client. The default applies until a client sets filters."""

    @property
    def can_stop(self) -> bool:
        """Whether a breakpoint or filter can stop a worker that calls no breakpoint().

        The filter `uncaught` alone cannot, because Ray catches the exceptions of its tasks.
        """
        exceptions = self.exceptions
        filters = exceptions["filters"]
        others = isinstance(filters, list) and any(name != "uncaught" for name in filters)
        return bool(self._groups) or others or bool(exceptions.get("exceptionOptions"))

    @property
    def exceptions(self) -> dict[str, object]:
        """The arguments of setExceptionBreakpoints for workers, with the filters of all clients."""
        return exception_filters.together(self._filters.values())

    @property
    def conditions(self) -> dict[str, str]:
        """The conditions, by filter. Workers do not get them (workers/exception_conditions.py)."""
        return exception_filters.conditions(self._filters.values())

    def groups(self) -> Iterator[Group]:
        """Return the groups that have to be set in a worker before it may run."""
        return (group for group in self._groups.values() if not group.is_empty)

    def set(
        self,
        command: str,
        arguments: dict[str, object],
        author: ClientId | None = None,
        foreign: Collection[Handle] = (),
        guarded: Collection[Handle] = (),
    ) -> Group:
        """Replace the breakpoints of one source, or the function breakpoints. Raises ProblemError (BAD_ARGUMENT).

        `foreign` breakpoints stay, and come first, unless the request has one in the same place. `guarded` breakpoints
        keep their conditions if the request repeats only their place, because DAP's events contain nothing else.
        """
        source = _source(arguments) if command == "setBreakpoints" else None
        key = None if source is None else source["path"]
        before = self._groups[key].breakpoints if key in self._groups else []
        kept = {_same(breakpoint.spec): breakpoint for breakpoint in before}
        breakpoints = []
        specs = specs_of(arguments)
        self._unconfirmed.discard(key)
        specs = [_completed(spec, [each for each in before if each.id in guarded]) for spec in specs]
        others = [each for each in before if each.id in foreign and not any(map(each.is_at, specs))]
        for spec in [*(each.spec for each in others), *specs]:
            same = kept.pop(_same(spec), None)
            breakpoints.append(
                same if same is not None else RunBreakpoint(self._all_handles.new(), spec, source, author)
            )
        return self._keep(key, command, arguments, breakpoints)

    def _keep(
        self, key: str | None, command: str, arguments: dict[str, object], breakpoints: list[RunBreakpoint]
    ) -> Group:
        followed = list(self._followed.values()) if key is None else []
        group = self._groups[key] = Group(command, arguments, breakpoints, followed)
        if group.is_empty:
            del self._groups[key]
        return group

    def follow(self, number: int, spec: dict[str, object] | None) -> Group:
        """Set or remove the function breakpoint of a step that follows a call. No client sees it."""
        self._followed.pop(number, None)
        if spec is not None:
            self._followed[number] = spec
        before = self._groups.get(None)
        arguments, breakpoints = ({}, []) if before is None else (before.arguments, before.breakpoints)
        return self._keep(None, "setFunctionBreakpoints", arguments, breakpoints)

    def is_current(self, group: Group) -> bool:
        """Return whether no later request has replaced this group."""
        key = group.path if group.command == "setBreakpoints" else None
        return self._groups.get(key) is (None if group.is_empty else group)

    def mark_unconfirmed(self) -> None:
        """Mark all breakpoints as unconfirmed: the last client has left, and the next may not want them."""
        self._unconfirmed = set(self._groups)

    def drop_unconfirmed(self) -> list[Group]:
        """Drop the groups that no client has set again since `mark_unconfirmed`. Return them; they are empty now."""
        unconfirmed = [self._groups[key] for key in self._unconfirmed if key in self._groups]
        return [self.set(group.command, {**group.arguments, "breakpoints": []}) for group in unconfirmed]

    def all(self) -> Iterator[RunBreakpoint]:
        """Return all breakpoints."""
        return (breakpoint for group in self._groups.values() for breakpoint in group.breakpoints)

    def set_exceptions(self, arguments: dict[str, object], author: ClientId | None = None) -> None:
        """Replace the exception filters of one client. Raises ProblemError (BAD_ARGUMENT)."""
        self._filters[author] = exception_filters.parse(arguments)
        if author is not None:
            self._filters.pop(None, None)

    def forget_filters(self, present: Collection[ClientId]) -> bool:
        """Drop the filters of absent clients, if a client that is present has set filters.

        Return whether the filters of workers change.
        """
        before = self.exceptions
        if self._filters.keys() & present:
            self._filters = {client: filters for client, filters in self._filters.items() if client in present}
        return self.exceptions != before

    def answered(self, worker: WorkerKey, group: Group, answers: object, path: str = "") -> list[RunBreakpoint]:
        """Merge a worker's answer to `group`, sent for `path`. Return the breakpoints that look different now."""
        changed = []
        for breakpoint, answer in zip(group.sent, answers if isinstance(answers, list) else [], strict=False):
            if isinstance(answer, dict) and breakpoint.take(worker, path, answer) and self.has(breakpoint):
                changed.append(breakpoint)
        return changed

    def moved(self, worker: WorkerKey, answer: Mapping[str, object]) -> list[RunBreakpoint]:
        """Merge a worker's `breakpoint` event. Return the breakpoints that look different now."""
        found = self._find(worker, answer.get("id"))
        if found is None:
            return []
        breakpoint, path = found
        changed = breakpoint.take(worker, path, {**breakpoint.answers[worker][path], **answer})
        return [breakpoint] if changed else []

    def forget(self, worker: WorkerKey) -> list[RunBreakpoint]:
        """Drop the answers of a worker that is gone. Return the breakpoints that look different now."""
        return [breakpoint for breakpoint in self.all() if breakpoint.drop(worker)]

    def ids_at(self, worker: WorkerKey, path: str, line: int, function: str) -> list[object]:
        """Return the worker's own ids of the breakpoints at the place where one of its threads has stopped."""
        ids = []
        for breakpoint in self.all():
            answer = breakpoint.answers.get(worker, {}).get(path if breakpoint.source is not None else "", {})
            name = breakpoint.spec.get("name")
            is_there = answer.get("line", breakpoint.spec.get("line")) == line if name is None else name == function
            if answer.get("verified") is True and is_there:
                ids.append(answer.get("id"))
        return ids

    @property
    def has_barriers(self) -> bool:
        """Whether any breakpoint is a barrier."""
        return any(breakpoint.barrier is not None for breakpoint in self.all())

    def hit(self, worker: WorkerKey, locals_: object) -> list[RunBreakpoint]:
        """Return the breakpoints for a worker's `hitBreakpointIds`, without ids that are not raydap's."""
        found = [self._find(worker, local) for local in (locals_ if isinstance(locals_, list) else [])]
        return [each[0] for each in found if each is not None]

    def at_place(self, place: tuple[str, object]) -> RunBreakpoint | None:
        """Return the breakpoint that is set at this place now, or None."""
        return next((breakpoint for breakpoint in self.all() if breakpoint.place == place), None)

    def clear(self) -> None:
        """Drop all breakpoints and filters."""
        self._groups.clear()
        self._followed.clear()
        self._unconfirmed.clear()
        self._filters = {None: ExceptionFilters()}

    def has(self, wanted: RunBreakpoint) -> bool:
        """Return whether this breakpoint is still set."""
        return any(breakpoint is wanted for breakpoint in self.all())

    def _find(self, worker: WorkerKey, local: object) -> tuple[RunBreakpoint, str] | None:
        # The type is checked because debugpy numbers breakpoints from 0, and 0 == False in Python.
        if type(local) is not int:
            return None
        for breakpoint in self.all():
            for path, answer in breakpoint.answers.get(worker, {}).items():
                if answer.get("id") == local:
                    return breakpoint, path
        return None


def _source(arguments: dict[str, object]) -> messages.Source:
    source = arguments.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("path"), str):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "source" must be an object with a "path".'))
    return cast("messages.Source", source)


def specs_of(arguments: dict[str, object]) -> list[dict[str, object]]:
    """Return the breakpoints of a request; without them, those of DAP's deprecated `lines`.

    Raises ProblemError (BAD_ARGUMENT).
    """
    specs = arguments.get("breakpoints")
    if specs is None:
        lines = arguments.get("lines") or []
        if not isinstance(lines, list) or not all(type(line) is int for line in lines):
            raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "lines" must be an array of whole numbers.'))
        return [{"line": line} for line in lines]
    specs = specs or []
    if not isinstance(specs, list) or not all(isinstance(spec, dict) for spec in specs):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "breakpoints" must be an array of objects.'))
    return specs


def _completed(spec: dict[str, object], guarded: list[RunBreakpoint]) -> dict[str, object]:
    """Return the spec of the guarded breakpoint if this spec only repeats its place; otherwise return this spec."""
    if spec.keys() <= _PLACE:
        for breakpoint in guarded:
            if breakpoint.is_at(spec):
                return breakpoint.spec
    return spec


def _same(spec: dict[str, object]) -> str:
    """Return a key that is equal for equal specs. A breakpoint that is set again keeps its id and its answers."""
    return repr(sorted(spec.items(), key=lambda item: item[0]))
