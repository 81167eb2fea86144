"""The tables in docs/ agree with the code, and the links have targets."""

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cpython_tests.known_differences import DIFFERENCES
from raydap.core.model.client import ClientRole
from raydap.core.requests.table import TABLE
from raydap.core.settings import LaunchSettings
from raydap.errors import Code
from raydap.exit_codes import ExitCode
from raydap.protocol.id_fields import COMMANDS, RULES, Kind
from raydap.report import records
from support import settings_tables

DOCS = Path(__file__).parents[3] / "docs"
PAGES = [DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md", *DOCS.rglob("*.md")]


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its first two lines."""
    section = (DOCS / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_matrix_of_requests_is_the_table() -> None:
    written = {command.strip("`"): mode for command, mode, *_ in rows("protocol.md", "Requests")}
    expected = {command: row.mode.name.lower() for command, row in TABLE.items()}
    assert written == expected | {command: "no" for command in COMMANDS - TABLE.keys()}


def test_the_matrix_names_the_argument_that_leads_to_the_worker() -> None:
    written = {command.strip("`"): by for command, _, by, _ in rows("protocol.md", "Requests")}
    for command, row in TABLE.items():
        ways = [f"`{row.route.argument}`"] if row.route is not None and row.route.argument else []
        ways += ["where the user looks"] if row.route is not None and row.route.else_focused else []
        assert written[command] == ", else ".join(ways)


def test_the_matrix_says_what_observers_may_send() -> None:
    written = {command.strip("`") for command, _, _, observers in rows("protocol.md", "Requests") if observers}
    assert written == {command for command, row in TABLE.items() if ClientRole.OBSERVER in row.who}


def test_the_id_table_names_every_place_that_holds_ids() -> None:
    written = {kind: set(re.findall(r"`([\w.]+)`", places)) for kind, places, _ in rows("protocol.md", "Ids")}
    expected: dict[str, set[str]] = {kind.value: set() for kind in Kind}
    for type_name, rules in RULES.items():
        for name, rule in rules.items():
            kind = rule[0] if isinstance(rule, tuple) and isinstance(rule[0], Kind) else rule
            if isinstance(kind, Kind):
                expected[kind.value].add(f"{type_name}.{name}")
    assert written == {kind: places for kind, places in expected.items() if places}


def test_every_error_is_explained_under_its_number() -> None:
    written = {int(number) for number, *_ in rows("errors.md", "All errors")}
    assert written == {code.value for code in Code}


def test_every_argument_is_explained() -> None:
    written = {name.strip("`") for name, *_ in rows("usage/arguments.md", "attach")}
    written |= {name.strip("`") for name, *_ in rows("usage/arguments.md", "launch")}
    assert written == {field.encode_name for field in msgspec.structs.fields(LaunchSettings)}


def test_every_field_of_a_report_is_explained() -> None:
    """The page has the fields of the whole report, and links to the declarations of all records."""
    page = (DOCS / "usage" / "report.md").read_text(encoding="utf-8")
    written = [name for fields, _ in rows("usage/report.md", "The JSON") for name in re.findall(r"`(\w+)`", fields)]
    assert written == [field.encode_name for field in msgspec.structs.fields(records.Report)]
    declarations = Path(records.__file__)
    assert f"]({os.path.relpath(declarations, DOCS / 'usage')})" in page
    body = ast.parse(declarations.read_text(encoding="utf-8")).body
    assert [node.name for node in body if isinstance(node, ast.ClassDef) and not ast.get_docstring(node)] == []


def contributed(part: str) -> Any:
    """Return a part of what the extension adds to VS Code."""
    manifest = json.loads((DOCS.parent / "vscode-ext" / "package.json").read_text(encoding="utf-8"))
    return manifest["contributes"][part]


def test_the_keys_of_vs_code_are_those_of_the_extension() -> None:
    written: dict[str, str] = {}
    for commands, letters, _ in rows("usage/vscode.md", "Many workers at once"):
        written |= zip(re.findall(r"\*([^*]+)\*", commands), letters.split(", "), strict=True)
    titles = {entry["command"]: entry["title"].removesuffix(" …") for entry in contributed("commands")}
    keys = {titles[entry["command"]]: entry["key"] for entry in contributed("keybindings")}
    assert {title: f"ctrl+alt+w {letter.lower()}" for title, letter in written.items()} == keys


def test_the_manual_names_each_command_of_the_palette() -> None:
    text = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in (DOCS / "usage").glob("*.md"))
    hidden = {entry["command"] for entry in contributed("menus")["commandPalette"] if entry["when"] == "false"}
    shown = [entry["title"].removesuffix(" …") for entry in contributed("commands") if entry["command"] not in hidden]
    assert [title for title in shown if not re.search(rf"\*(Raydap: )?{title}\*", text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_users_can_read_what_a_program_notices_of_raydap() -> None:
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    section = page.partition('<a id="noticed"></a>')[2].partition('<a id="replaced">')[0]
    assert [line for line in section.splitlines() if line.startswith("| ")][1:] == [each.row for each in DIFFERENCES]


def test_the_exit_codes_are_those_of_the_code() -> None:
    written = {(int(code), name.strip("`")) for code, name, _ in rows("usage/command-line.md", "Exit codes")}
    assert written == {(code.value, code.name) for code in ExitCode}


@pytest.mark.parametrize("page", settings_tables.TABLES)
def test_the_tables_of_rays_settings_are_those_of_doctor_and_language_server(page: str) -> None:
    """`python -m support.settings_tables` renews them."""
    text = (settings_tables.ROOT / page).read_text(encoding="utf-8")
    assert settings_tables.with_table(text, settings_tables.TABLES[page]) == text
