"""The objects that expressions of a file stand for: their origin, and the functions of the file among them."""

import ast
from collections import deque
from collections.abc import Iterator
from itertools import islice

from raydap.lsp.analysis.scopes import Annotated, Binding, Entered, Scope
from raydap.lsp.analysis.syntax import ParsedFile

OWN_CLASS = "a class of this file"
"""The origin of the instances of a class in the file."""

_MAX_HOPS = 100
"""The number of names and classes that a search follows, so that its time does not depend on the length of the file."""
_MAX_WRAPPERS = 20
"""The number of wrappers and choices that a search follows from an argument to a function."""
_WRAPPERS = {
    "functools.partial",
    "ray.tune.trainable.with_parameters",
    "ray.tune.trainable.with_resources",
    "ray.tune.with_parameters",
    "ray.tune.with_resources",
}
"""Functions that return a function which calls their first argument."""


class Objects:
    """The objects of one file."""

    def __init__(self, program: ParsedFile) -> None:
        self._program = program
        self._origins: dict[object, str | None] = {}
        """The origin of each name and call; None while it is being searched.

        The key of a call is its node, and the key of a name is the identity of its list of bindings.
        """
        self._methods: dict[Scope, dict[str, Scope]] = {}
        """The methods of each class, without those that it inherits."""

    def origin(self, expression: ast.expr, scope: Scope) -> str:
        """Return the whole name of the function that makes the first object of a chain of methods.

        Return OWN_CLASS for an instance of a class in the file, and "" if the origin is not known.
        """
        return self._origin(expression, scope, 0) or ""

    def functions(self, expression: ast.expr, scope: Scope) -> Iterator[Scope]:
        """Yield the functions and classes of the file that an expression may stand for.

        The expression may name a function, a class, a method or an instance with `__call__`, choose one of several, or
        wrap one, as `functools.partial` and `tune.with_resources` do.
        """
        waiting, seen = [expression], set[ast.expr]()
        while waiting and len(seen) < _MAX_WRAPPERS:
            one = self._program.value(waiting.pop(), scope)
            if one in seen:
                continue
            seen.add(one)
            found = self._program.definition(one, scope)
            if isinstance(one, ast.Attribute):
                found = self.method(one, scope)
            elif isinstance(one, ast.IfExp):
                waiting += [one.orelse, one.body]
            elif isinstance(one, ast.BoolOp):
                waiting += reversed(one.values)
            elif isinstance(one, ast.Call):
                if one.args and self._program.dotted(one.func, scope) in _WRAPPERS:
                    waiting.append(one.args[0])
                else:
                    made = self._program.definition(one.func, scope)
                    found = None if made is None else self._method_of(made, "__call__")
            if found is not None:
                yield found

    def method(self, attribute: ast.Attribute, scope: Scope) -> Scope | None:
        """Return the method that an attribute of `self`, of a class or of a new instance names; else None."""
        owner: ast.expr = attribute.value
        if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
            found = next((one for one in scope.enclosing() if one.is_class), None)
        else:
            owner = self._program.value(owner, scope)
            found = self._program.definition(owner.func if isinstance(owner, ast.Call) else owner, scope)
        return None if found is None else self._method_of(found, attribute.attr)

    def with_bases(self, scope: Scope, known: set[Scope] | None = None) -> Iterator[Scope]:
        """Yield a class and its direct and indirect base classes in this file, each once.

        The search leaves out the classes in `known`, and adds those that it yields.
        """
        known = set() if known is None else known
        waiting = deque([scope])
        while waiting:
            one = waiting.popleft()
            if one not in known:
                known.add(one)
                yield one
                waiting += [base for base in self.bases(one) if base is not None]

    def bases(self, scope: Scope) -> "list[Scope | None]":
        """Return the direct base classes of a class; None for each that is not in this file."""
        assert isinstance(scope.node, ast.ClassDef)
        found = [self._program.definition(base, scope.parent or scope) for base in scope.node.bases]
        return [base if base is not None and base.is_class else None for base in found]

    def _method_of(self, scope: Scope, name: str) -> Scope | None:
        """Return the method of a class with this name, which may be inherited; None if `scope` has none."""
        for one in islice(self.with_bases(scope), _MAX_HOPS) if scope.is_class else ():
            if one not in self._methods:
                self._methods[one] = {child.name.rpartition(".")[2]: child for child in one.children}
            found = self._methods[one].get(name)
            if found is not None:
                return found if _is_plain(found) else None
        return None

    def _origin(self, expression: ast.expr, scope: Scope, hops: int) -> str | None:
        """Return the origin; None if the search comes back to a name whose origin is being searched."""
        calls: list[ast.expr] = []
        found: str | None = None
        while True:
            if expression in self._origins:
                found = self._origins[expression]
                break
            if isinstance(expression, ast.Call):
                calls.append(expression)
                name = self._program.dotted(expression.func, scope) or self._made_here(expression.func, scope)
                if name:
                    found = name
                    break
                expression = expression.func
            elif isinstance(expression, ast.Attribute):
                expression = expression.value
            else:
                found = ""
                if isinstance(expression, ast.Name) and hops < _MAX_HOPS:
                    bindings = self._program.bindings(expression.id, scope)
                    found = self._origin_of_name(bindings, scope, hops + 1) if bindings else ""
                break
        if found is not None:
            self._origins.update(dict.fromkeys(calls, found))
        return found

    def _made_here(self, function: ast.expr, scope: Scope) -> str:
        """Return the origin of what a function or class of the file returns; "" if it is not known."""
        made = self._program.definition(function, scope)
        if made is None:
            return ""
        if made.is_class:
            return OWN_CLASS
        returns = getattr(made.node, "returns", None)
        return "" if returns is None else self._program.dotted(_type_of(returns), made)

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
            kind = _type_of(binding.annotation)
            return self._program.dotted(kind, scope) or self._made_here(kind, scope)
        if isinstance(binding, Entered):
            return self._origin(binding.expression, scope, hops)
        return self._origin(binding, scope, hops) if isinstance(binding, ast.expr) else ""


def _is_plain(scope: Scope) -> bool:
    """Return whether an attribute with the name of a method is the method, unlike that of a property."""
    node = scope.node
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and all(
        _last_name(one) in ("abstractmethod", "classmethod", "override", "staticmethod") for one in node.decorator_list
    )


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
