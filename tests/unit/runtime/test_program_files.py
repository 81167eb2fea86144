"""Commands that name an interpreter in place of a file with Python code."""

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from raydap.cli.main import main
from raydap.core.settings import LaunchSettings
from raydap.runtime.program_command import _missing
from raydap.runtime.program_files import interpreter_named


@pytest.mark.parametrize(
    "name", ["python", "python3", "python3.12", "/nonexistent/bin/python3", "pypy3", sys.executable]
)
def test_an_interpreter_is_no_program(name: str) -> None:
    assert interpreter_named(name).startswith(f'"{name}" is not a file with Python code')


def test_files_with_code_are_programs(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("print(1)", encoding="utf-8")
    (tmp_path / "empty.py").touch()
    for name in ("python", "empty.py", "none.py", "pythonic.py", "."):
        assert interpreter_named(name, str(tmp_path)) == ""
    assert interpreter_named("-") == ""


@pytest.mark.parametrize("command", ["run", "debug", "report"])
def test_a_command_refuses_an_interpreter(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execvpe", None)
    for name in ("python", sys.executable):
        result = CliRunner().invoke(main, [command, name, "-"])
        assert result.exit_code == 2
        assert f'"{name}" is not a file with Python code; give only the file (train.py)' in result.output


def test_a_launch_refuses_an_interpreter() -> None:
    assert "is not a file with Python code" in _missing(LaunchSettings(program=sys.executable))
