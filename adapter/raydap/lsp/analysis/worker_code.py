"""The functions of a file that run in workers, and their roles there."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from raydap.lsp.analysis.syntax import DECORATED, Annotated, Binding, CallSite, Entered, ParsedFile, Scope

DEPLOYMENTS = {"ray.serve.deployment", "ray.serve.api.deployment", "ray.serve.ingress"}
_DATASET_METHODS = {"map", "map_batches", "flat_map", "filter", "map_groups", "add_column"}
_POOL_METHODS = {"apply", "apply_async", "imap", "imap_unordered", "map", "map_async", "starmap", "starmap_async"}
_POOLS = {"ray.util.multiprocessing.Pool", "ray.util.multiprocessing.pool.Pool"}
_TUNE_CALLS = {
    "ray.tune.Tuner",
    "ray.tune.register_trainable",
    "ray.tune.registry.register_trainable",
    "ray.tune.run",
    "ray.tune.tuner.Tuner",
}
_CALLERS = {"builtins.filter", "builtins.map", "functools.partial", "functools.reduce"}
"""Functions that call their first argument, or return a function that does."""
_MAX_HOPS = 100
"""The number of names that are followed to find the origin of an object."""
_BREAKPOINTS = (
    "builtins.breakpoint",
    "ray.util.pdb.set_trace",
    "ray.util.rpdb.set_trace",
    "ray.util.debugpy.set_trace",
)
_TUNE_WRAPPERS = {"ray.tune.with_parameters", "ray.tune.with_resources"}
_FUNCTION_KEYWORDS = {"fn", "func", "train_loop_per_worker", "trainable", "run_or_experiment"}
"""The keyword arguments of Ray's functions that are functions to run."""


@dataclass(frozen=True, slots=True)
class WorkerRole:
    """The reason why a function runs in a worker."""

    kind: str
    """TASK, ACTOR, DATA, TRAIN, TUNE, SERVE or POOL."""
    text: str
    """A description for a sentence, such as ``the task `train` ``."""
    called: bool = False
    """Whether Ray does not start the function itself, but code of a worker calls it."""


TASK, ACTOR, DATA, TRAIN, TUNE, SERVE, POOL = "task", "actor", "data", "train", "tune", "serve", "pool"

_TEXTS = {
    TASK: "the task `{}`",
    ACTOR: "the actor method `{}`",
    DATA: "the function `{}` of a dataset",
    TRAIN: "the training loop `{}`",
    TUNE: "the trial `{}`",
    SERVE: "the deployment `{}`",
    POOL: "the function `{}` of a pool",
}


class WorkerCode:
    """The functions of one file that run in workers."""

    def __init__(self, program: ParsedFile) -> None:
        self._program = program
        self._roles: dict[Scope, WorkerRole] = {}
        """The role of each function that runs in workers."""
        self._classes: dict[Scope, None] = {}
        """The classes that Ray starts, as an ordered set."""
        self._origins: dict[int, str | None] = {}
        """The origin of each name, by the identity of its list of bindings; None while it is being searched."""
        for scope, kind in self._marked():
            self._add(scope, kind)
        self._follow_calls()

    def role(self, scope: Scope) -> WorkerRole | None:
        """Return the role of code directly in `scope`; None if nothing in the file shows that workers run it."""
        for place in scope.enclosing():
            if place in self._roles:
                return self._roles[place]
        return None

    def is_decorated(self, scope: Scope) -> bool:
        """Return whether one of Ray's decorators replaces the function or class by another object."""
        return (
            isinstance(scope.node, DECORATED)
            and scope.parent is not None
            and any(self._decorator_kind(decorator, scope.parent) for decorator in scope.node.decorator_list)
        )

    def started(self) -> Iterator[Scope]:
        """Yield the functions and classes that Ray starts, such as tasks, actors and their methods."""
        yield from self._classes
        for scope, role in self._roles.items():
            if not role.called and not isinstance(scope.node, ast.Lambda):
                yield scope

    def breakpoints(self) -> Iterator[tuple[CallSite, WorkerRole]]:
        """Yield the calls of `breakpoint()`, or of Ray's functions behind it, in code of workers, with their roles."""
        for call in self._program.calls_of(*_BREAKPOINTS):
            role = self.role(call.scope)
            if role is not None:
                yield call, role

    def _marked(self) -> Iterator[tuple[Scope, str]]:
        """Yield the functions and classes that the file gives to Ray, by a decorator or a call, with their kinds."""
        program = self._program
        for scope in program.scopes:
            if isinstance(scope.node, DECORATED) and scope.parent is not None:
                for decorator in scope.node.decorator_list:
                    kind = self._decorator_kind(decorator, scope.parent)
                    if kind:
                        yield scope, kind
        for call in program.calls:
            kind = self._call_kind(call)
            if kind:
                for argument in _functions(call.node):
                    scope_of = program.definition(self._unwrapped(argument, call.scope), call.scope)
                    if scope_of is not None:
                        yield scope_of, kind

    def _decorator_kind(self, decorator: ast.expr, scope: Scope) -> str:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = self._program.dotted(function, scope)
        return TASK if name == "ray.remote" else SERVE if name in DEPLOYMENTS else ""

    def _call_kind(self, call: CallSite) -> str:
        """Return the kind of role that a call gives to the functions in its arguments; "" if it does not call Ray."""
        function = call.node.func
        if isinstance(function, ast.Call):
            # ray.remote(num_cpus=1)(f)
            return self._decorator_kind(function, call.scope)
        name = call.name
        if name:
            if name == "ray.remote":
                return TASK
            if name in DEPLOYMENTS:
                return SERVE
            if name in _TUNE_CALLS:
                return TUNE
            if name.startswith("ray.train.") and name.endswith("Trainer"):
                return TRAIN
            return ""
        if isinstance(function, ast.Attribute):
            is_data, is_pool = function.attr in _DATASET_METHODS, function.attr in _POOL_METHODS
            origin = self._origin(function.value, call.scope) or "" if is_data or is_pool else ""
            if is_data and origin.startswith("ray.data."):
                return DATA
            if is_pool and origin in _POOLS:
                return POOL
        return ""

    def _origin(self, expression: ast.expr, scope: Scope, hops: int = 0) -> str | None:
        """Return the whole name of the function that makes the first object of a chain of methods.

        Return "" if it is not known, and None if the search comes back to a name whose origin is being searched.
        """
        while True:
            if isinstance(expression, ast.Call):
                name = self._program.dotted(expression.func, scope)
                if name:
                    return name
                expression = expression.func
            elif isinstance(expression, ast.Attribute):
                expression = expression.value
            elif isinstance(expression, ast.Name) and hops < _MAX_HOPS:
                return self._origin_of_name(self._program.bindings(expression.id, scope) or [], scope, hops + 1)
            else:
                return ""

    def _origin_of_name(self, bindings: list[Binding], scope: Scope, hops: int) -> str | None:
        """Return the origin that all bindings of a name have; "" if they differ.

        All functions of ray.data count as the same origin. In `ds = ds.map(f)` the name is its own origin, so this
        binding does not count.
        """
        key = id(bindings)
        if key not in self._origins:
            self._origins[key] = None
            found = [self._origin_of_binding(one, scope, hops) for one in bindings]
            known = [one for one in found if one is not None]
            is_data = all(one.startswith("ray.data.") for one in known)
            self._origins[key] = known[0] if known and (is_data or len(set(known)) == 1) else ""
        return self._origins[key]

    def _origin_of_binding(self, binding: Binding, scope: Scope, hops: int) -> str | None:
        if isinstance(binding, Annotated):
            return self._program.dotted(_type_of(binding.annotation), scope)
        if isinstance(binding, Entered):
            return self._origin(binding.expression, scope, hops)
        return self._origin(binding, scope, hops) if isinstance(binding, ast.expr) else ""

    def _unwrapped(self, expression: ast.expr, scope: Scope) -> ast.expr:
        """Return the trainable in `tune.with_resources(trainable, ...)`; for any other expression, its value."""
        expression = self._program.value(expression, scope)
        while isinstance(expression, ast.Call) and expression.args:
            if self._program.dotted(expression.func, scope) not in _TUNE_WRAPPERS:
                break
            expression = self._program.value(expression.args[0], scope)
        return expression

    def _add(self, scope: Scope, kind: str) -> None:
        """Give a role to a function, or to the methods of a class and of its base classes in this file."""
        if not scope.is_class:
            self._roles.setdefault(scope, WorkerRole(kind, _TEXTS[kind].format(scope.name)))
            return
        kind = ACTOR if kind == TASK else kind
        self._classes[scope] = None
        for one in self.with_bases(scope):
            for method in one.children:
                if not method.is_class:
                    self._roles.setdefault(method, WorkerRole(kind, _TEXTS[kind].format(method.name)))

    def with_bases(self, scope: Scope) -> list[Scope]:
        """Return a class and its direct and indirect base classes in this file, each once."""
        found = [scope]
        known = {scope}
        for one in found:
            assert isinstance(one.node, ast.ClassDef)
            for base in one.node.bases:
                inherited = self._program.definition(base, one.parent or one)
                if inherited is not None and inherited.is_class and inherited not in known:
                    known.add(inherited)
                    found.append(inherited)
        return found

    def _follow_calls(self) -> None:
        """Give roles to the functions that code of workers calls by their plain names, or by `map` and the like."""
        calls: dict[Scope, list[CallSite]] = {}
        for call in self._program.calls:
            if isinstance(call.node.func, ast.Name) or call.name in _CALLERS:
                calls.setdefault(call.scope, []).append(call)
        waiting = list(self._roles)
        while waiting:
            scope = waiting.pop()
            waiting += scope.children
            role = self.role(scope)
            assert role is not None
            for call in calls.get(scope, ()):
                called = call.node.args[0] if call.name in _CALLERS and call.node.args else call.node.func
                callee = self._program.definition(called, scope)
                if callee is not None and not callee.is_class and self.role(callee) is None:
                    caller = role.text.partition(", called by ")[0]
                    self._roles[callee] = WorkerRole(role.kind, f"`{callee.name}`, called by {caller}", called=True)
                    waiting.append(callee)


def _last_name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def _type_of(annotation: ast.expr) -> ast.expr:
    """Return the type that an annotation names, also in a string, in `X | None` or in `Optional[X]`."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.right, ast.Constant):
        annotation = annotation.left
    elif isinstance(annotation, ast.Subscript) and _last_name(annotation.value) == "Optional":
        annotation = annotation.slice
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        name, *attributes = annotation.value.split(".")
        if all(one.isidentifier() for one in (name, *attributes)):
            annotation = ast.Name(name, ast.Load())
            for attribute in attributes:
                annotation = ast.Attribute(annotation, attribute, ast.Load())
    return annotation


def _functions(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call that may be functions for Ray to run."""
    yield from call.args[:2]
    for keyword in call.keywords:
        if keyword.arg in _FUNCTION_KEYWORDS:
            yield keyword.value
