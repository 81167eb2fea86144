"""Public names in the package contain no word that docs/glossary.md forbids."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "adapter" / "raydap"
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def forbidden() -> re.Pattern[str]:
    rows = re.findall(r"^\| ([^|]+) \|", PAGE.partition("## Words that are not used")[2], re.MULTILINE)
    words = [word.strip(" `").replace(" ", "_") for row in rows[1:] for word in row.split(",")]
    return re.compile(rf"(?:^|_)(?:{'|'.join(words)})(?:_|$)")


def in_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_the_page_forbids_words() -> None:
    pattern = forbidden()
    assert pattern.search("tell_client")
    assert pattern.search(in_snake_case("NobodyListens"))
    assert pattern.search("let_go")
    assert not pattern.search("teller")


def test_public_names_have_no_forbidden_word() -> None:
    pattern = forbidden()
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in names(ast.parse(path.read_text(encoding="utf-8")))
        if not name.startswith("_") and pattern.search(in_snake_case(name))
    }
    assert sorted(found) == []
