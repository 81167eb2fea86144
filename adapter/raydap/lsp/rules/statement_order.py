"""Which statements surely run after a call of ray.init, and which of them may be moved before it."""

import ast
from typing import NamedTuple

from raydap.lsp.analysis.python_file import PythonFile
from raydap.lsp.analysis.syntax import Call, Scope


class _Place(NamedTuple):
    """A statement's place: the identity of its block, its position there, and the statement around the block."""

    block: int
    position: int
    around: ast.stmt | None
    field: str


class Order:
    """The blocks of one file. One pass gathers them."""

    def __init__(self, file: PythonFile, inits: list[Call]) -> None:
        self._file = file
        self._places: dict[ast.stmt, _Place] = {}
        #: The first line of a top-level import of each name.
        self._imported: dict[str, int] = {}
        #: The first call of ray.init that surely comes before the rest of a block, by the scope and the block.
        self._first: dict[tuple[Scope, int], tuple[int, Call]] = {}
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

    def init_before(self, scope: Scope, statement: ast.stmt) -> Call | None:
        """Return a call of ray.init in the same scope that surely runs before the statement."""
        current: ast.stmt | None = statement
        while current is not None and current in self._places:
            place = self._places[current]
            found = self._first.get((scope, place.block))
            if found is not None and found[0] < place.position:
                return found[1]
            current = place.around
        return None

    def is_next(self, one: ast.stmt, other: ast.stmt) -> bool:
        """Return whether a statement directly follows another one in the same block."""
        before, after = self._places[one], self._places[other]
        return before.block == after.block and before.position + 1 == after.position

    def needs_only_imports(self, statement: ast.stmt, init: Call) -> bool:
        """Return whether a statement reads only modules that the file imports at its top level before the call."""
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

    def _lifted(self, call: Call) -> _Place | None:
        """Return the place from which on Ray surely runs.

        It is behind a `with`, a `try` without `except` or an `if not ray.is_initialized()` with the call in its body.
        With `with ray.init()` Ray runs only inside.
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
    if isinstance(statement, (ast.With, ast.AsyncWith)) or (isinstance(statement, ast.Try) and not statement.handlers):
        return True
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Attribute) and node.attr == "is_initialized" for node in ast.walk(statement.test)
    )
