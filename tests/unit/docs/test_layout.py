"""The files of the package are where the pages place them, and their names are unique."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "adapter" / "raydap"
FILES = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
TOP_LEVEL = {
    ".ci", ".github", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE",
    "Makefile", "README.md", "SECURITY.md", "adapter", "docs", "pyproject.toml", "server.json", "tests", "vscode-ext",
}  # fmt: skip
DESIGN = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "design").glob("*.md"))


def test_the_top_level_has_no_other_files() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {name.partition("/")[0] for name in listed.split("\0") if name} == TOP_LEVEL


def test_a_module_name_is_unique_in_the_package() -> None:
    """The exception is sitecustomize.py, which Python imports when it starts: drivers and workers have one each."""
    names = Counter(path.name for path in FILES)
    assert names.pop("sitecustomize.py") == 2
    assert [name for name, count in names.items() if count > 1] == []


def test_a_class_name_is_unique_in_the_package() -> None:
    names = Counter(
        node.name for path in FILES for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )  # fmt: skip
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("page", ["docs/architecture.md", *DESIGN, "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    named = re.findall(r"`([\w/]+\.(?:py|json))(?:: \w+)?`", (ROOT / page).read_text(encoding="utf-8"))
    there = [
        str(path.relative_to(ROOT)) for folder in ("adapter", "tests", "docs") for path in (ROOT / folder).rglob("*")
    ]
    missing = [name for name in named if not any(path == name or path.endswith(f"/{name}") for path in there)]
    assert missing == [], "a recipe leads nowhere"
    assert named


def test_every_module_is_named_under_the_heading_of_its_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^#+ (.+)\n", page, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))

    def is_named(path: Path) -> bool:
        headings = [f"`{folder}/`" for folder in path.relative_to(PACKAGE).parents[:-1]] + ["Beside the packages"]
        section = next(sections[heading] for heading in headings if heading in sections)
        return re.search(rf"`(?:\w+/)*{re.escape(path.name)}`", section) is not None

    assert [str(path.relative_to(PACKAGE)) for path in FILES if not is_named(path)] == []


def test_the_map_links_to_every_decision() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in DESIGN if f"]({name.removeprefix('docs/')})" not in page] == []


def test_the_code_names_every_decision() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    assert [name for name in DESIGN if not any(name in text for text in texts)] == []


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    assert {path.name: lines for path in FILES if (lines := len(path.read_text().splitlines())) >= 400} == {}
