"""The scripts in .ci, in a folder whose path has a space, on a machine that lacks programs."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: The commands that every machine has. apt-get is not among them, so that the tests do the same as root.
TOOLS = ("sh", "cat", "cmp", "cp", "date", "dirname", "id", "ln", "mkdir", "mv", "rm", "sed")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    checkout = tmp_path / "a b" / "raydap"
    for folder in (".ci", "tests/editors"):
        shutil.copytree(ROOT / folder, checkout / folder)
    for file in ("package.json", "package-lock.json"):
        (checkout / "vscode-ext").mkdir(exist_ok=True)
        shutil.copy(ROOT / "vscode-ext" / file, checkout / "vscode-ext")
    return checkout


@pytest.fixture
def run(checkout: Path) -> Run:
    """Return `run(script, *arguments, NAME=value, ...)`, which runs a script of .ci with only TOOLS on its PATH."""
    tools = checkout.parent / "bin"
    tools.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(found)

    def run(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(tools), "HOME": str(checkout.parent / "home"), **variables}
        command = [str(checkout / ".ci" / script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    return run


def python_in(folder: Path) -> Path:
    """Create a command that runs this Python."""
    folder.mkdir(parents=True)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


@pytest.mark.parametrize("given", [(), ("3.12",)], ids=["any version", "a version"])
def test_a_python_of_pyenv_is_found(run: Run, checkout: Path, given: tuple[str, ...]) -> None:
    python = python_in(checkout.parent / "home" / ".pyenv" / "versions" / "3.12.9" / "bin")
    assert run("find-python", *given).stdout == f"{python}\n"


def test_the_variable_chooses_the_python(run: Run, checkout: Path) -> None:
    python_in(checkout.parent / "home" / ".pyenv" / "versions" / "3.12.9" / "bin")
    chosen = python_in(checkout.parent / "my python")
    assert run("find-python", PYTHON=str(chosen)).stdout == f"{chosen}\n"


def test_without_a_python_one_sentence_says_so(run: Run) -> None:
    found = run("find-python")
    assert (found.returncode, found.stdout) == (1, "")
    assert re.fullmatch(r"raydap: there is no Python 3.10 to 3.14 on the PATH; [^\n]+\n", found.stderr)
    assert "/nowhere is not Python 3.10 to 3.14" in run("find-python", PYTHON="/nowhere").stderr


def test_a_python_without_venv_is_named(run: Run, checkout: Path) -> None:
    python = checkout.parent / "python"
    python.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\n')
    python.chmod(0o755)
    found = run("find-python", PYTHON=str(python))
    assert found.stderr == (
        f"raydap: {python} has no venv or no ensurepip; on Debian and Ubuntu: apt-get install python3-venv\n"
    )


def test_an_install_without_a_python_prints_its_first_line_and_the_reason(run: Run, checkout: Path) -> None:
    installed = run("install", "user")
    assert installed.returncode == 1
    assert installed.stdout == "raydap: installing raydap into .venv ...\n"
    assert installed.stderr.count("\n") == 1
    assert not (checkout / ".venv" / "stamp-user").exists()


def test_programs_of_the_editors_that_are_missing_are_named(run: Run) -> None:
    """The script succeeds, so that the other tests run."""
    ended = run("editors")
    assert (ended.returncode, ended.stdout) == (0, "")
    packages = "gdb zsh fish emacs-nox elpa-dap-mode elpa-eglot npm"
    assert ended.stderr == (
        f"raydap: some tests need {packages}; on Debian and Ubuntu: sudo apt-get install {packages}\n"
    )
    assert "emacs" not in run("editors", RAYDAP_WITHOUT_EMACS="1").stderr


def test_programs_of_vscode_that_are_missing_are_named(run: Run) -> None:
    ended = run("vscode", "workbench")
    assert ended.returncode == 1
    packages = "chromium build-essential pkg-config libkrb5-dev npm"
    assert ended.stderr.endswith(f"needs {packages}; on Debian and Ubuntu: sudo apt-get install {packages}\n")
    assert ended.stderr.count("\n") == 1


def test_what_is_in_the_cache_needs_no_npm(run: Run, checkout: Path, tmp_path: Path) -> None:
    cached = tmp_path / "my cache" / "raydap" / "editors"
    cached.mkdir(parents=True)
    shutil.copy(checkout / "tests" / "editors" / "package-lock.json", cached)
    assert "npm" not in run("editors", XDG_CACHE_HOME=str(tmp_path / "my cache")).stderr


def test_what_builds_raydap_is_downloaded_for_later_installs() -> None:
    required = re.search(r'^requires = \["(.+)"\]$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert required is not None
    packages = required[1].replace('", "', " ")
    assert f'build="{packages} ' in (ROOT / ".ci" / "install").read_text()


@pytest.mark.parametrize("script", sorted(filter(Path.is_file, (ROOT / ".ci").iterdir())), ids=lambda path: path.name)
def test_every_script_is_for_every_shell(script: Path) -> None:
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
    assert script.name == "functions" or os.access(script, os.X_OK)
