"""The scopes, calls, assignments and dictionaries of a file, found in one pass over its syntax tree."""

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

Binding: TypeAlias = "str | Scope | ast.expr | Annotated | Entered | None"
"""An object that a name is bound to.

A string is the whole name of an import, a scope is a function or class, and an expression is an assigned value. None is
anything else.
"""


@dataclass(frozen=True, slots=True)
class Annotated:
    """The binding of a parameter with an annotation."""

    annotation: ast.expr


@dataclass(frozen=True, slots=True)
class Entered:
    """The binding of the name in `with expression as name`."""

    expression: ast.expr


@dataclass(slots=True, eq=False)
class Scope:
    """The module, a function, or a class."""

    node: ast.Module | ast.ClassDef | FunctionNode
    name: str
    """The qualified name, like `__qualname__` without `<locals>`; "" for the module."""
    parent: "Scope | None"
    """The scope around this one; None for the module."""
    names: dict[str, list[Binding]] = field(default_factory=dict)
    """The names that are bound in this scope, each with all of its bindings."""
    children: "list[Scope]" = field(default_factory=list)
    """The scopes directly in this one, in the order of the source."""
    outer: "dict[str, Scope]" = field(default_factory=dict)
    """The names that `global` and `nonlocal` statements declare here, each with the scope that the name belongs to."""

    @property
    def is_class(self) -> bool:
        """Whether this is the scope of a class."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding of a name, in the scope that a `global` or `nonlocal` statement declares for it."""
        self.outer.get(name, self).names.setdefault(name, []).append(binding)

    def declare_outer(self, node: ast.Global | ast.Nonlocal) -> None:
        """Find the scopes of the names in a `global` or `nonlocal` statement, and add them to `outer`."""
        *functions, module = [one for one in self.enclosing() if one is not self and not one.is_class] or [self]
        for name in node.names:
            if isinstance(node, ast.Global):
                owner = module
            else:
                owner = next((one for one in functions if name in one.names), (*functions, module)[0])
            if owner is not self:
                self.outer[name] = owner

    def enclosing(self) -> "Iterator[Scope]":
        """Yield this scope and the scopes around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True, eq=False)
class CallSite:
    """A call in the source."""

    node: ast.Call
    scope: Scope
    statement: ast.stmt
    """The innermost statement around the call."""
    tries: tuple[ast.Try, ...]
    """The `try` statements of the same function with the call in their bodies, outermost first."""
    name: str = ""
    """The whole name of the function (see `ParsedFile.dotted`); set by `ParsedFile`."""


@dataclass(slots=True, eq=False)
class Assignment:
    """An assignment to one target, or `target |= value`. A statement with several targets has several assignments."""

    target: ast.expr
    value: ast.expr
    scope: Scope
    statement: ast.stmt


@dataclass(slots=True, eq=False)
class Part:
    """The results of the pass over some statements of the module, which share no line with other statements.

    All lists are in the order of the source.
    """

    statements: list[ast.stmt]
    names: dict[str, list[Binding]] = field(default_factory=dict)
    """The names that the statements bind in the module."""
    scopes: list[Scope] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    """The assignments with `=`, `:=` or an annotation."""
    unions: list[Assignment] = field(default_factory=list)
    """The assignments with `|=`."""
    dictionaries: list[tuple[ast.Dict, Scope]] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    """All nodes that have line numbers, which incremental.py moves when lines above are added or removed."""


class ParsedFile:
    """A whole file, made of its parts.

    `module` is the scope with which the parts were read. Its names become the names of all parts.
    """

    def __init__(self, module: Scope, parts: list[Part]) -> None:
        self.module = module
        self.scopes = [one for part in parts for one in part.scopes]
        self.calls = [one for part in parts for one in part.calls]
        self.assignments = [one for part in parts for one in part.assignments]
        self.unions = [one for part in parts for one in part.unions]
        self.dictionaries = [one for part in parts for one in part.dictionaries]
        self._lambdas = {one.node: one for one in self.scopes if isinstance(one.node, ast.Lambda)}
        module.names = {}
        for part in parts:
            for name, bindings in part.names.items():
                module.names.setdefault(name, []).extend(bindings)
        self._roots: dict[int, str] = {}
        """The whole name of each imported name, by the identity of its list of bindings.

        It is found once for each list, because a list may contain thousands of bindings.
        """
        self._calls: dict[str, list[CallSite]] = {}
        for call in self.calls:
            call.name = self.dotted(call.node.func, call.scope)
            if call.name:
                self._calls.setdefault(call.name, []).append(call)

    @cached_property
    def is_main(self) -> bool:
        """Whether the module has an `if __name__ == "__main__"` at its top level."""
        assert isinstance(self.module.node, ast.Module)
        return any(
            isinstance(node, ast.Constant) and node.value == "__main__"
            for statement in self.module.node.body
            if isinstance(statement, ast.If)
            for node in ast.walk(statement.test)
        )

    @property
    def called(self) -> Collection[str]:
        """The whole names of all functions that the file calls (see `dotted`)."""
        return self._calls.keys()

    def calls_of(self, *names: str) -> list[CallSite]:
        """Return the calls of the functions with these whole names (see `dotted`)."""
        return [call for name in names for call in self._calls.get(name, ())]

    def bindings(self, name: str, scope: Scope) -> list[Binding] | None:
        """Return all bindings that a name may have where `scope` uses it; None if the file does not bind the name."""
        for place in scope.enclosing():
            if name in place.outer:
                return place.outer[name].names.get(name)
            if name in place.names and (place is scope or not place.is_class):
                return place.names[name]
        return None

    def dotted(self, expression: ast.expr, scope: Scope) -> str:
        """Return the whole name of the object that an expression refers to.

        It is "ray.remote" for `r.remote` after `import ray as r`. The name of a builtin begins with "builtins.". The
        name is "" for an object that is neither imported nor a builtin.
        """
        attributes: list[str] = []
        while isinstance(expression, ast.Attribute):
            attributes.append(expression.attr)
            expression = expression.value
        if not isinstance(expression, ast.Name):
            return ""
        bindings = self.bindings(expression.id, scope)
        if bindings is None:
            root = f"builtins.{expression.id}" if hasattr(builtins, expression.id) else ""
        else:
            # Only the first import counts. Others are for other versions, such as an import in `except ImportError`.
            if id(bindings) not in self._roots:
                is_imported = all(isinstance(one, str) for one in bindings)
                self._roots[id(bindings)] = bindings[0] if is_imported else ""  # type: ignore[assignment]
            root = self._roots[id(bindings)]
        return ".".join([root, *reversed(attributes)]) if root else ""

    def definition(self, expression: ast.expr, scope: Scope) -> Scope | None:
        """Return the function or class of this file that an expression names, else None. A lambda names itself."""
        if isinstance(expression, ast.Lambda):
            return self._lambdas.get(expression)
        if not isinstance(expression, ast.Name):
            return None
        found = [one for one in self.bindings(expression.id, scope) or [] if isinstance(one, Scope)]
        return found[-1] if found else None

    def value(self, expression: ast.expr, scope: Scope) -> ast.expr:
        """Return the value of a name that is assigned exactly once; for any other expression, the expression."""
        if isinstance(expression, ast.Name):
            bindings = self.bindings(expression.id, scope)
            if bindings is not None and len(bindings) == 1 and isinstance(bindings[0], ast.expr):
                return bindings[0]
        return expression


_Item: TypeAlias = tuple[ast.AST, Scope, ast.stmt | None, tuple[ast.Try, ...]]

_IGNORED_FIELDS = {"ctx", "op", "ops", "annotation", "returns", "type_comment", "type_params", "type_ignores"}
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _IGNORED_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEFINITIONS = (*DECORATED, ast.Lambda)


def read_part(statements: list[ast.stmt], module: Scope) -> Part:
    """Read some statements of a module. `module` is the scope of the whole module."""
    return _Reader(statements, module).part


class _Reader:
    """The pass over some statements.

    It has a stack of its own, because expressions may be nested deeper than Python's recursion limit.
    """

    def __init__(self, statements: list[ast.stmt], module: Scope) -> None:
        self.part = Part(statements)
        module.names, module.children = self.part.names, []
        self._stack: list[_Item] = []
        self._push_all(statements, module, None, ())
        while self._stack:
            self._visit(*self._stack.pop())

    def _visit(self, node: ast.AST, scope: Scope, statement: ast.stmt | None, tries: tuple[ast.Try, ...]) -> None:
        kind = type(node)
        if "lineno" in kind._attributes:
            self.part.nodes.append(node)
        if kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                scope.bind(node.id, None)  # type: ignore[attr-defined]
            return
        if kind is ast.Constant:
            return
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, _DEFINITIONS):
            self._define(node, scope, statement, tries)
            return
        if isinstance(node, _TRIES):
            self._push_all(node.body, scope, statement, (*tries, node))
            for rest in (node.handlers, node.orelse, node.finalbody):
                self._push_all(rest, scope, statement, tries)
            return
        skipped: ast.expr | None = None
        if kind is ast.Call:
            assert isinstance(node, ast.Call)
            assert statement is not None
            self.part.calls.append(CallSite(node, scope, statement, tries))
        elif kind is ast.Dict:
            assert isinstance(node, ast.Dict)
            self.part.dictionaries.append((node, scope))
        elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            scope.bind(node.optional_vars.id, Entered(node.context_expr))
            skipped = node.optional_vars
            self.part.nodes.append(skipped)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
            assert statement is not None
            self.part.unions.append(Assignment(node.target, node.value, scope, statement))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            assert statement is not None
            skipped = self._assign(node, scope, statement)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            _bind_imports(node, scope)
            return
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.declare_outer(node)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name is not None:
            scope.bind(node.name, None)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            scope.bind(node.rest, None)
        for name in _CHILDREN[kind]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                if value[:1] != [skipped]:
                    self._push_all(value, scope, statement, tries)
            elif isinstance(value, ast.AST) and value is not skipped:
                self._stack.append((value, scope, statement, tries))

    def _push_all(self, nodes: list[Any], scope: Scope, statement: ast.stmt | None, tries: tuple[ast.Try, ...]) -> None:
        for node in reversed(nodes):
            if isinstance(node, ast.AST):
                self._stack.append((node, scope, statement, tries))

    def _define(
        self, node: ast.ClassDef | FunctionNode, scope: Scope, statement: ast.stmt | None, tries: tuple[ast.Try, ...]
    ) -> None:
        plain = "lambda" if isinstance(node, ast.Lambda) else node.name
        inner = Scope(node, f"{scope.name}.{plain}" if scope.name else plain, scope)
        self.part.scopes.append(inner)
        scope.children.append(inner)
        if isinstance(node, ast.Lambda):
            self._stack.append((node.body, inner, statement, ()))
        else:
            scope.bind(plain, inner)
            self._push_all(node.body, inner, statement, ())
            self._push_all(node.decorator_list, scope, statement, tries)
        if isinstance(node, ast.ClassDef):
            self._push_all([*node.bases, *node.keywords], scope, statement, tries)
        else:
            arguments = node.args
            for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                inner.bind(argument.arg, None if argument.annotation is None else Annotated(argument.annotation))
            for rest in (arguments.vararg, arguments.kwarg):
                if rest is not None:
                    inner.bind(rest.arg, None)
            self._push_all([*arguments.defaults, *arguments.kw_defaults], scope, statement, tries)

    def _assign(
        self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, scope: Scope, statement: ast.stmt
    ) -> ast.expr | None:
        """Record an assignment; return its target if the target needs no visit, else None."""
        if isinstance(node, ast.Assign) and len(node.targets) != 1:
            self.part.assignments += [Assignment(target, node.value, scope, statement) for target in node.targets]
            return None
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if node.value is None:
            return target
        self.part.assignments.append(Assignment(target, node.value, scope, statement))
        if not isinstance(target, ast.Name):
            return None
        scope.bind(target.id, node.value)
        self.part.nodes.append(target)
        return target


def _bind_imports(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            scope.bind(name, alias.name if alias.asname else name)
    else:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            scope.bind(alias.asname or alias.name, f"{module}.{alias.name}")
