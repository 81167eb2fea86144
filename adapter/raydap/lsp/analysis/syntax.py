"""The scopes, calls, assignments and dictionaries of a file, found in one pass over its syntax tree."""

import ast
import builtins
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from raydap.lsp.analysis.scopes import Annotated, Binding, Entered, FunctionNode, Scope


@dataclass(slots=True, eq=False)
class CallSite:
    """A call in the source."""

    node: ast.Call
    """The call in the syntax tree."""
    scope: Scope
    """The innermost scope around the call."""
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
    """The name, attribute or item that is assigned."""
    value: ast.expr
    """The assigned value."""
    scope: Scope
    """The innermost scope around the assignment."""
    statement: ast.stmt
    """The innermost statement around the assignment."""


@dataclass(slots=True, eq=False)
class Part:
    """The results of the pass over some statements of the module, which share no line with other statements.

    All lists are in the order of the source.
    """

    statements: list[ast.stmt]
    """The statements at the top level of the module."""
    names: dict[str, list[Binding]] = field(default_factory=dict)
    """The names that the statements bind in the module."""
    scopes: list[Scope] = field(default_factory=list)
    """The functions and classes, at any depth."""
    calls: list[CallSite] = field(default_factory=list)
    """The calls, at any depth."""
    assignments: list[Assignment] = field(default_factory=list)
    """The assignments with `=`, `:=` or an annotation."""
    unions: list[Assignment] = field(default_factory=list)
    """The assignments with `|=`."""
    dictionaries: list[tuple[ast.Dict, Scope]] = field(default_factory=list)
    """The dictionaries that are written out, each with the innermost scope around it."""
    imports: list[str] = field(default_factory=list)
    """The whole names of the imported modules, functions and classes, at any depth."""
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
        self.imports = {one for part in parts for one in part.imports}
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
            self._bind_imports(node, scope)
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

    def _bind_imports(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.part.imports.append(alias.name)
                name = alias.asname or alias.name.partition(".")[0]
                scope.bind(name, alias.name if alias.asname else name)
        else:
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                self.part.imports.append(f"{module}.{alias.name}")
                scope.bind(alias.asname or alias.name, f"{module}.{alias.name}")
