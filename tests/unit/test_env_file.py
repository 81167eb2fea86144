"""Files with variables, in the forms that VS Code and other tools write."""

from pathlib import Path

import pytest

from raydap.core.settings import LaunchSettings
from raydap.env_file import variables, with_env_file
from raydap.errors import Code, ProblemError


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  export A = a b  ", "a b"),
        ("A=", ""),
        ("A=1 # one", "1"),
        ("A=a#b", "a#b"),
        ('A="a # b" # c', "a # b"),
        (r'A="a\nb\"c"', 'a\nb"c'),
        (r"A='a\n${HOME}'", r"a\n${HOME}"),
        ("A=${HOME}/x", "/home/me/x"),
        ("A=${NONE}/x", "/x"),
        ("A=b=c", "b=c"),
    ],
)
def test_one_line(line: str, value: str) -> None:
    assert variables(line, {"HOME": "/home/me"}) == {"A": value}


def test_lines_refer_to_earlier_ones_and_others_are_skipped() -> None:
    assert variables("# A=1\n\nROOT=/srv\nnonsense\nDATA=${ROOT}/data\n", {}) == {"ROOT": "/srv", "DATA": "/srv/data"}


def test_env_overrides_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.env").write_text("\ufeffA=1\nB=2\n", encoding="utf-8")
    settings = LaunchSettings(program="x.py", cwd=str(tmp_path), env_file="a.env", env={"B": "3", "C": None})
    assert with_env_file(settings, {}).env == {"A": "1", "B": "3", "C": None}


def test_the_file_that_vscode_names_in_each_launch_may_be_missing(tmp_path: Path) -> None:
    settings = LaunchSettings(program="x.py", env_file=str(tmp_path / ".env"))
    assert with_env_file(settings, {}) is settings
    assert with_env_file(LaunchSettings(program="x.py"), {}) == LaunchSettings(program="x.py")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"A=\xff")
    reasons = {"none": "it does not exist", ".": "it is not a file", "binary": "it is not UTF-8 text"}
    for name, reason in reasons.items():
        with pytest.raises(ProblemError, match=reason) as refused:
            with_env_file(LaunchSettings(program="x.py", env_file=str(tmp_path / name)), {})
        assert refused.value.problem.code is Code.LAUNCH_FAILED
