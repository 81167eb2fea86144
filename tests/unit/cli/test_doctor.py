"""The output and the arguments of `raydap doctor`."""

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from raydap.cli.doctor import show
from raydap.cli.main import main
from raydap.doctor.finding import Finding

FINDINGS = [
    Finding("dashboard", "ok", "It answers."),
    Finding("reach", "note", "A note.", "It matters.", "apt-get install gdb"),
    Finding("breakpoints", "warning", "A warning.", "It matters.", '"workspaceFolder": "/p"'),
    Finding("debug-port", "error", "An [error].", "It :matters:."),
    Finding("nodes", "skipped", "Not looked at.", "No node was asked."),
]


def shown(verbose: bool = False, width: int = 80, terminal: bool = False) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, highlight=False, markup=False, emoji=False)
    show(console, FINDINGS, verbose)
    return out.getvalue()


def test_each_finding_is_a_block_with_what_can_be_pasted() -> None:
    assert shown().splitlines() == [
        "note: A note.",
        "It matters.",
        "  $ apt-get install gdb",
        "",
        "warning: A warning.",
        "It matters.",
        '  "workspaceFolder": "/p"',
        "",
        "error: An [error].",
        "It :matters:.",
        "",
        "Skipped: nodes. No node was asked.",
        "1 error, 1 warning, 1 note, 1 ok",
    ]


def test_verbose_shows_what_is_in_order_too() -> None:
    assert shown(verbose=True).startswith("ok: It answers.\n")


def test_colours_are_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in shown()
    assert "31m" in shown(terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in shown(terminal=True)


def test_a_command_is_never_broken_into_lines() -> None:
    assert "  $ apt-get install gdb\n" in shown(width=12)


def run(*options: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *options])


@pytest.mark.parametrize(
    "value",
    [
        "",
        ":",
        "x.py",
        "x.py:",
        ":7",
        "x.py:0",
        "x.py:-1",
        "x.py:1.5",
        "x.py:seven",
        "x.py:٣",
        f"x.py:{'9' * 5000}",
        "\0:1",
        "~nobody-at-all/x.py:1",
    ],
)
def test_a_wrong_breakpoint_is_one_sentence(value: str) -> None:
    ended = run("--break", value)
    assert ended.exit_code == 2
    assert ended.output.splitlines()[-1].startswith("Error: Invalid value for '--break': \"")
    assert "Traceback" not in ended.output


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.py"):
        ended = run("--break", f"{path}:1")
        assert ended.exit_code == 2
        assert f'"{path}" cannot be read: ' in ended.output


@pytest.mark.parametrize(
    "value", ["nonsense", "http://", "http://[", "http://host:99999", "ftp://host", "host:port", "\x00"]
)
def test_a_wrong_dashboard_is_a_finding(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run("--json", "--dashboard", value)
    assert ended.exit_code == 1
    first = json.loads(ended.stdout)[0]
    assert (first["check"], first["severity"]) == ("dashboard", "error")
    assert "write it like" in first["what"]
