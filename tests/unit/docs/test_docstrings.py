"""Each field of a dataclass, a msgspec struct or a NamedTuple has a docstring of its own, below the field.

The description in the JSON schema of a tool's argument (mcp_server/tool_arguments.py) is one, too.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "adapter" / "raydap"
FILES = sorted(PACKAGE.rglob("*.py"))

_DESCRIBED = ("WorkerSet", "WaitSeconds")
"""Types of arguments that have a description."""

CLASSES = [
    (path.relative_to(PACKAGE), node)
    for path in FILES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.ClassDef)
]


def _last_name(node: ast.expr) -> str:
    """Return `Struct` for `msgspec.Struct`, and `dataclass` for `@dataclass(frozen=True)`."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _kinds() -> set[str]:
    """Return the names of the classes whose subclasses have fields: structs that are the base of others, too."""
    kinds = {"Struct", "NamedTuple"}
    while more := {node.name for _, node in CLASSES if kinds.intersection(map(_last_name, node.bases))} - kinds:
        kinds |= more
    return kinds


def _fields() -> Iterator[tuple[Path, str, bool]]:
    """Yield each field as its file, `Class.field`, and whether it has a docstring."""
    kinds = _kinds()
    for path, node in CLASSES:
        is_dataclass = "dataclass" in map(_last_name, node.decorator_list)
        if not is_dataclass and not kinds.intersection(map(_last_name, node.bases)):
            continue
        for field, below in pairwise([*node.body, ast.Pass()]):
            if isinstance(field, ast.AnnAssign):
                has_text = _is_docstring(below) or ast.unparse(field.annotation) in _DESCRIBED
                yield path, f"{node.name}.{ast.unparse(field.target)}", has_text or "description=" in ast.unparse(field)


def _is_docstring(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.strip() != ""


def test_every_field_has_a_docstring() -> None:
    assert [f"{path}: {name}" for path, name, has_docstring in _fields() if not has_docstring] == []


def test_fields_of_all_kinds_of_classes_are_found() -> None:
    """The last one is a struct whose base is neither Struct nor a direct subclass of it."""
    names = {name for _, name, _ in _fields()}
    assert names >= {"ProcessInfo.key", "Holder.member", "Stacks.cwd", "LaunchSettings.args"}
