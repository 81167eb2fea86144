"""The scopes of the analysis are those of Python's own symbol table.

The analysis differs on purpose in two ways: a variable of a comprehension belongs to the function around it, and an
annotation without a value binds nothing.
"""

import ast
import symtable
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from raydap.lsp.analysis.incremental import IncrementalReader
from raydap.lsp.analysis.scopes import Scope

FOLDERS = [Path(__file__).parent / "programs", *(Path(__file__).parents[3] / "adapter" / "raydap").glob("[a-z]*")]

SHAPES = """
import os.path as path, sys
x = y = 1
def outer(a, /, b: int = x, *rest, c=lambda d: d + x, **more):
    global z
    z = a
    shared = 0
    def inner():
        nonlocal shared
        shared, (e, *f) = b, [c]
        with open(path) as g, open(g) as (h, i):
            for j, k[0] in rest:
                l += j
        try:
            pass
        except OSError as m:
            del m
        else:
            from os import sep as n, linesep
        return (o := shared), n
    class Local(metaclass=type):
        p: int = 1
        def method(self):
            return __class__, p, inner
    match a:
        case {"q": q, **others}: pass
        case [r, *s] | (r, s): pass
        case Local(p=t) as u: pass
    async def coroutine():
        async with x as v:
            async for w in v: yield w
    return Local
"""


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from tables(child)


def differences(text: str) -> list[str]:
    """Return the names that belong to one scope for Python, and to another one for the analysis."""
    by_place: dict[tuple[str, int], list[symtable.SymbolTable]] = defaultdict(list)
    for table in tables(symtable.symtable(text, "program", "exec")):
        by_place[table.get_name(), table.get_lineno()].append(table)
    found: list[str] = []
    for scope in IncrementalReader().read(text.encode().splitlines(keepends=True)).scopes:
        plain = scope.name.rpartition(".")[2]
        decorators = getattr(scope.node, "decorator_list", [])
        lines = {scope.node.lineno, *(one.lineno for one in decorators)}  # type: ignore[union-attr]
        same = [table for line in lines for table in by_place.get((plain, line), [])]
        if len(same) == 1:
            ours = {name for name in scope.names if name not in scope.outer} - _in_comprehensions(scope)
            local = {one.get_name() for one in same[0].get_symbols() if one.is_local() or one.is_parameter()}
            theirs = {one for one in local if "__" not in one and not one.startswith(".")} - _only_annotated(scope)
            different = {one for one in ours if "__" not in one} ^ (theirs - _in_comprehensions(scope))
            found += [f"{scope.name}: {name}" for name in sorted(different)]
        else:
            # Only lambdas may share a line and a name.
            assert plain == "lambda"
    return found


def _in_comprehensions(scope: Scope) -> set[str]:
    targets = [node.target for node in ast.walk(scope.node) if isinstance(node, ast.comprehension)]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _only_annotated(scope: Scope) -> set[str]:
    nodes = [node for node in ast.walk(scope.node) if isinstance(node, ast.AnnAssign) and node.value is None]
    return {node.target.id for node in nodes if isinstance(node.target, ast.Name)} - scope.names.keys()


def test_the_shapes_of_bindings() -> None:
    assert differences(SHAPES) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_real_programs(folder: Path) -> None:
    for path in [folder] if folder.suffix == ".py" else sorted(folder.rglob("*.py")):
        assert differences(path.read_text(encoding="utf-8")) == [], path
