"""The functions of a file that run in workers, and their roles there."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from raydap.lsp.analysis.objects import OWN_CLASS, Objects
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import DECORATED, CallSite, ParsedFile

DEPLOYMENTS = {"ray.serve.deployment", "ray.serve.api.deployment", "ray.serve.ingress"}
_DATASET_METHODS = {"map", "map_batches", "flat_map", "filter", "map_groups", "add_column"}
_DATA_DECORATORS = {"ray.data.expressions.udf"}
_BATCH_METHODS = {"map_batches", "map_groups"}
"""The methods of datasets whose names no other library has but those in `_OTHER_LIBRARIES`."""
_OTHER_LIBRARIES = ("narwhals", "polars")
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
_BREAKPOINTS = (
    "builtins.breakpoint",
    "ray.util.pdb.set_trace",
    "ray.util.rpdb.set_trace",
    "ray.util.debugpy.set_trace",
)
_SECOND = {"add_column", "register_trainable"}
"""Ray's functions whose second argument is the function to run. It is the first one of all others."""
_FUNCTION_KEYWORDS = {"fn", "func", "train_loop_per_worker", "trainable", "run_or_experiment"}
"""The keyword arguments of Ray's functions that are functions to run."""


@dataclass(frozen=True, slots=True)
class WorkerRole:
    """The reason why a function runs in a worker."""

    kind: str
    """TASK, ACTOR, ACTOR_CALL, DATA, TRAIN, TUNE, SERVE or POOL."""
    text: str
    """A description for a sentence, such as ``the task `train` ``."""
    called: bool = False
    """Whether Ray does not start the function itself, but code of a worker calls it."""


TASK, ACTOR, DATA, TRAIN, TUNE, SERVE, POOL = "task", "actor", "data", "train", "tune", "serve", "pool"
ACTOR_CALL = "actor call"
"""The kind of a function that `actor.__ray_call__.remote(function)` runs in an actor."""

_TEXTS = {
    TASK: "the task `{}`",
    ACTOR: "the actor method `{}`",
    ACTOR_CALL: "the function `{}` of an actor",
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
        self._with_bases: set[Scope] = set()
        """The classes whose methods have roles."""
        self.objects = Objects(program)
        """The objects that expressions of the file stand for."""
        self._has_datasets = _has_datasets(program)
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
                for argument in _functions(call):
                    for given in self.objects.functions(argument, call.scope):
                        yield given, kind

    def _decorator_kind(self, decorator: ast.expr, scope: Scope) -> str:
        decorator = self._program.value(decorator, scope)
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = self._program.dotted(self._program.value(function, scope), scope)
        return (
            TASK if name == "ray.remote" else SERVE if name in DEPLOYMENTS else DATA if name in _DATA_DECORATORS else ""
        )

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
            receiver = function.value
            if isinstance(receiver, ast.Attribute) and (receiver.attr, function.attr) == ("__ray_call__", "remote"):
                return ACTOR_CALL
            is_data, is_pool = function.attr in _DATASET_METHODS, function.attr in _POOL_METHODS
            origin = self.objects.origin(receiver, call.scope) if is_data or is_pool else ""
            if is_data and origin.startswith("ray.data."):
                return DATA
            if is_pool and origin in _POOLS:
                return POOL
            if (
                function.attr in _BATCH_METHODS
                and self._has_datasets
                and not (origin == OWN_CLASS and _is_name(receiver))
            ):
                return DATA
        return ""

    def _add(self, scope: Scope, kind: str) -> None:
        """Give a role to a function, or to the methods of a class and of its base classes in this file."""
        if not scope.is_class:
            self._roles.setdefault(scope, WorkerRole(kind, _TEXTS[kind].format(scope.name)))
            return
        kind = ACTOR if kind == TASK else kind
        self._classes[scope] = None
        for one in self.objects.with_bases(scope, self._with_bases):
            for method in one.children:
                if not method.is_class:
                    self._roles.setdefault(method, WorkerRole(kind, _TEXTS[kind].format(method.name)))

    def _follow_calls(self) -> None:
        """Give roles to the functions that code of workers calls by name, by `self`, or by `map` and the like."""
        calls: dict[Scope, list[CallSite]] = {}
        for call in self._program.calls:
            if isinstance(call.node.func, ast.Name) or call.name in _CALLERS or _is_of_self(call.node.func):
                calls.setdefault(call.scope, []).append(call)
        waiting = list(self._roles)
        while waiting:
            scope = waiting.pop()
            waiting += scope.children
            role = self.role(scope)
            assert role is not None
            for call in calls.get(scope, ()):
                called = call.node.args[0] if call.name in _CALLERS and call.node.args else call.node.func
                if isinstance(called, ast.Attribute):
                    callee = self.objects.method(called, scope)
                else:
                    callee = self._program.definition(called, scope)
                if callee is not None and not callee.is_class and self.role(callee) is None:
                    caller = role.text.partition(", called by ")[0]
                    self._roles[callee] = WorkerRole(role.kind, f"`{callee.name}`, called by {caller}", called=True)
                    waiting.append(callee)


def _is_name(receiver: ast.expr) -> bool:
    """Return whether an expression is a name or the call of a name, and so not the result of a method."""
    return isinstance(receiver.func if isinstance(receiver, ast.Call) else receiver, ast.Name)


def _is_of_self(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"


def _has_datasets(program: ParsedFile) -> bool:
    """Return whether the file uses Ray Data, and no other library with methods of the same names."""
    if any(one.partition(".")[0] in _OTHER_LIBRARIES for one in program.imports):
        return False
    return any(f"{one}.".startswith("ray.data.") for one in (*program.imports, *program.called))


def _functions(call: CallSite) -> Iterator[ast.expr]:
    """Yield the arguments of a call that may be functions for Ray to run."""
    function = call.node.func
    name = function.attr if isinstance(function, ast.Attribute) else call.name.rpartition(".")[2]
    position = 1 if name in _SECOND else 0
    yield from call.node.args[position : position + 1]
    for keyword in call.node.keywords:
        if keyword.arg in _FUNCTION_KEYWORDS:
            yield keyword.value
