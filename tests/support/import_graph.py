"""Which Python files of the project import which others, read from their source."""

import ast
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

SOURCES = ("adapter", "docs/examples", "tests")
"""The folders where absolute imports start, as in `pyproject.toml`."""


def is_test(path: str) -> bool:
    """Return whether pytest collects this file."""
    return path.startswith("tests/") and PurePosixPath(path).match("test_*.py")


def module_name(path: str) -> str:
    """Return the dotted name of a Python file, or "" if it is in none of the source folders."""
    for source in SOURCES:
        if path.startswith(f"{source}/") and path.endswith(".py"):
            name = path.removeprefix(f"{source}/").removesuffix(".py").removesuffix("/__init__")
            return name.replace("/", ".")
    return ""


class ImportGraph:
    """The imports between files, by their paths from the project's root.

    Imports inside functions count, too. A test also depends on the `conftest.py` of its folder and of those above.
    """

    def __init__(self, root: Path, deleted: Collection[str] = ()) -> None:
        """Read all files. `deleted` are paths that are gone: a file that still imports them depends on them."""
        paths = {path.relative_to(root).as_posix() for source in SOURCES for path in (root / source).rglob("*.py")}
        self._trees = {path: ast.parse((root / path).read_text(encoding="utf-8")) for path in sorted(paths)}
        self._modules = {module_name(path): path for path in {*paths, *deleted} if module_name(path)}
        self._importers: dict[str, set[str]] = {}
        for path, tree in self._trees.items():
            for used in self._dependencies(path, tree):
                self._importers.setdefault(used, set()).add(path)
        self.tests = [path for path in self._trees if is_test(path)]
        """All files that pytest collects."""

    def naming(self, name: str) -> set[str]:
        """Return the files below `tests` with this file name in a string. Docstrings do not count."""
        pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}\b")
        return {path for path, text in self._strings.items() if pattern.search(text)}

    @cached_property
    def _strings(self) -> dict[str, str]:
        return {path: "\n".join(_strings(tree)) for path, tree in self._trees.items() if path.startswith("tests/")}

    def affected(self, changed: Collection[str]) -> set[str]:
        """Return the changed files and all files that import one of them, directly or not."""
        found = set(changed)
        remaining = list(changed)
        while remaining:
            new = self._importers.get(remaining.pop(), set()) - found
            found |= new
            remaining += new
        return found

    def _dependencies(self, path: str, tree: ast.Module) -> Iterator[str]:
        for name in _imported(tree, module_name(path), path.endswith("/__init__.py")):
            parts = name.split(".")
            # Importing a module runs the packages that contain it; the last parts may be no module but its content.
            for end in range(1, len(parts) + 1):
                module = ".".join(parts[:end])
                if module in self._modules:
                    yield self._modules[module]
        if is_test(path):
            for folder in PurePosixPath(path).parents:
                conftest = f"{folder}/conftest.py"
                if conftest in self._trees:
                    yield conftest


def _imported(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    """Yield each dotted name that the module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")
            package = package[: len(package) - node.level + is_package] if node.level else []
            origin = [*package, *(node.module.split(".") if node.module else [])]
            yield from (".".join([*origin, alias.name]) for alias in node.names)


def _strings(tree: ast.Module) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
