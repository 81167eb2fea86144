"""The order of statements: whether one certainly runs after a call of ray.init, and may be moved before it."""

import ast
from typing import NamedTuple

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.scopes import Scope
from raydap.lsp.analysis.syntax import CallSite


class _Place(NamedTuple):
    """The place of a statement in its block."""

    block: int
    """The identity of the block's list of statements."""
    position: int
    """The index of the statement in the block."""
    around: ast.stmt | None
    """The statement that contains the block; None for the module."""
    field: str
    """The name of the field that contains the block, such as `body` or `orelse`."""


class Order:
    """The blocks of one file, and the calls of ray.init in them."""

    def __init__(self, file: PythonFile, inits: list[CallSite]) -> None:
        self._file = file
        self._places: dict[ast.stmt, _Place] = {}
        self._imported: dict[str, int] = {}
        """The first line of a top-level import of each name."""
        self._first: dict[tuple[Scope, int], tuple[int, CallSite]] = {}
        """The first call of ray.init that certainly runs before the rest of a block, with its position there."""
        self._before: dict[tuple[Scope, ast.stmt], CallSite | None] = {}
        """The result of `init_before` for each statement. An `elif` is inside the one before it."""
        module = file.program.module.node
        assert isinstance(module, ast.Module)
        self._read(module)
        for statement in module.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for alias in statement.names:
                    self._imported.setdefault(alias.asname or alias.name.partition(".")[0], statement.lineno)
        for call in inits:
            place = self._lifted(call)
            if place is not None:
                known = self._first.get((call.scope, place.block))
                if known is None or place.position < known[0]:
                    self._first[call.scope, place.block] = place.position, call

    def init_before(self, scope: Scope, statement: ast.stmt) -> CallSite | None:
        """Return a call of ray.init in the same scope that certainly runs before the statement; else None."""
        current: ast.stmt | None = statement
        inner: list[ast.stmt] = []
        init: CallSite | None = None
        while current is not None and current in self._places:
            if (scope, current) in self._before:
                init = self._before[scope, current]
                break
            inner.append(current)
            place = self._places[current]
            found = self._first.get((scope, place.block))
            if found is not None and found[0] < place.position:
                init = found[1]
                break
            current = place.around
        self._before.update({(scope, one): init for one in inner})
        return init

    def is_next(self, one: ast.stmt, other: ast.stmt) -> bool:
        """Return whether `other` directly follows `one` in the same block."""
        before, after = self._places[one], self._places[other]
        return before.block == after.block and before.position + 1 == after.position

    def needs_only_imports(self, statement: ast.stmt, init: CallSite) -> bool:
        """Return whether a statement uses only constants and names that the file imports before `init`.

        The imports must be at the top level. Only such a statement can be moved before the call.
        """
        if isinstance(statement, ast.Assign):
            if len(statement.targets) != 1 or not isinstance(statement.value, ast.Constant):
                return False
        elif not isinstance(statement, ast.Expr):
            return False
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                program = self._file.program
                if program.bindings(node.id, init.scope) is not program.module.names.get(node.id):
                    return False
                if not program.dotted(node, init.scope):
                    return False
                if self._imported.get(node.id, init.node.lineno) >= init.node.lineno:
                    return False
            elif isinstance(node, ast.Call) and node is not getattr(statement, "value", None):
                return False
        return True

    def _read(self, module: ast.Module) -> None:
        waiting: list[ast.AST] = [module]
        while waiting:
            node = waiting.pop()
            around = node if isinstance(node, ast.stmt) else None
            for field, value in ast.iter_fields(node):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    for index, statement in enumerate(value):
                        self._places[statement] = _Place(id(value), index, around, field)
                    waiting += value
                elif field in ("handlers", "cases"):
                    for part in value:
                        for index, statement in enumerate(part.body):
                            self._places[statement] = _Place(id(part.body), index, around, field)
                        waiting += part.body

    def _lifted(self, call: CallSite) -> _Place | None:
        """Return the place after which Ray certainly runs.

        A `with`, a `try` without `except`, or an `if not ray.is_initialized()` around the call does not limit the
        place: Ray runs after that statement, too. With `with ray.init()` Ray runs only inside the block.
        """
        statement = call.statement
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return _Place(id(statement.body), -1, statement, "body")
        place = self._places.get(statement)
        while place is not None and place.around is not None and place.field == "body":
            if not _surely_runs_body(place.around):
                break
            place = self._places[place.around]
        return place


def _surely_runs_body(statement: ast.stmt) -> bool:
    """Return whether Ray certainly runs after a statement with a call of ray.init in its body."""
    if isinstance(statement, (ast.With, ast.AsyncWith)) or (isinstance(statement, ast.Try) and not statement.handlers):
        return True
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Attribute) and node.attr == "is_initialized" for node in ast.walk(statement.test)
    )
