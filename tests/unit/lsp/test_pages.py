"""The rules, their pages, and the parts of the manual about the rules and the settings."""

import ast
import json
import re
from pathlib import Path

import pytest

from raydap.lsp.examination import PythonExaminer
from raydap.lsp.language_server import SETTINGS
from raydap.lsp.rules.rule_table import BY_CODE, PAGES, RULES, Rule

ROOT = Path(__file__).parents[3]
MANUAL = (ROOT / "docs" / "usage" / "language-server.md").read_text(encoding="utf-8")
IMPORTS = "import os, pdb\nimport ray\nfrom ray import serve\n"


def cells(heading: str) -> list[list[str]]:
    section = MANUAL.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_manual_lists_the_rules() -> None:
    written = [(link, severity, title) for link, severity, title, _ in cells("Rules")]
    assert written == [
        (f"[`{rule.code}`](../../{rule.page.relative_to(ROOT)})", rule.severity.name.lower(), rule.title)
        for rule in RULES
    ]


def test_the_manual_lists_the_settings() -> None:
    assert {name.strip("`"): text for name, text in cells("Settings")} == SETTINGS


def test_each_rule_has_a_page_and_each_page_a_rule() -> None:
    assert {path.stem for path in PAGES.iterdir()} == BY_CODE.keys()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_explains_its_rule(rule: Rule) -> None:
    page = rule.page.read_text(encoding="utf-8")
    title = rule.title[0].upper() + rule.title[1:]
    assert page.startswith(f"# {rule.code}\n\n{title}.\n\n")
    for link in re.findall(r"\]\(([\w-]+)\.md\)", page):
        assert link in BY_CODE


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_examples_of_a_page_are_found(rule: Rule) -> None:
    for block in re.findall(r"```python\n(.*?)```", rule.page.read_text(encoding="utf-8"), re.DOTALL):
        code = block if block.rstrip().count("\n") else block.rstrip() + "\n"
        marked = [number for number, line in enumerate(code.splitlines(), 1) if line.endswith(f"# {rule.code}")]
        ast.parse(code if marked else IMPORTS + code)
        findings = PythonExaminer().examine(IMPORTS + code)
        assert findings is not None
        offset = IMPORTS.count("\n")
        assert [one.span.line - offset for one in findings if one.code == rule.code] == marked


def test_the_extension_knows_the_rules() -> None:
    manifest = json.loads((ROOT / "vscode-ext" / "package.json").read_text(encoding="utf-8"))
    setting = manifest["contributes"]["configuration"]["properties"]["raydap.languageServer.ignore"]
    assert setting["items"]["enum"] == list(BY_CODE)
    assert "raydap.languageServer.enabled" in manifest["contributes"]["configuration"]["properties"]
