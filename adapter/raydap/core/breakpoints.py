"""Breakpoints as desired state: what the clients want, told to every worker there is and will be.

A client's request is answered at once from what is known; each worker's own answer is merged in when it comes. The
rule for workers that disagree: a breakpoint is verified as soon as one worker has verified it, and the worker that was
first decides the line.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.ids import Ids
from raydap.protocol import messages
from raydap.protocol.types import Handle, WorkerKey

WAITING = "No worker has this code yet; the breakpoint is set in each one that is attached."

FILTERS = ("raised", "uncaught", "userUnhandled")
"""debugpy's exception filters (debugpy/adapter/clients.py, initialize_request)."""


class Breakpoint:
    """One breakpoint.

    `spec` is the client's SourceBreakpoint or FunctionBreakpoint. `answers` are the workers', by worker and by the path
    at which it has the source: a file of a job can have two (paths.py).
    Those that verify it and those that complain are kept apart too: a view costs the same with any number of workers.
    """

    __slots__ = ("_complaints", "_verified", "answers", "id", "source", "spec")

    def __init__(self, handle: Handle, spec: dict[str, Any], source: messages.Source | None) -> None:
        self.id = handle
        self.spec = spec
        self.source = source
        self.answers: dict[WorkerKey, dict[str, dict[str, Any]]] = {}
        self._verified: dict[WorkerKey, dict[str, Any]] = {}
        self._complaints: dict[WorkerKey, str] = {}

    def take(self, worker: WorkerKey, path: str, answer: dict[str, Any]) -> bool:
        """Merges a worker's answer for one path of the source; returns whether clients see a difference."""
        before = self.view()
        answers = self.answers.setdefault(worker, {})
        answers[path] = answer
        self._sort(worker, list(answers.values()))
        return self.view() != before

    def drop(self, worker: WorkerKey) -> bool:
        """The worker's answers do not count any more; returns whether clients see a difference."""
        before = self.view()
        self.answers.pop(worker, None)
        self._sort(worker, [])
        return self.view() != before

    def _sort(self, worker: WorkerKey, answers: list[dict[str, Any]]) -> None:
        self._verified.pop(worker, None)
        self._complaints.pop(worker, None)
        for answer in answers:
            if answer.get("verified") is True:
                self._verified.setdefault(worker, answer)
            elif answer.get("message"):
                self._complaints.setdefault(worker, str(answer["message"]))

    def view(self) -> messages.Breakpoint:
        """What clients see, merged from all answers."""
        best = next(iter(self._verified.values()), None)
        view: messages.Breakpoint = {"id": self.id, "verified": best is not None}
        line = (best or self.spec).get("line")
        if line is not None:
            view["line"] = line
        if self.source is not None:
            view["source"] = self.source
        if best is None:
            view["message"] = next(iter(self._complaints.values()), WAITING)
        return view


class Group:
    """The breakpoints that one request sets together: those of one source, or all function breakpoints.

    `path` is that of the source as the client has it, "" for function breakpoints.
    """

    __slots__ = ("arguments", "breakpoints", "command", "path")

    def __init__(self, command: str, arguments: dict[str, Any], breakpoints: list[Breakpoint]) -> None:
        self.command = command
        self.arguments = arguments
        self.breakpoints = breakpoints
        self.path = str(arguments["source"]["path"]) if "source" in arguments else ""

    def at(self, path: str) -> dict[str, Any]:
        """The arguments for a worker that has the source at `path`."""
        if path == self.path:
            return self.arguments
        return {**self.arguments, "source": {**self.arguments["source"], "path": path}}


class Breakpoints:
    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._groups: dict[str | None, Group] = {}  # By the path of the source; None for function breakpoints.
        self._doubtful: set[str | None] = set()
        self.conditions: dict[str, str] = {}
        self.exceptions: dict[str, Any] = {"filters": ["uncaught"]}
        """Until a client says otherwise: without `uncaught`, Ray's post-mortem stops would be lost without a word."""

    def groups(self) -> Iterator[Group]:
        """What a worker has to be told before it may run."""
        return (group for group in self._groups.values() if group.breakpoints)

    def set(self, command: str, arguments: dict[str, Any], keep: bool = False) -> Group:
        """Replaces the breakpoints of one source, or the function breakpoints. Raises ProblemError (BAD_ARGUMENT).

        `keep`: those there are stay, and come first.
        """
        source = _source(arguments) if command == "setBreakpoints" else None
        key = None if source is None else source["path"]
        before = self._groups[key].breakpoints if key in self._groups else []
        kept = {_same(breakpoint.spec): breakpoint for breakpoint in before}
        breakpoints = []
        specs = specs_of(arguments)
        self._doubtful.discard(key)
        if keep:
            asked = set(map(_same, specs))
            specs = [breakpoint.spec for breakpoint in before if _same(breakpoint.spec) not in asked] + specs
        for spec in specs:
            same = kept.pop(_same(spec), None)
            breakpoints.append(same if same is not None else Breakpoint(self._ids.new(), spec, source))
        group = self._groups[key] = Group(command, {**arguments, "breakpoints": specs}, breakpoints)
        if not breakpoints:
            del self._groups[key]
        return group

    def doubt(self) -> None:
        """Nobody is left who could say whether the breakpoints are still wanted."""
        self._doubtful = set(self._groups)

    def drop_doubtful(self) -> list[Group]:
        """Drops those that nobody has set again; returns their groups, which are empty now."""
        doubtful = [self._groups[key] for key in self._doubtful if key in self._groups]
        return [self.set(group.command, {**group.arguments, "breakpoints": []}) for group in doubtful]

    def all(self) -> Iterator[Breakpoint]:
        return (breakpoint for group in self._groups.values() for breakpoint in group.breakpoints)

    def set_exceptions(self, arguments: dict[str, Any]) -> None:
        """Replaces the exception filters. Raises ProblemError (BAD_ARGUMENT)."""
        filters, options = arguments.get("filters", []), arguments.get("filterOptions") or []
        if not isinstance(filters, list) or not isinstance(options, list) or not all(map(_is_option, options)):
            text = (
                'The arguments "filters" and "filterOptions" must be arrays, of names and of objects with "filterId".'
            )
            raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
        names = [*filters, *(option["filterId"] for option in options)]
        if any(name not in FILTERS for name in names):
            text = f'The argument "filters" may hold only {", ".join(FILTERS)}.'
            raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
        conditions = {option["filterId"]: option.get("condition") for option in options}
        # A filter that is also given without a condition stops always.
        self.conditions = {name: text for name, text in conditions.items() if text and name not in filters}
        kept = {key: value for key, value in arguments.items() if key != "filterOptions"}
        self.exceptions = {**kept, "filters": list(dict.fromkeys(names))}

    def answered(self, worker: WorkerKey, group: Group, answers: object, path: str = "") -> list[Breakpoint]:
        """Merges a worker's answer to `group`, told for `path`; returns the breakpoints that look different now."""
        changed = []
        for breakpoint, answer in zip(group.breakpoints, answers if isinstance(answers, list) else [], strict=False):
            if isinstance(answer, dict) and breakpoint.take(worker, path, answer) and self._wanted(breakpoint):
                changed.append(breakpoint)
        return changed

    def moved(self, worker: WorkerKey, answer: Mapping[str, Any]) -> list[Breakpoint]:
        """Merges a worker's `breakpoint` event; returns the breakpoints that look different now."""
        found = self._find(worker, answer.get("id"))
        if found is None:
            return []
        breakpoint, path = found
        changed = breakpoint.take(worker, path, {**breakpoint.answers[worker][path], **answer})
        return [breakpoint] if changed else []

    def forget(self, worker: WorkerKey) -> list[Breakpoint]:
        """The worker is gone; returns the breakpoints that look different now."""
        return [breakpoint for breakpoint in self.all() if breakpoint.drop(worker)]

    def handles(self, worker: WorkerKey, locals_: object) -> list[Handle]:
        """Our ids for a worker's `hitBreakpointIds`; those that are not ours are left out."""
        found = [self._find(worker, local) for local in (locals_ if isinstance(locals_, list) else [])]
        return [each[0].id for each in found if each is not None]

    def clear(self) -> None:
        self._groups.clear()
        self._doubtful.clear()
        self.exceptions = {"filters": ["uncaught"]}
        self.conditions.clear()

    def _wanted(self, wanted: Breakpoint) -> bool:
        return any(breakpoint is wanted for breakpoint in self.all())

    def _find(self, worker: WorkerKey, local: object) -> tuple[Breakpoint, str] | None:
        # debugpy numbers breakpoints from 0, and 0 == False in Python: hence the check of the type.
        if type(local) is not int:
            return None
        for breakpoint in self.all():
            for path, answer in breakpoint.answers.get(worker, {}).items():
                if answer.get("id") == local:
                    return breakpoint, path
        return None


def _source(arguments: dict[str, Any]) -> messages.Source:
    source = arguments.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("path"), str):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "source" must be an object with a "path".'))
    return cast("messages.Source", source)


def specs_of(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    specs = arguments.get("breakpoints") or []
    if not isinstance(specs, list) or not all(isinstance(spec, dict) for spec in specs):
        raise ProblemError(Problem(Code.BAD_ARGUMENT, 'The argument "breakpoints" must be an array of objects.'))
    return specs


def _is_option(option: object) -> bool:
    if not isinstance(option, dict) or not isinstance(option.get("filterId"), str):
        return False
    return isinstance(option.get("condition", ""), str)


def _same(spec: dict[str, Any]) -> str:
    """Two breakpoints with the same spec are one: it keeps its id and what workers said of it."""
    return repr(sorted(spec.items(), key=lambda item: item[0]))
