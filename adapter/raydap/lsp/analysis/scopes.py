"""The scopes of a file, and the objects that names are bound to in them.

`symtable` of the standard library finds the same scopes (tests/unit/lsp/test_scopes.py compares both), but it cannot
replace these classes:

- It lists which names are bound, and not to what. The rules need each import, assigned value and annotation.
- Its tables do not refer to the nodes of the syntax tree, and two lambdas in a line have the same name and line.
- It compiles the whole text again after each change, while `incremental.py` reads only the changed statements.
- It has no result for a text that Python parses but does not compile, such as a function with the same parameter twice,
  which is common while the user types.

A variable of a comprehension belongs to the function around it here, and an annotation without a value binds nothing.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

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
    """The type that the parameter is annotated with."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The binding of the name in `with expression as name`."""

    expression: ast.expr
    """The context manager."""


@dataclass(slots=True, eq=False)
class Scope:
    """The module, a function, or a class."""

    node: ast.Module | ast.ClassDef | FunctionNode
    """The node of the syntax tree that the scope belongs to."""
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
