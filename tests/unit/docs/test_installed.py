"""The texts that users read without the repository, and the commands that install raydap."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "adapter" / "raydap"
SCRIPTS = ROOT / "vscode-ext" / "src"
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "vscode-ext").glob("*.md")]
PAGES += [ROOT / "vscode-ext" / "walkthrough" / "python.md"]


def texts(source: str) -> Iterator[str]:
    """Yield the strings of a Python file except docstrings and other strings that are statements."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_no_sentence_refers_to_a_page_of_the_repository() -> None:
    for path in PACKAGE.rglob("*.py"):
        told = [text for text in texts(path.read_text(encoding="utf-8")) if re.search(r"\bdocs/|\w\.md\b", text)]
        assert told == [], path


def test_no_sentence_of_the_extension_does() -> None:
    for path in SCRIPTS.rglob("*.ts"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert "docs/" not in code, path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_one_command_installs_raydap(page: Path) -> None:
    """A clone can replace the package index, and the other extension has requirements of its own."""
    commands = set(re.findall(r"pip install ([^\n`]+)", page.read_text(encoding="utf-8")))
    assert commands <= {"raydap", "'raydap[mcp]'", ".", '"ray[default]" debugpy'}


def test_the_first_pages_that_a_user_reads_have_it() -> None:
    first = ["README.md", "vscode-ext/README.md", "vscode-ext/walkthrough/python.md"]
    first += [f"docs/usage/{page}.md" for page in ("coming-from", "emacs", "neovim", "remote", "vscode")]
    assert [name for name in first if "pip install raydap" not in (ROOT / name).read_text(encoding="utf-8")] == []
